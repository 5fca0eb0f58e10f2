//! A gateway between a program and a hosted language model: prompts are privatized on their way out, and
//! the originals put back into the answer.
//!
//! The way of a request: [`guard`] lets it in, [`reader`] reads its body field by field ([`openai`],
//! [`anthropic`]) and privatizes its text in the session of its conversation ([`conversations`]), [`upstream`]
//! sends what came of that, and [`answer`] restores what comes back, streams by [`sse`]. [`receipt`] says
//! what was spent. Whatever cannot be privatized is refused before a byte leaves ([`refusal`]).
//!
//! Without the feature `server` there is no network code: the readers alone, as fuzzing uses them.

pub mod answer;
mod anthropic;
pub mod conversations;
mod definitions;
mod fields;
mod openai;
pub mod policy;
pub mod reader;
pub mod receipt;
pub mod refusal;
pub mod restore;
pub mod sse;

#[cfg(feature = "server")]
pub mod guard;
#[cfg(feature = "server")]
pub mod page;
#[cfg(feature = "server")]
pub mod relay;
#[cfg(feature = "server")]
mod reply;
#[cfg(feature = "server")]
pub mod serve;
#[cfg(feature = "server")]
pub mod upstream;
