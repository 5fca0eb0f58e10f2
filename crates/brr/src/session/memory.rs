//! What a session remembers: which word has which surrogate, and what stood in public text.
//!
//! A *form* is what a token is looked up by. Each form is kept once, whether it is that of an original, of
//! a surrogate or of a word in public text, and has a number; so a token is hashed once, and everything else is
//! found by numbers. A form that is a word of the model is that word's number there; the text of any other is
//! among the session's own ([`Texts`]).
//!
//! A memory only grows, but for what an attempt that failed takes back. So how far it had grown ([`Extent`]) is enough
//! to tell what was in it at some time: restorers share it with the session, and nothing is copied. What is taken
//! back is the last that came, in reverse order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Pool;
use super::texts::{End, Table, Text, Texts};
use crate::model::Model;
use crate::spans::Surrogate;
use crate::vocabulary::WordId;

/// In place of a number, that there is none.
const NONE: u32 = u32::MAX;

/// A form that is looked for.
#[derive(Clone, Copy)]
pub enum Key<'t> {
    /// That of a word of the model.
    Word(WordId),
    /// Of none.
    Text(&'t str),
}

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Word(WordId),
    Text(Text),
}

/// What is known of a form.
struct Form {
    text: Place,
    /// Which of the forms in public text it is.
    public: u32,
    /// The last class of which it is the form; the others follow it.
    class: u32,
    /// The first and the last class whose surrogate has it.
    first: u32,
    last: u32,
    /// Whether these are of different forms.
    collides: bool,
}

/// A class of equal words.
struct Class {
    pool: Pool,
    form: u32,
    spelled: Place,
    /// Other ways of writing it.
    others: Vec<Text>,
    /// The form of its surrogate.
    drawn: u32,
    /// Another class of the same form, met before.
    of_form: u32,
    /// The classes before and behind it that have the same surrogate.
    before: u32,
    behind: u32,
    /// Whether it is the first by which its surrogate stands for words of different forms.
    collides: bool,
}

/// The ways in which a class was written.
#[derive(Clone, Copy)]
pub struct Spellings<'m> {
    memory: &'m Memory,
    class: &'m Class,
}

impl<'m> Spellings<'m> {
    /// Each way once, in the order of appearance.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'m str> + Clone {
        let Class {
            spelled, others, ..
        } = self.class;
        (0..others.len() + 1).map(move |at| {
            let other = at.checked_sub(1).map(|at| Place::Text(others[at]));
            self.memory.text(other.unwrap_or(*spelled))
        })
    }
}

/// What a form in an answer stands for.
pub enum Meaning<'m> {
    /// No surrogate.
    Nothing,
    /// One original, in the ways in which it was written.
    One(Spellings<'m>),
    /// More than one original, or perhaps public text.
    Ambiguous,
}

/// How far a memory has grown.
#[derive(Clone, Copy)]
pub struct Extent {
    classes: u32,
    public: u32,
}

/// What an attempt did beside meeting new forms and classes.
enum Change {
    /// Another way of writing a class.
    Spelling(u32),
    /// A form stood in public text.
    Public(u32),
}

/// Where an attempt began.
pub struct Begin {
    texts: End,
    forms: usize,
    classes: usize,
    changes: usize,
}

/// Classes and their surrogates, both in the order in which they were first met.
pub struct Memory {
    model: Arc<Model>,
    texts: Texts,
    table: Table,
    forms: Vec<Form>,
    classes: Vec<Class>,
    drawn: Vec<Surrogate>,
    /// Number of forms in public text.
    public: u32,
    draws: BTreeMap<Pool, u64>,
    collisions: u64,
    /// Bytes of all texts in it.
    bytes: usize,
    /// Attempts that are going on, one within the other, and what was changed in them.
    attempts: u32,
    changes: Vec<Change>,
}

/// Bytes that a class, and a form of public text, take beside their texts, rounded up: resident memory grew by 186 to 247
/// for each of 20,000 to 90,000 unknown words, and by 77 at most for each in public text, texts included.
const CLASS_BYTES: usize = 300;
const PUBLIC_BYTES: usize = 100;

impl Memory {
    /// One that is empty, with the model whose words need no text.
    pub fn new(model: Arc<Model>) -> Memory {
        Memory {
            model,
            texts: Texts::default(),
            table: Table::default(),
            forms: Vec::new(),
            classes: Vec::new(),
            drawn: Vec::new(),
            public: 0,
            draws: BTreeMap::new(),
            collisions: 0,
            bytes: 0,
            attempts: 0,
            changes: Vec::new(),
        }
    }

