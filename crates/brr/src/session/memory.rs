//! What a session remembers: which word has which surrogate, and what stood in public text.
//!
//! Originals are in [`Secret`]s, which are overwritten when they are dropped; maps move pointers to them alone when
//! they grow.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use zeroize::Zeroize;

use super::Pool;
use crate::spans::Surrogate;

/// Text that is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Box<str>);

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
        self.0.zeroize();
    }
}

/// A class of equal words.
#[derive(Clone)]
pub struct Class {
    pub pool: Pool,
    pub form: Secret,
    /// How it was written, each way once, in the order of appearance.
    pub spellings: Vec<Secret>,
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

/// Classes and their surrogates, both in the order in which they were first met.
#[derive(Clone, Default)]
pub struct Memory {
    classes: Vec<Class>,
    drawn: Vec<Surrogate>,
    places: HashMap<Pool, HashMap<Secret, usize>>,
    /// The classes of each surrogate, by its form.
    surrogates: HashMap<String, Vec<usize>>,
    /// Forms of tokens in public text.
    public: HashSet<Secret>,
}

impl Memory {
    /// The class of a token, which may be new: then it has the next number, and [`draw`](Self::draw) has to follow.
    pub fn class(&mut self, pool: Pool, form: &str, spelled: &str) -> usize {
        let places = self.places.entry(pool).or_default();
        if let Some(&class) = places.get(form) {
            let spellings = &mut self.classes[class].spellings;
            if !spellings.iter().any(|known| known.as_str() == spelled) {
                spellings.push(spelled.into());
            }
            return class;
        }
        let class = self.classes.len();
        places.insert(form.into(), class);
        self.classes.push(Class {
            pool,
            form: form.into(),
            spellings: vec![spelled.into()],
        });
        class
    }

    /// The surrogate of the first class that has none, and the form by which it is found in an answer.
    pub fn draw(&mut self, surrogate: Surrogate, form: String) {
        let class = self.drawn.len();
        self.surrogates.entry(form).or_default().push(class);
        self.drawn.push(surrogate);
    }

    /// A token of public text.
    pub fn add_public(&mut self, form: &str) {
        if !self.public.contains(form) {
            self.public.insert(form.into());
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

    pub fn classes(&self) -> impl Iterator<Item = (&Class, &Surrogate)> {
        self.classes.iter().zip(&self.drawn)
    }

    /// Forms of tokens in public text.
    pub fn public(&self) -> impl ExactSizeIterator<Item = &str> {
        self.public.iter().map(Secret::as_str)
    }

    pub fn is_public(&self, form: &str) -> bool {
        self.public.contains(form)
    }

    /// Surrogates that stand for words of different forms.
    pub fn collisions(&self) -> u64 {
        let met = |classes: &&Vec<usize>| !self.is_one_word(classes);
        self.surrogates.values().filter(met).count() as u64
    }

    fn is_one_word(&self, classes: &[usize]) -> bool {
        let form = |class: usize| &self.classes[class].form;
        classes.windows(2).all(|two| form(two[0]) == form(two[1]))
    }

    /// What a form in an answer stands for.
    pub fn meaning(&self, form: &str) -> Meaning<'_> {
        match self.surrogates.get(form) {
            None => Meaning::Nothing,
            Some(classes) if self.is_one_word(classes) && !self.is_public(form) => {
                Meaning::One(&self.classes[classes[0]].spellings)
            }
            Some(_) => Meaning::Ambiguous,
        }
    }
}
