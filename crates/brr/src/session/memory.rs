//! What a session remembers: which word has which surrogate, and what stood in public text.
//!
//! Originals are in [`Secret`]s, which are overwritten when they are dropped; maps move pointers to them alone when
//! they grow.
//!
//! A memory only grows, but for what an attempt that failed takes back. So how far it had grown ([`Extent`]) is enough
//! to tell what was in it at some time: restorers share it with the session, and nothing is copied.

use std::borrow::Borrow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use zeroize::Zeroize;

use super::Pool;
use crate::spans::Surrogate;

/// Text that is overwritten when the last that shares it is dropped.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.into())
    }
}

impl Borrow<str> for Secret {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        if let Some(text) = Arc::get_mut(&mut self.0) {
            text.zeroize();
        }
    }
}

/// A class of equal words.
pub struct Class {
    pub pool: Pool,
    pub form: Secret,
    first: Secret,
    /// All ways of writing it, if there are several.
    several: Vec<Secret>,
}

impl Class {
    /// How it was written, each way once, in the order of appearance.
    pub fn spellings(&self) -> &[Secret] {
        match self.several.is_empty() {
            true => std::slice::from_ref(&self.first),
            false => &self.several,
        }
    }

    fn push(&mut self, spelled: &str) {
        if self.several.is_empty() {
            self.several.push(self.first.clone());
        }
        self.several.push(spelled.into());
    }

    /// Forgets the last of several ways of writing it.
    fn pop(&mut self) -> Option<Secret> {
        let last = self.several.pop();
        if self.several.len() == 1 {
            self.several.clear();
        }
        last
    }
}

/// Numbers of classes, in order; mostly one.
struct Numbers {
    first: usize,
    several: Vec<usize>,
}

impl Numbers {
    fn new(first: usize) -> Numbers {
        let several = Vec::new();
        Numbers { first, several }
    }

    fn as_slice(&self) -> &[usize] {
        match self.several.is_empty() {
            true => std::slice::from_ref(&self.first),
            false => &self.several,
        }
    }

    fn push(&mut self, class: usize) {
        if self.several.is_empty() {
            self.several.push(self.first);
        }
        self.several.push(class);
    }

    /// Without those from `end` on, if any is left.
    fn truncated(&self, end: usize) -> Option<Numbers> {
        let mut left = self.as_slice().iter().filter(|&&class| class < end);
        let mut numbers = Numbers::new(*left.next()?);
        left.for_each(|&class| numbers.push(class));
        Some(numbers)
    }
}

/// What a form in an answer stands for.
pub enum Meaning<'a> {
    /// No surrogate.
    Nothing,
    /// One original, in the ways in which it was written.
    One(&'a [Secret]),
    /// More than one original, or perhaps public text.
    Ambiguous,
}

/// How far a memory has grown.
#[derive(Clone, Copy)]
pub struct Extent {
    classes: usize,
    public: usize,
}

/// What an attempt did beside meeting new classes.
enum Change {
    /// Another way of writing a class.
    Spelling(usize),
    Public(Secret),
}

/// Where an attempt began.
pub struct Begin {
    extent: Extent,
    changes: usize,
}

/// Classes and their surrogates, both in the order in which they were first met.
#[derive(Default)]
pub struct Memory {
    classes: Vec<Class>,
    drawn: Vec<Surrogate>,
    /// For each pool, its classes by their forms.
    places: Vec<(Pool, HashMap<Secret, usize>)>,
    /// The classes of each surrogate, by its form.
    surrogates: HashMap<String, Numbers>,
    /// Forms of tokens in public text, each with its number.
    public: HashMap<Secret, usize>,
    draws: BTreeMap<Pool, u64>,
    collisions: u64,
    /// Bytes of all texts in it.
    bytes: usize,
    /// Attempts that are going on, one within the other, and what was changed in them.
    attempts: u32,
    changes: Vec<Change>,
}

/// Bytes that a class, and a form of public text, take beside their texts, rounded up: the resident memory of
/// `brr-gateway` grew by 290 to 350 for each of 40,000 to 90,000 unknown words of a conversation, texts included.
const CLASS_BYTES: usize = 400;
const PUBLIC_BYTES: usize = 80;

impl Memory {
    /// The class of a token, which may be new: then it has the next number, and [`draw`](Self::draw) has to follow.
    pub fn class(&mut self, pool: Pool, form: &str, spelled: &str) -> usize {
        let at = self.place(pool);
        if let Some(&class) = self.places[at].1.get(form) {
            let known = &mut self.classes[class];
            if !known.spellings().iter().any(|s| s.as_str() == spelled) {
                known.push(spelled);
                self.bytes += spelled.len();
                if self.attempts > 0 {
                    self.changes.push(Change::Spelling(class));
                }
            }
            return class;
        }
        let class = self.classes.len();
        let form = Secret::from(form);
        let first = match form.as_str() == spelled {
            true => form.clone(),
            false => spelled.into(),
        };
        self.bytes += form.as_str().len() + spelled.len();
        self.places[at].1.insert(form.clone(), class);
        *self.draws.entry(pool).or_default() += 1;
        let several = Vec::new();
        self.classes.push(Class {
            pool,
            form,
            first,
            several,
        });
        class
    }