    /// The class of a token, which may be new: then it has the next number, and [`draw`](Self::draw) has to follow.
    pub fn class(&mut self, pool: Pool, form: Key<'_>, spelled: &str) -> usize {
        let number = self.form(form);
        let known = self
            .classes_of(number)
            .find(|&at| self.classes[at].pool == pool);
        if let Some(class) = known {
            self.add_spelling(class, spelled);
            return class;
        }
        let Form { text, class, .. } = self.forms[number as usize];
        let own = self.text(text);
        let (length, as_own) = (own.len(), own == spelled);
        self.bytes += length + spelled.len();
        let class = Class {
            pool,
            form: number,
            spelled: match as_own {
                true => text,
                false => Place::Text(self.texts.push(spelled)),
            },
            others: Vec::new(),
            drawn: NONE,
            of_form: class,
            before: NONE,
            behind: NONE,
            collides: false,
        };
        self.forms[number as usize].class = self.classes.len() as u32;
        *self.draws.entry(pool).or_default() += 1;
        self.classes.push(class);
        self.classes.len() - 1
    }

    fn add_spelling(&mut self, class: usize, spelled: &str) {
        if self.spellings(class).iter().any(|known| known == spelled) {
            return;
        }
        let place = self.texts.push(spelled);
        self.classes[class].others.push(place);
        self.bytes += spelled.len();
        self.change(Change::Spelling(class as u32));
    }

    fn change(&mut self, change: Change) {
        if self.attempts > 0 {
            self.changes.push(change);
        }
    }

