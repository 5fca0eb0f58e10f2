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
//! A request opens its conversation without changing anything, and [keeps](Conversations::keep) it when it is about to be
//! sent. So one that is refused neither begins a conversation, nor makes it last longer, nor makes another go.
//!
//! All sessions together take at most so many bytes ([`Session::bytes`]): those that were used least recently make room, and
//! a request that belongs to no conversation is refused while those of its kind take all.
//!
//! A conversation that was not used for a while, or that had to make room, is erased. If it goes on, it is
//! a new session: all its words are drawn again, which is a new release, and the receipt charges it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use brr::{Privatizer, Session};
use sha2::{Digest, Sha256};

use crate::policy::Limits;

/// What a conversation is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

/// A session, and whether it is a conversation that goes on.
#[derive(Clone)]
pub struct Opened {
    key: Option<Key>,
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
    bytes: usize,
}

/// What came of a wish to keep a session.
#[must_use]
pub enum Wish {
    /// It is kept, for as long as this is held if it belongs to no conversation.
    Granted(Share),
    /// Another request began the same conversation in the meantime: this one has to be privatized in that session.
    Late,
    /// There is no room.
    Full,
}

/// Bytes that a session without a conversation takes, given back when this is dropped.
pub struct Share {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What all conversations may take.
#[derive(Clone, Copy)]
pub struct Most {
    /// How many there may be.
    pub conversations: usize,
    /// Bytes of all.
    pub memory: usize,
    /// Time after its last request for which one is kept.
    pub expiry: Duration,
}

impl From<Limits> for Most {
    fn from(limits: Limits) -> Most {
        Most {
            conversations: limits.conversations,
            memory: limits.memory,
            expiry: Duration::from_secs_f64(limits.expiry_minutes * 60.0),
        }
    }
}

/// All conversations.
pub struct Conversations {
    secret: [u8; 32],
    most: Most,
    kept: Mutex<HashMap<Key, Kept>>,
    /// Bytes of sessions that belong to no conversation.
    passing: Arc<AtomicUsize>,
}

impl Conversations {
    /// Conversations that take at most so much. Fails without entropy.
    pub fn new(most: Most) -> Result<Conversations, getrandom::Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Conversations {
            secret,
            most,
            kept: Mutex::default(),
            passing: Arc::default(),
        })
    }

    /// What a credential's conversation is found by.
    pub fn key(&self, credential: &[u8], name: &[u8]) -> Key {
        let mut hash = Sha256::new();
        hash.update(self.secret);
        hash.update((credential.len() as u64).to_le_bytes());
        hash.update(credential);
        hash.update(name);
        Key(hash.finalize().into())
    }

    /// The session of a conversation, or a fresh one. Nothing is kept of it yet.
    pub fn open(
        &self,
        key: Option<Key>,
        privatizer: &Arc<Privatizer>,
        now: Instant,
    ) -> brr::Result<Opened> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = key.and_then(|key| kept.get(&key));
        if let Some(found) = found.filter(|found| self.is_fresh(found, now)) {
            return Ok(Opened {
                key,
                session: found.session.clone(),
                conversation: Conversation::Continued,
            });
        }
        drop(kept);
        Ok(Opened {
            key,
            session: Arc::new(Mutex::new(Session::new(privatizer.clone())?)),
            conversation: match key {
                Some(_) => Conversation::New,
                None => Conversation::None,
            },
        })
    }

    /// Keeps the session of a request that is about to be sent, and that takes so many bytes now.
    pub fn keep(&self, opened: &Opened, bytes: usize, now: Instant) -> Wish {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, kept| self.is_fresh(kept, now));
        let same = |kept: &Kept| Arc::ptr_eq(&kept.session, &opened.session);
        let other = opened.key.and_then(|key| kept.get(&key));
        if other.is_some_and(|other| !same(other)) {
            return Wish::Late;
        }
        let passing = self.passing.load(Ordering::Relaxed);
        if bytes.saturating_add(passing) > self.most.memory {
            return Wish::Full;
        }
        let before = opened.key.and_then(|key| kept.remove(&key));
        drop(before);
        let mut all = passing + bytes + kept.values().map(|kept| kept.bytes).sum::<usize>();
        let count = usize::from(opened.key.is_some());
        while kept.len() + count > self.most.conversations || all > self.most.memory {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else {
                break;
            };
            all -= kept.remove(&oldest).map_or(0, |kept| kept.bytes);
        }
        let Some(key) = opened.key else {
            self.passing.fetch_add(bytes, Ordering::Relaxed);
            return Wish::Granted(self.share(bytes));
        };
        let entry = Kept {
            session: opened.session.clone(),
            used: now,
            bytes,
        };
        kept.insert(key, entry);
        Wish::Granted(self.share(0))
    }

    fn share(&self, bytes: usize) -> Share {
        Share {
            bytes,
            all: self.passing.clone(),
        }
    }

    fn is_fresh(&self, kept: &Kept, now: Instant) -> bool {
        now.duration_since(kept.used) < self.most.expiry
    }

    /// Erases what expired.
    pub fn sweep(&self, now: Instant) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, kept| self.is_fresh(kept, now));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DEFAULT, Policy};

    fn most(conversations: usize, memory: usize) -> Most {
        let expiry = Duration::from_secs(60);
        Most {
            conversations,
            memory,
            expiry,
        }
    }

    fn same(a: &Opened, b: &Opened) -> bool {
        Arc::ptr_eq(&a.session, &b.session)
    }

    #[test]
    fn a_session_is_one_credentials_one_conversation() {
        let privatizer = Policy::parse(DEFAULT).unwrap().load().unwrap();
        let all = Conversations::new(most(2, usize::MAX)).unwrap();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let look = |key: Option<(&str, &str)>, seconds| {
            let key = key.map(|(a, b)| all.key(a.as_bytes(), b.as_bytes()));
            all.open(key, &privatizer, at(seconds)).unwrap()
        };
        let open = |key, seconds| {
            let opened = look(key, seconds);
            assert!(matches!(
                all.keep(&opened, 1, at(seconds)),
                Wish::Granted(_)
            ));
            opened
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
        // What is refused after it was opened changes nothing: it does not begin, make room or last longer.
        for seconds in 67..120 {
            let refused = look(Some(("carol", &seconds.to_string())), seconds);
            assert_eq!(refused.conversation, Conversation::New);
            assert!(same(&late, &look(Some(("alice", "x")), seconds)));
        }
        assert_eq!(
            look(Some(("alice", "x")), 126).conversation,
            Conversation::New
        );
        // Two requests that begin a conversation at the same time come to one session.
        let both = [(); 2].map(|()| look(Some(("dave", "x")), 127));
        assert!(matches!(all.keep(&both[1], 1, at(128)), Wish::Granted(_)));
        assert!(matches!(all.keep(&both[0], 1, at(128)), Wish::Late));
        let now = look(Some(("dave", "x")), 129);
        assert!(same(&now, &both[1]) && now.conversation == Conversation::Continued);
        all.sweep(at(1000));
        assert!(all.is_empty());
    }

    #[test]
    fn all_sessions_together_have_a_limit() {
        let privatizer = Policy::parse(DEFAULT).unwrap().load().unwrap();
        let all = Conversations::new(most(100, 10)).unwrap();
        let start = Instant::now();
        let wish = |name: Option<&str>, bytes, seconds| {
            let now = start + Duration::from_secs(seconds);
            let key = name.map(|name| all.key(b"alice", name.as_bytes()));
            let opened = all.open(key, &privatizer, now).unwrap();
            all.keep(&opened, bytes, now)
        };
        let granted = |name, bytes, seconds| matches!(wish(name, bytes, seconds), Wish::Granted(_));
        assert!(granted(Some("a"), 4, 0) && granted(Some("b"), 4, 1) && granted(Some("a"), 5, 2));
        assert_eq!(all.len(), 2);
        // The one that was used least recently goes, and not the one that grows.
        assert!(granted(Some("a"), 7, 3) && all.len() == 1);
        // What belongs to no conversation makes conversations go, and is given back when it ends.
        let Wish::Granted(share) = wish(None, 8, 4) else {
            panic!("there is room");
        };
        assert!(all.is_empty() && !granted(Some("a"), 3, 5) && !granted(None, 3, 5));
        assert!(granted(Some("a"), 2, 6));
        drop(share);
        assert!(granted(None, 10, 7) && granted(Some("a"), 10, 8));
        assert!(!granted(Some("a"), 11, 9) && all.len() == 1);
    }
}