    /// Where the classes of a pool are found.
    fn place(&mut self, pool: Pool) -> usize {
        let known = self.places.iter().position(|(known, _)| *known == pool);
        known.unwrap_or_else(|| {
            self.places.push((pool, HashMap::new()));
            self.places.len() - 1
        })
    }

    /// The surrogate of the first class that has none, and the form by which it is found in an answer.
    pub fn draw(&mut self, surrogate: Surrogate, form: String) {
        let class = self.drawn.len();
        match self.surrogates.entry(form) {
            Entry::Vacant(entry) => {
                entry.insert(Numbers::new(class));
            }
            Entry::Occupied(mut entry) => {
                let all = entry.get_mut();
                let was_one = is_one_word(&self.classes, all.as_slice());
                all.push(class);
                let is_one = is_one_word(&self.classes, all.as_slice());
                self.collisions += u64::from(was_one && !is_one);
            }
        }
        self.drawn.push(surrogate);
    }

    /// A token of public text.
    pub fn add_public(&mut self, form: &str) {
        if !self.public.contains_key(form) {
            let number = self.public.len();
            self.public.insert(form.into(), number);
            self.bytes += form.len();
            if self.attempts > 0 {
                self.changes.push(Change::Public(form.into()));
            }
        }
    }

    pub fn surrogate(&self, class: usize) -> &Surrogate {
        &self.drawn[class]
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// What each class draws from.
    pub fn pools(&self) -> impl Iterator<Item = Pool> {
        self.classes.iter().map(|class| class.pool)
    }

    /// How many classes draw from each pool.
    pub fn draws(&self) -> &BTreeMap<Pool, u64> {
        &self.draws
    }

    pub fn classes(&self) -> impl Iterator<Item = (&Class, &Surrogate)> {
        self.classes.iter().zip(&self.drawn)
    }

    /// Forms of tokens in public text.
    pub fn public(&self) -> impl ExactSizeIterator<Item = &str> {
        self.public.keys().map(Secret::as_str)
    }

    /// Surrogates that stand for words of different forms.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.bytes + CLASS_BYTES * self.classes.len() + PUBLIC_BYTES * self.public.len()
    }

    pub fn extent(&self) -> Extent {
        Extent {
            classes: self.drawn.len(),
            public: self.public.len(),
        }
    }

    /// Whether a form stood in public text.
    pub fn is_public(&self, form: &str, at: Extent) -> bool {
        self.public.get(form).is_some_and(|&n| n < at.public)
    }

    /// What a form in an answer stood for.
    pub fn meaning(&self, form: &str, at: Extent) -> Meaning<'_> {
        let classes = self.surrogates.get(form).map_or(&[][..], Numbers::as_slice);
        let known = classes.partition_point(|&class| class < at.classes);
        match &classes[..known] {
            [] => Meaning::Nothing,
            known if is_one_word(&self.classes, known) && !self.is_public(form, at) => {
                Meaning::One(self.classes[known[0]].spellings())
            }
            _ => Meaning::Ambiguous,
        }
    }

    /// From here on changes are kept track of, until [`end`](Self::end).
    pub fn begin(&mut self) -> Begin {
        self.attempts += 1;
        Begin {
            extent: Extent {
                classes: self.classes.len(),
                public: self.public.len(),
            },
            changes: self.changes.len(),
        }
    }

    /// An attempt has ended: what it did stays, or is taken back.
    pub fn end(&mut self, begin: &Begin, stays: bool) {
        if !stays {
            self.take_back(begin);
        }
        self.attempts -= 1;
        if self.attempts == 0 {
            self.changes = Vec::new();
        }
    }

    fn take_back(&mut self, begin: &Begin) {
        // The last change first: a class that is new goes with all its ways of writing.
        for change in self.changes.split_off(begin.changes).into_iter().rev() {
            match change {
                Change::Spelling(class) => {
                    let spelling = self.classes[class].pop();
                    self.bytes -= spelling.map_or(0, |spelling| spelling.as_str().len());
                }
                Change::Public(form) => {
                    self.public.remove(form.as_str());
                    self.bytes -= form.as_str().len();
                }
            }
        }
        for class in self.classes.drain(begin.extent.classes..) {
            let known = |(pool, _): &&mut (Pool, _)| *pool == class.pool;
            if let Some((_, places)) = self.places.iter_mut().find(known) {
                places.remove(class.form.as_str());
            }
            if let Some(draws) = self.draws.get_mut(&class.pool) {
                *draws -= 1;
            }
            let spelled: usize = class.spellings().iter().map(|s| s.as_str().len()).sum();
            self.bytes -= class.form.as_str().len() + spelled;
        }
        self.drawn.truncate(begin.extent.classes);
        let end = begin.extent.classes;
        let surrogates = std::mem::take(&mut self.surrogates).into_iter();
        self.surrogates = surrogates
            .filter_map(|(form, classes)| Some((form, classes.truncated(end)?)))
            .collect();
        let met = |classes: &&Numbers| !is_one_word(&self.classes, classes.as_slice());
        self.collisions = self.surrogates.values().filter(met).count() as u64;
    }
}

fn is_one_word(all: &[Class], classes: &[usize]) -> bool {
    let form = |class: usize| &all[class].form;
    classes.windows(2).all(|two| form(two[0]) == form(two[1]))
}
