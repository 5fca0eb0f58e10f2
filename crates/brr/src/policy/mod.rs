//! What is private: every word, every word but those of a public list, or only those of a private
//! list.
//!
//! # Guarantee
//!
//! Let V be the words of the model and P, the *private words*, some of them. P is fixed before any
//! text is seen, and whether a word belongs to it is a function of the word alone, in the form in
//! which it is looked up: neither its case in the text nor the words around it play a part. A token
//! is *public* if it is a word of V outside P. All other tokens are private, those that the model
//! does not know among them.
//!
//! Two texts are neighbours if they have equal public structure *and* the same public words at the
//! same places, as the same parts of contractions where they are such parts (`'s` and "is" are two forms of one word) ([`crate::Adjacency`] says so). Public tokens do not reach the mechanism. The private
//! ones, in their order, go through a mechanism over the vocabulary P: one made for
//! [`Model::subset`](crate::Model::subset), a model that has the words P and no others. Its inputs are
//! words of P or "unknown", and it can name no word outside P. What each of the four promises is what
//! its own proof says for the vocabulary P:
//!
//! | mechanism | over P |
//! |---|---|
//! | BRR | randomized response on the same codes, then the nearest word *of P*: post-processing, so the loss per bit is the same |
//! | exponential | Z(w) sums over P alone. A certificate for V says nothing about it and is not carried over: the subset is certified anew ([`Privatizer::certified`](crate::Privatizer::certified)), or the textbook epsilon stands in, which holds for any codes |
//! | tree | a tree over P, made from that of V (`tree/among.rs`). The proof of tree response holds for every tree, so the loss of a level is `ln(T[0] / T[level])` again; the levels between words are those of the new tree |
//! | k-ary | N = \|P\| |
//!
//! The output is a function of the structure, of the public words, and of the draws. Neighbours share
//! the first two, and draws are independent, so the loss between them is at most the sum of the losses of
//! the private tokens in which they differ. Decoding with context is post-processing as ever: it gets the
//! public words as known, and chooses among P elsewhere (`among.rs`).
//!
//! A public word is written as the model spells it or, under layout `keep`, as the part of a contraction that it is in
//! the text; its case is lost like that of every other. Which form it has is a function of public tokens and of the cut, and so
//! the same in neighbours. Nothing is promised about texts that differ in a public word.

mod among;
mod list;
mod restriction;

pub(crate) use among::Among;
pub use list::WordList;
pub(crate) use restriction::{Restriction, Split};

use std::sync::Arc;

/// Which words are private.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Budget, MechanismKind, Options, Policy, Privatizer, WordList};
///
/// let list = WordList::new("articles", "a\nan\nthe\n", &model)?;
/// let options = Options::default()
///     .with_mechanism(MechanismKind::Tree)
///     .with_policy(Policy::AllBut(Arc::new(list)));
/// let privatizer = Privatizer::new(model, options)?;
/// let private = privatizer.privatize("The film")?;
/// assert!(private.text.starts_with("the "));
/// assert_eq!((private.tokens, private.public), (2, 1));
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// Every word.
    #[default]
    All,
    /// Every word but those of this public list.
    AllBut(Arc<WordList>),
    /// The words of this private list alone, and tokens that the model does not know.
    Only(Arc<WordList>),
}

impl Policy {
    /// A short name: `all`, `all-but`, `only`.
    pub fn name(&self) -> &'static str {
        match self {
            Policy::All => "all",
            Policy::AllBut(_) => "all-but",
            Policy::Only(_) => "only",
        }
    }

    /// The list that it rests on.
    pub fn list(&self) -> Option<&WordList> {
        match self {
            Policy::All => None,
            Policy::AllBut(list) | Policy::Only(list) => Some(list),
        }
    }
}
