//! Sessions, one for each conversation.
//!
//! # Guarantee
//!
//! A session is found by credential *and* conversation, hashed under a key that is drawn when the
//! program starts: without the credential nobody comes to another's session, neither by the same
//! name for a conversation nor by the same first message, and the credential is not kept. A request
//! without a name for its conversation has a session of its own, which ends with its answer. So an answer is
//! restored by the words of its own conversation and of no other.
//!
//! A conversation that was not used for a while, or that had to make room, is erased. If it goes on, it is
//! a new session: all its words are drawn again, which is a new release, and the receipt charges it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use brr::{Privatizer, Session};
use sha2::{Digest, Sha256};

type Key = [u8; 32];

/// A session, and whether it is a conversation that goes on.
pub struct Opened {
    /// The session.
    pub session: Arc<Mutex<Session>>,
    /// What a receipt says of it.
    pub conversation: Conversation,
}

/// What a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// To none.
    None,
    /// To one that it begins, or that was forgotten: its history is drawn and charged anew.
    New,
    /// To one that goes on.
    Continued,
}

impl Conversation {
    /// As receipts have it.
    pub fn name(self) -> &'static str {
        match self {
            Conversation::None => "none",
            Conversation::New => "new",
            Conversation::Continued => "continued",
        }
    }
}

struct Kept {
    session: Arc<Mutex<Session>>,
    used: Instant,
}

/// All conversations.
pub struct Conversations {
    secret: Key,
    most: usize,
    expiry: Duration,
    kept: Mutex<HashMap<Key, Kept>>,
}

impl Conversations {
    /// At most so many, each kept so long after it was last used. Fails without entropy.
    pub fn new(most: usize, expiry: Duration) -> Result<Conversations, getrandom::Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Conversations {
            secret,
            most,
            expiry,
            kept: Mutex::default(),
        })
    }

    /// The session of a credential's conversation, or a fresh one for a request without.
    pub fn open(
        &self,
        conversation: Option<(&[u8], &[u8])>,
        privatizer: &Arc<Privatizer>,
        now: Instant,
    ) -> brr::Result<Opened> {
        let fresh = || Ok(Arc::new(Mutex::new(Session::new(privatizer.clone())?)));
        let Some((credential, name)) = conversation else {
            return Ok(Opened {
                session: fresh()?,
                conversation: Conversation::None,
            });
        };
        let key = self.key(credential, name);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, kept| now.duration_since(kept.used) < self.expiry);
        if let Some(found) = kept.get_mut(&key) {
            found.used = now;
            return Ok(Opened {
                session: found.session.clone(),
                conversation: Conversation::Continued,
            });
        }
        while kept.len() >= self.most {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else {
                break;
            };
            kept.remove(&oldest);
        }
        let session = fresh()?;
        let entry = Kept {
            session: session.clone(),
            used: now,
        };
        kept.insert(key, entry);
        Ok(Opened {
            session,
            conversation: Conversation::New,
        })
    }

    /// Erases what expired.
    pub fn sweep(&self, now: Instant) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, kept| now.duration_since(kept.used) < self.expiry);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn key(&self, credential: &[u8], name: &[u8]) -> Key {
        let mut hash = Sha256::new();
        hash.update(self.secret);
        hash.update((credential.len() as u64).to_le_bytes());
        hash.update(credential);
        hash.update(name);
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DEFAULT, Policy};

    fn same(a: &Opened, b: &Opened) -> bool {
        Arc::ptr_eq(&a.session, &b.session)
    }

    #[test]
    fn a_session_is_one_credentials_one_conversation() {
        let privatizer = Policy::parse(DEFAULT).unwrap().load().unwrap();
        let all = Conversations::new(2, Duration::from_secs(60)).unwrap();
        let start = Instant::now();
        let open = |key: Option<(&str, &str)>, seconds| {
            let key = key.map(|(a, b)| (a.as_bytes(), b.as_bytes()));
            all.open(key, &privatizer, start + Duration::from_secs(seconds))
                .unwrap()
        };
        let first = open(Some(("alice", "x")), 0);
        assert_eq!(first.conversation, Conversation::New);
        let again = open(Some(("alice", "x")), 1);
        assert!(same(&first, &again) && again.conversation == Conversation::Continued);
        // Another credential, a boundary moved between the two, and no conversation at all.
        assert!(!same(&first, &open(Some(("bob", "x")), 2)));
        assert!(!same(&open(None, 3), &open(None, 3)));
        assert_eq!(all.len(), 2);
        // A third makes the one go that was used least recently.
        assert!(!same(&first, &open(Some(("alic", "ex")), 4)));
        let forgotten = open(Some(("alice", "x")), 5);
        assert!(!same(&first, &forgotten) && forgotten.conversation == Conversation::New);
        assert_eq!(all.len(), 2);
        // After its time a conversation is new again.
        let late = open(Some(("alice", "x")), 66);
        assert!(!same(&forgotten, &late) && late.conversation == Conversation::New);
        all.sweep(start + Duration::from_secs(1000));
        assert!(all.is_empty());
    }
}
