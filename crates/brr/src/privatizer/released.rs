//! Text that was released as drawn, taken for outputs of its mechanism again: the reader's side.
//!
//! # Guarantee
//!
//! What is computed here is a function of released text, of public files and of the mechanism, which is
//! public: post-processing. No privacy is spent, whoever does it and however often.
//!
//! Which released tokens were drawn follows from the [policy](super::Options::policy) alone. The mechanism draws
//! private words, so a released word that is public was public in the original too, and is certain. A
//! token that the model does not know cannot have been drawn: the rule for unknown tokens left it there
//! (or a mask in its place), and it stays.

use super::{Ends, Privatizer, in_parts};
use crate::context::{Evidence, Sentence};
use crate::language::{Language, State};
use crate::mechanism::{Emission, Observations};
use crate::parallel;
use crate::text::{Layout, Rendering, Tokens, Unknown};
use crate::vocabulary::WordId;

/// Released texts, by their tokens.
pub struct Released<'t> {
    tokens: Tokens<'t>,
    ends: Ends,
    sentences: Vec<Sentence>,
    evidence: Vec<Evidence>,
    drawn: Observations,
}

impl Released<'_> {
    /// The words that were drawn, by their ids in the [private model](Privatizer::private_model).
    pub fn drawn(&self) -> &[WordId] {
        match &self.drawn {
            Observations::Words(words) => words,
            Observations::Codes(_) => unreachable!("made of words"),
        }
    }

    /// What is known of each token: its state, or the number of its draw among [`drawn`](Self::drawn).
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Which tokens belong together.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// The word of each token in the released text; none of tokens that the model does not know.
    pub fn words(&self) -> &[Option<WordId>] {
        &self.tokens.words
    }

    /// Where the tokens of each text end.
    pub fn text_ends(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().map(|&(_, token, _)| token)
    }
}

impl Privatizer {
    /// Takes texts that this privatizer, or one like it, released as drawn for what they are.
    pub fn released<'t>(&self, texts: &'t [impl AsRef<str>]) -> Released<'t> {
        let mut lookup = self.model.lookup();
        let mut tokens = Tokens::default();
        let ends = texts.iter().map(|text| {
            tokens.push_released(text.as_ref(), &mut lookup);
            (tokens.pieces.len(), tokens.words.len(), 0)
        });
        let ends: Ends = ends.collect();
        let unknown = self.model.vocabulary().len() as State + 1;
        let mut drawn = Vec::new();
        let known = |word: &Option<WordId>| {
            let Some(word) = *word else {
                return Evidence::Known(unknown);
            };
            match self.private_id(word) {
                None => Evidence::Known(word),
                Some(private) => {
                    drawn.push(private);
                    Evidence::Observed(drawn.len() - 1)
                }
            }
        };
        let evidence = tokens.words.iter().map(known).collect();
        Released {
            sentences: self.sentences(&tokens, &ends),
            tokens,
            ends,
            evidence,
            drawn: Observations::Words(drawn),
        }
    }

    /// The most probable word of each token, by candidates, as on the device ([`Decoder`](crate::context::Decoder)). `emission` says how likely
    /// a *word* is that was drawn; none is needed of mechanisms whose noise leaves words. Unknown
    /// tokens have no meaning here.
    ///
    /// # Panics
    /// If there is no emission and the mechanism's noise leaves something else (BRR), or if the language model is for
    /// other words.
    pub fn decode_released(
        &self,
        released: &Released<'_>,
        language: &Language,
        emission: Option<&dyn Emission>,
        threads: usize,
    ) -> Vec<WordId> {
        assert_eq!(language.words(), self.model.vocabulary().len());
        let emission = emission.or(self.mechanism.emission());
        let emission = emission.expect("a mechanism with an emission");
        let parts = in_parts(&released.sentences);
        let decode = |part: usize| {
            let sentences = &released.sentences[parts[part].clone()];
            let evidence = Some(&released.evidence[..]);
            self.decode(emission, language, &released.drawn, evidence, sentences)
        };
        parallel::map(threads, parts.len(), decode).concat()
    }

    /// The texts with other words in the place of theirs, in the same layout.
    pub fn write_released(&self, released: &Released<'_>, words: &[WordId]) -> Vec<String> {
        let (mut piece, mut token) = (0, 0);
        let mut texts = Vec::with_capacity(released.ends.len());
        for &(piece_end, token_end, _) in &released.ends {
            let rendering = Rendering {
                layout: Layout::Keep,
                unknown: Unknown::Keep,
                joined: true,
                ..self.rendering(
                    &released.tokens.words[token..token_end],
                    &words[token..token_end],
                )
            };
            texts.push(rendering.text(&released.tokens.pieces[piece..piece_end]));
            (piece, token) = (piece_end, token_end);
        }
        texts
    }
}
