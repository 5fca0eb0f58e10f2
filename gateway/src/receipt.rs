//! What a request spent, as the client and the log are told: numbers and names, and no text.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::conversations::Conversation;
use crate::refusal::Api;

/// What a request spent.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Private words, each occurrence counted.
    pub words: u64,
    /// The loss that it added to its session.
    pub loss: f64,
    /// The loss of the session with it.
    pub session_loss: f64,
    /// Surrogates of the session that stand for more than one word.
    pub collisions: u64,
    /// What it belongs to.
    pub conversation: Conversation,
    /// The mechanism.
    pub mechanism: &'static str,
    /// The policy's name and identity.
    pub policy: String,
    /// The model's identity.
    pub model: String,
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "words={}; loss={:.1}; session-loss={:.1}; collisions={}; conversation={}; mechanism={}; policy={}; model={}",
            self.words,
            up(self.loss),
            up(self.session_loss),
            self.collisions,
            self.conversation.name(),
            self.mechanism,
            self.policy,
            self.model,
        )
    }
}

/// Rounded up to the tenth that is shown: a loss is never understated.
fn up(loss: f64) -> f64 {
    (loss * 10.0).ceil() / 10.0
}

/// What one interface did on a day.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    requests: u64,
    refused: u64,
    failed: u64,
    words: u64,
    loss: f64,
}

/// Today's sums, by UTC.
#[derive(Default)]
pub struct Today(Mutex<(u64, [Sums; 2])>);

impl Today {
    fn with(&self, day: u64, change: impl FnOnce(&mut [Sums; 2])) {
        let mut today = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if today.0 != day {
            *today = (day, Default::default());
        }
        change(&mut today.1);
    }

    /// A request that was sent upstream.
    pub fn sent(&self, day: u64, api: Api, receipt: &Receipt) {
        self.with(day, |sums| {
            let sums = &mut sums[api as usize];
            sums.requests += 1;
            sums.words += receipt.words;
            sums.loss += receipt.loss;
        });
    }

    /// A request that was refused before a byte left.
    pub fn refused(&self, day: u64, api: Api) {
        self.with(day, |sums| sums[api as usize].refused += 1);
    }

    /// An answer that did not come whole.
    pub fn failed(&self, day: u64, api: Api) {
        self.with(day, |sums| sums[api as usize].failed += 1);
    }

    /// As the page shows it.
    pub fn json(&self, day: u64) -> Value {
        let mut shown = json!([]);
        self.with(day, |sums| {
            shown = [Api::OpenAi, Api::Anthropic]
                .map(|api| {
                    let sums = sums[api as usize];
                    json!({
                        "interface": api.name(), "requests": sums.requests, "refused": sums.refused,
                        "failed": sums.failed, "words": sums.words, "loss": up(sums.loss),
                    })
                })
                .to_vec()
                .into();
        });
        shown
    }
}
