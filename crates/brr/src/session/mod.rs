//! A session: one draw per distinct word, so that a name stays the same name through a conversation, and
//! the way back from surrogates to originals.
//!
//! # Guarantee
//!
//! The input of a session is a sequence of texts, whole ones and ones with marks ([`crate::Span`]). A *private
//! position* is that of a token in a span, or in a whole text that of a token that is not public by the policy. Two
//! private positions, of one text or of two, hold *equal words* if their tokens have the same folded form (the
//! form in which a token is looked up, whether the model knows it or not) and draw from the same list; integers and
//! identifiers, if [numbers](crate::Numbers) become numbers, count as lists of their own. That
//! divides all private positions into classes. Two sequences are neighbours if
//!
//! - each text has the same public structure as its counterpart: as [spans](crate::Span) say for texts with marks,
//!   and as the policy says for whole ones; and
//! - **the partition of the private positions into equal words is the same.** That is public: whoever reads the
//!   output of a session sees which positions held the same word.
//!
//! The session makes one draw for each class, when it first meets it, from the word of that class alone and
//! independently of all others, and writes it at every position of the class. So the output is a function of the
//! public structure, of the partition, and of the draws; with n classes of which n_P draw from the list P, the loss
//! between neighbours is at most the sum over P of n_P times the largest loss between two inputs of the mechanism over
//! P. [`Session::loss`] states that sum: **each distinct word costs once for each list**, however often it occurs.
//! Under the usual adjacency, where equality of positions is private, reusing a draw has infinite loss, so a
//! session is a choice of its own and never the default.
//!
//! A conversation goes on in view of what came back. That changes nothing: given all outputs so far, the
//! classes met so far are fixed, and a new class is drawn from fresh noise; the losses of the texts add up
//! to the same sum (adaptive composition).
//!
//! **Draws are never repeated because of what came out.** If two words meet in one surrogate, that is kept and
//! [counted](Session::collisions): drawing until all surrogates differ would make one word's surrogate depend on
//! another word. If a session is lost and its texts go through a new one, they are drawn again: a new release, which
//! costs again.
//!
//! **The way back** ([`Session::restore`]) is no release: it happens on the device, for the person whose words they are.
//! What it returns is private.
//!
//! The mapping lives in memory, is overwritten when session and restorers are dropped, and is written nowhere unless
//! [`Session::export`] is called.

mod addresses;
mod export;
mod inflection;
mod links;
mod memory;
mod quoting;
mod restore;
mod texts;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use restore::{Restored, Restorer};

use memory::{Begin, Key, Memory};

use crate::error::Result;
use crate::privatizer::{Privatized, Privatizer};
use crate::random::Noise;
use crate::spans::{Marks, Pool, PrivatizedSpans, Slot, Span, Surrogate};
use crate::text::Adjacency;
use crate::vocabulary::{Vocabulary, WordId};

/// A conversation in which each distinct word has one surrogate. Opens with what that makes public, in
/// [`adjacency`](Session::adjacency).
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Options, Privatizer, Session, Span};
///
/// let privatizer = Arc::new(Privatizer::new(model, Options::default())?);
/// let mut session = Session::new(privatizer)?;
/// let first = session.privatize_spans("John is late.", &[Span::new(0..4)])?;
/// let again = session.privatize_spans("Where is John?", &[Span::new(9..13)])?;
/// let name = &first.text[first.spans[0].clone()];
/// assert_eq!(name, &again.text[again.spans[0].clone()]);
/// assert_eq!(again.loss, 0.0);
/// println!("{}", session.restore(&format!("Ask {name}'s sister.")).text);
/// # Ok::<(), brr::Error>(())
/// ```
pub struct Session {
    privatizer: Arc<Privatizer>,
    memory: Shared,
}

/// A memory, which the session shares with its restorers.
#[derive(Clone)]
struct Shared(Arc<RwLock<Memory>>);

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memory> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session did since an attempt began is taken back when this is dropped, unless it stays.
struct Attempt<'s> {
    session: &'s mut Session,
    begin: Begin,
    stays: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.session.memory.write().end(&self.begin, self.stays);
    }
}