    /// What a form is looked for by.
    pub fn key<'t>(&self, form: &'t str) -> Key<'t> {
        let word = self.model.vocabulary().id(form);
        word.map_or(Key::Text(form), Key::Word)
    }

    fn text(&self, place: Place) -> &str {
        match place {
            Place::Word(word) => self.model.vocabulary().word(word),
            Place::Text(text) => self.texts.get(text),
        }
    }

    fn hash(&self, form: Key<'_>) -> u32 {
        match form {
            Key::Word(word) => self.table.hash_word(word),
            Key::Text(text) => self.table.hash(text),
        }
    }

    /// The number of a form, which may be new.
    fn form(&mut self, form: Key<'_>) -> u32 {
        let hash = self.hash(form);
        if let Some(number) = self.known(form, hash) {
            return number;
        }
        self.forms.push(Form {
            text: match form {
                Key::Word(word) => Place::Word(word),
                Key::Text(text) => Place::Text(self.texts.push(text)),
            },
            public: NONE,
            class: NONE,
            first: NONE,
            last: NONE,
            collides: false,
        });
        self.table.push(hash)
    }

    fn known(&self, form: Key<'_>, hash: u32) -> Option<u32> {
        self.table.find(hash, |number| {
            match (self.forms[number as usize].text, form) {
                (Place::Word(word), Key::Word(wanted)) => word == wanted,
                (Place::Text(text), Key::Text(wanted)) => self.texts.get(text) == wanted,
                _ => false,
            }
        })
    }

    fn find(&self, form: &str) -> Option<&Form> {
        let key = self.key(form);
        let number = self.known(key, self.hash(key))?;
        Some(&self.forms[number as usize])
    }

    /// The classes of this form.
    fn classes_of(&self, form: u32) -> impl Iterator<Item = usize> {
        let class = |number: u32| (number != NONE).then_some(number as usize);
        let first = class(self.forms[form as usize].class);
        std::iter::successors(first, move |&at| class(self.classes[at].of_form))
    }

    /// The surrogate of the first class that has none, and the form by which it is found in an answer.
    pub fn draw(&mut self, surrogate: Surrogate, form: Key<'_>) {
        let number = self.form(form);
        let form = &mut self.forms[number as usize];
        let at = self.drawn.len();
        let before = std::mem::replace(&mut form.last, at as u32);
        match self.classes.get_mut(before as usize) {
            Some(before) => before.behind = at as u32,
            None => form.first = at as u32,
        }
        let first = self.classes[form.first as usize].form;
        let class = &mut self.classes[at];
        class.collides = class.form != first && !form.collides;
        form.collides |= class.collides;
        self.collisions += u64::from(class.collides);
        (class.before, class.drawn) = (before, number);
        self.drawn.push(surrogate);
    }

    /// A token of public text.
    pub fn add_public(&mut self, form: Key<'_>) {
        let number = self.form(form);
        let known = &mut self.forms[number as usize];
        if known.public == NONE {
            known.public = self.public;
            let text = known.text;
            self.public += 1;
            self.bytes += self.text(text).len();
            self.change(Change::Public(number));
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

    /// Each class: its pool, its form, how it was written, and its surrogate.
    pub fn classes(&self) -> impl Iterator<Item = (Pool, &str, Spellings<'_>, &Surrogate)> {
        let drawn = self.drawn.iter().enumerate();
        drawn.map(|(at, surrogate)| {
            let class = &self.classes[at];
            let form = self.text(self.forms[class.form as usize].text);
            (class.pool, form, self.spellings(at), surrogate)
        })
    }

    fn spellings(&self, class: usize) -> Spellings<'_> {
        Spellings {
            memory: self,
            class: &self.classes[class],
        }
    }

    /// Number of forms in public text.
    pub fn publics(&self) -> u32 {
        self.public
    }

    /// Forms of tokens in public text, in the order of appearance.
    pub fn public(&self) -> Vec<&str> {
        let public = self.forms.iter().filter(|form| form.public != NONE);
        let mut public: Vec<&Form> = public.collect();
        public.sort_unstable_by_key(|form| form.public);
        public.iter().map(|form| self.text(form.text)).collect()
    }

    /// Surrogates that stand for words of different forms.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.bytes + CLASS_BYTES * self.classes.len() + PUBLIC_BYTES * self.public as usize
    }

    pub fn extent(&self) -> Extent {
        Extent {
            classes: self.drawn.len() as u32,
            public: self.public,
        }
    }

    /// Whether a form stood in public text.
    pub fn is_public(&self, form: &str, at: Extent) -> bool {
        self.find(form).is_some_and(|form| form.public < at.public)
    }

    /// What a form in an answer stood for.
    pub fn meaning(&self, form: &str, at: Extent) -> Meaning<'_> {
        let Some(form) = self.find(form) else {
            return Meaning::Nothing;
        };
        let known = |class: u32| (class < at.classes).then_some(class as usize);
        let Some(first) = known(form.first) else {
            return Meaning::Nothing;
        };
        let behind = |class: &usize| known(self.classes[*class].behind);
        // Few are of the same form, each of another pool: the first that is of another one ends the search.
        let mut others = std::iter::successors(behind(&first), behind);
        let collides = others.any(|class| self.classes[class].form != self.classes[first].form);
        match collides || form.public < at.public {
            true => Meaning::Ambiguous,
            false => Meaning::One(self.spellings(first)),
        }
    }

    /// From here on changes are kept track of, until [`end`](Self::end).
    pub fn begin(&mut self) -> Begin {
        self.attempts += 1;
        Begin {
            texts: self.texts.end(),
            forms: self.forms.len(),
            classes: self.classes.len(),
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

    /// What came last goes first: changes of what was known before, then classes, then forms, then texts.
    fn take_back(&mut self, begin: &Begin) {
        for change in self.changes.split_off(begin.changes).into_iter().rev() {
            match change {
                Change::Spelling(class) => {
                    let spelling = self.classes[class as usize].others.pop();
                    self.bytes -= spelling.map_or(0, Text::len);
                }
                Change::Public(number) => {
                    let form = &mut self.forms[number as usize];
                    form.public = NONE;
                    let text = form.text;
                    self.public -= 1;
                    self.bytes -= self.text(text).len();
                }
            }
        }
        while self.classes.len() > begin.classes {
            self.forget_class();
        }
        self.drawn.truncate(begin.classes);
        for form in self.forms.drain(begin.forms..).rev() {
            self.table.pop(match form.text {
                Place::Word(word) => self.table.hash_word(word),
                Place::Text(text) => self.table.hash(self.texts.get(text)),
            });
        }
        self.texts.truncate(begin.texts);
    }

    fn forget_class(&mut self) {
        let Some(class) = self.classes.pop() else {
            return;
        };
        self.forms[class.form as usize].class = class.of_form;
        let form = self.forms[class.form as usize].text;
        let others: usize = class.others.iter().map(|text| text.len()).sum();
        self.bytes -= self.text(form).len() + self.text(class.spelled).len() + others;
        if let Some(draws) = self.draws.get_mut(&class.pool) {
            *draws -= 1;
        }
        // One that was not drawn has no surrogate yet.
        if let Some(drawn) = self.forms.get_mut(class.drawn as usize) {
            drawn.last = class.before;
            drawn.collides &= !class.collides;
            self.collisions -= u64::from(class.collides);
            match self.classes.get_mut(class.before as usize) {
                Some(before) => before.behind = NONE,
                None => drawn.first = NONE,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of an attempt that failed are overwritten at once, and not when the session ends.
    #[test]
    fn texts_that_are_taken_back_are_gone() {
        let model = Model::open("../brr-english/src/english.brr").unwrap();
        let mut memory = Memory::new(Arc::new(model));
        let begin = memory.begin();
        let form = memory.key("qwxzv");
        memory.class(Pool::Words, form, "Qwxzv");
        assert_eq!(memory.texts.bytes(), 10);
        memory.end(&begin, false);
        assert_eq!((memory.texts.bytes(), memory.bytes()), (0, 0));
    }
}
