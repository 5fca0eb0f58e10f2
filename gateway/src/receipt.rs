//! What a request spent, as the client and the log are told: numbers and names, and no text.

use std::collections::VecDeque;
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

/// Requests that are shown one by one.
const SHOWN: usize = 20;

/// What happened on a day.
#[derive(Default)]
struct Day {
    number: u64,
    sums: [Sums; 2],
    /// The last requests, the newest first, as the page shows them.
    last: VecDeque<Value>,
}

/// What happened today, by UTC. Times are seconds since 1970.
#[derive(Default)]
pub struct Today(Mutex<Day>);

impl Today {
    fn with<T>(&self, now: u64, change: impl FnOnce(&mut Day) -> T) -> T {
        let mut today = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = now / 86_400;
        if today.number != number {
            *today = Day {
                number,
                ..Day::default()
            };
        }
        change(&mut today)
    }

    /// A request that is being sent upstream.
    pub fn sent(&self, now: u64, api: Api, receipt: &Receipt) {
        self.with(now, |day| {
            let sums = &mut day.sums[api as usize];
            sums.requests += 1;
            sums.words += receipt.words;
            sums.loss += receipt.loss;
        });
    }

    /// A request that was answered with this status; without a receipt, one that was refused before a byte left.
    pub fn answered(&self, now: u64, api: Api, status: u16, receipt: Option<&Receipt>) {
        let words = receipt.map(|receipt| receipt.words);
        let loss = receipt.map(|receipt| up(receipt.loss));
        let conversation = receipt.map(|receipt| receipt.conversation.name());
        let row = json!({
            "seconds": now, "interface": api.name(), "status": status, "conversation": conversation,
            "words": words, "loss": loss,
        });
        self.with(now, |day| {
            day.sums[api as usize].refused += u64::from(receipt.is_none());
            day.last.push_front(row);
            day.last.truncate(SHOWN);
        });
    }

    /// An answer that did not come whole.
    pub fn failed(&self, now: u64, api: Api) {
        self.with(now, |day| day.sums[api as usize].failed += 1);
    }

    /// The sums, and the last requests.
    pub fn json(&self, now: u64) -> (Value, Value) {
        self.with(now, |day| {
            let sums = [Api::OpenAi, Api::Anthropic].map(|api| {
                let sums = day.sums[api as usize];
                json!({
                    "interface": api.name(), "requests": sums.requests, "refused": sums.refused,
                    "failed": sums.failed, "words": sums.words, "loss": up(sums.loss),
                })
            });
            let last = day.last.iter().cloned().collect();
            (sums.to_vec().into(), Value::Array(last))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_with_its_requests() {
        let today = Today::default();
        for second in 0..30 {
            today.answered(second, Api::OpenAi, 400, None);
        }
        let (sums, last) = today.json(86_399);
        assert_eq!(
            (sums[0]["refused"].as_u64(), sums[1]["refused"].as_u64()),
            (Some(30), Some(0))
        );
        assert_eq!(last.as_array().map(Vec::len), Some(SHOWN));
        assert_eq!(last[0]["seconds"], 29);
        let (sums, last) = today.json(86_400);
        assert_eq!((sums[0]["refused"].as_u64(), last), (Some(0), json!([])));
    }
}