impl Session {
    /// A new session. Fails with a privatizer that decodes with context or shows which tokens are unknown.
    pub fn new(privatizer: Arc<Privatizer>) -> Result<Session> {
        privatizer.check_spans()?;
        let memory = Memory::new(privatizer.model().clone());
        let memory = Shared(Arc::new(RwLock::new(memory)));
        Ok(Session { privatizer, memory })
    }

    /// The privatizer behind it.
    pub fn privatizer(&self) -> &Arc<Privatizer> {
        &self.privatizer
    }

    /// Which conversations are neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.privatizer.spans_adjacency().in_session()
    }

    /// Privatizes a whole text, under the privatizer's policy.
    pub fn privatize(&mut self, text: &str) -> Result<Privatized> {
        self.run_whole(text, &mut Noise::from_os()?)
    }

    /// Privatizes these parts of a text, and leaves the rest as it is.
    pub fn privatize_spans(&mut self, text: &str, spans: &[Span]) -> Result<PrivatizedSpans> {
        self.run_spans(text, spans, &mut Noise::from_os()?)
    }

    /// Changes the session by several texts that are released together or not at all: if `change` fails, what it drew
    /// is forgotten, and costs nothing. So nothing of it may be released then, and whether it fails must not
    /// depend on what was drawn.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # use brr::{Options, Privatizer, Session};
    /// # let privatizer = Arc::new(Privatizer::new(model, Options::default())?);
    /// let mut session = Session::new(privatizer)?;
    /// let too_much = session.attempt(|session| {
    ///     session.privatize("Ludmilla")?;
    ///     Err::<(), _>(brr::Error::NothingPrivate)
    /// });
    /// assert!(too_much.is_err() && session.words() == 0);
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn attempt<T, E>(
        &mut self,
        change: impl FnOnce(&mut Session) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let begin = self.memory.write().begin();
        let mut attempt = Attempt {
            session: self,
            begin,
            stays: false,
        };
        let done = change(attempt.session)?;
        attempt.stays = true;
        Ok(done)
    }

    /// As [`privatize`](Self::privatize), with noise that may be seeded. Only for tests.
    #[cfg(feature = "test-seam")]
    pub fn privatize_with(&mut self, text: &str, noise: &mut Noise) -> Result<Privatized> {
        self.run_whole(text, noise)
    }

    /// As [`privatize_spans`](Self::privatize_spans), with noise that may be seeded. Only for tests.
    #[cfg(feature = "test-seam")]
    pub fn privatize_spans_with(
        &mut self,
        text: &str,
        spans: &[Span],
        noise: &mut Noise,
    ) -> Result<PrivatizedSpans> {
        self.run_spans(text, spans, noise)
    }

    /// Text that leaves in clear beside what the session privatizes: a surrogate that also stands in it is ambiguous.
    /// (Text around spans is known already.)
    pub fn add_public(&mut self, text: &str) {
        let model = self.privatizer.model();
        let mut lookup = model.lookup();
        let cutter = lookup.cutter();
        let mut memory = self.memory.write();
        cutter.each_token(text, |_, token| {
            let form = memory.key(lookup.form(token));
            memory.add_public(form);
        });
    }

    /// Puts the originals back into a text that came of privatized ones, such as a model's answer.
    ///
    /// Originals have the case they had. Possessives and plurals of surrogates become those of the originals. A
    /// surrogate that stands for several originals, or that also stood in public text, is left as it is and counted. An
    /// integer comes back within a token that has no other digits and no letters before it (`52%`, `$52`, `52-year-old`),
    /// and with commas between its digits. A text that begins as JSON stays JSON: originals are escaped in its strings.
    /// Nothing is put into addresses, targets of links, square brackets and tags.
    pub fn restore(&self, text: &str) -> Restored {
        let mut restorer = self.restorer();
        let mut text = restorer.push(text);
        text.push_str(&restorer.finish());
        Restored {
            text,
            restored: restorer.restored(),
            ambiguous: restorer.ambiguous(),
        }
    }

    /// The same for a text that comes part by part, with what the session knows now.
    pub fn restorer(&self) -> Restorer {
        Restorer::new(self.privatizer.clone(), self.memory.clone())
    }

    /// The largest loss between neighbouring conversations so far: distinct words times the loss of one, over all lists.
    pub fn loss(&self) -> f64 {
        self.privatizer.loss_of_draws(self.memory.read().draws())
    }

    /// How many distinct words were drawn: a word counts once for each list.
    pub fn words(&self) -> u64 {
        self.memory.read().len() as u64
    }

    /// How many distinct words it remembers: those that were drawn, and those that stood in public text.
    pub fn remembered(&self) -> u64 {
        let memory = self.memory.read();
        memory.len() as u64 + u64::from(memory.publics())
    }

    /// About how many bytes of memory it takes: a function of the lengths of its texts.
    pub fn bytes(&self) -> usize {
        self.memory.read().bytes()
    }

    /// How many surrogates stand for more than one word.
    pub fn collisions(&self) -> u64 {
        self.memory.read().collisions()
    }

    fn run_whole(&mut self, text: &str, noise: &mut Noise) -> Result<Privatized> {
        let privatizer = self.privatizer.clone();
        let marks = Marks::whole(&privatizer, text);
        let surrogates = self.surrogates(&marks, noise);
        let public = marks.slots.iter().filter(|slot| slot.public().is_some());
        Ok(Privatized {
            text: marks.write(&privatizer, &surrogates, 0.0).text,
            tokens: marks.slots.len() as u64,
            unknown: marks.unknown(),
            public: public.count() as u64,
            cut: 0,
        })
    }

    fn run_spans(
        &mut self,
        text: &str,
        spans: &[Span],
        noise: &mut Noise,
    ) -> Result<PrivatizedSpans> {
        let privatizer = self.privatizer.clone();
        let marks = Marks::new(&privatizer, text, spans)?;
        let before = self.memory.read().len();
        let surrogates = self.surrogates(&marks, noise);
        let loss = privatizer.loss_of(self.memory.read().pools().skip(before));
        Ok(marks.write(&privatizer, &surrogates, loss))
    }

    /// The surrogate of each token: that of its class, drawn if the class is new.
    fn surrogates(&mut self, marks: &Marks<'_>, noise: &mut Noise) -> Vec<Surrogate> {
        let model = self.privatizer.model();
        let vocabulary = model.vocabulary();
        let mut lookup = model.lookup();
        let cutter = lookup.cutter();
        let mut memory = self.memory.write();
        for text in marks.around() {
            cutter.each_token(text, |_, token| {
                let form = memory.key(lookup.form(token));
                memory.add_public(form);
            });
        }
        let known = memory.len();
        let mut new: Vec<Slot<'_>> = Vec::new();
        let mut classes: Vec<Option<usize>> = Vec::with_capacity(marks.slots.len());
        for slot in &marks.slots {
            let form = match slot
                .word
                .filter(|&word| is_form(vocabulary, word, slot.text))
            {
                Some(word) => Key::Word(word),
                None => memory.key(lookup.form(slot.text)),
            };
            classes.push(match slot.pool() {
                None => {
                    memory.add_public(form);
                    None
                }
                Some(pool) => {
                    let class = memory.class(pool, form, slot.text);
                    if class == known + new.len() {
                        new.push(*slot);
                    }
                    Some(class)
                }
            });
        }
        let surrogates = self.privatizer.surrogates(&new, noise);
        vocabulary.read_ahead(surrogates.iter().map(Surrogate::word));
        for surrogate in surrogates {
            let spelled = surrogate.spelled(vocabulary);
            let form = match surrogate {
                Surrogate::Word(word) if is_form(vocabulary, word, spelled) => Key::Word(word),
                _ => memory.key(lookup.form(spelled)),
            };
            memory.draw(surrogate, form);
        }
        let public = |slot: &Slot<'_>| Surrogate::Word(slot.public().unwrap_or(0));
        let written = classes
            .iter()
            .zip(&marks.slots)
            .map(|(class, slot)| match class {
                Some(class) => memory.surrogate(*class).clone(),
                None => public(slot),
            });
        written.collect()
    }
}

/// Whether a token is the form of this word as it stands: then it need not be folded and looked up to know. Small letters
/// of ASCII are as they are in every form, and most tokens are of these.
fn is_form(vocabulary: &Vocabulary, word: WordId, token: &str) -> bool {
    token.bytes().all(|b| b.is_ascii_lowercase()) && vocabulary.word(word) == token
}

/// What a session holds is not shown.
impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("words", &self.words())
            .finish_non_exhaustive()
    }
}
