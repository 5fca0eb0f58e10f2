//! A session as bytes, by an explicit call alone: they hold the originals.
//!
//! ```text
//!  0   8  magic: 89 'B' 'S' 'N' 0d 0a 1a 0a
//!  8   1  version
//!  9  32  which privatizer: what its guarantee and its lists depend on, hashed
//! 41  32  SHA-256 of everything behind
//! 73      number of classes; for each its pool, its form, its spellings, its surrogate
//!         number of public forms; each of them
//! ```
//!
//! Numbers are in LEB128, and so are the lengths of texts. What is read is checked: a surrogate must be one that
//! its pool can draw, forms are what their spellings fold to, and no class stands twice.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::memory::Memory;
use super::{Session, Surrogate};
use crate::error::{Error, Result};
use crate::frame::{Fields, push_leb128};
use crate::privatizer::Privatizer;
use crate::spans::Pool;

const MAGIC: &[u8; 8] = b"\x89BSN\r\n\x1a\n";
const VERSION: u8 = 1;
const HEADER: usize = 73;

impl Session {
    /// The session as bytes, to go on with later. **They hold the originals**: keep them as you would keep the texts.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # use brr::{Options, Privatizer, Session};
    /// # let privatizer = Arc::new(Privatizer::new(model, Options::default())?);
    /// let mut session = Session::new(privatizer.clone())?;
    /// let first = session.privatize("Ludmilla")?.text;
    /// let mut later = Session::import(privatizer, &session.export())?;
    /// assert_eq!(later.privatize("Ludmilla")?.text, first);
    /// assert_eq!(later.loss(), session.loss());
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn export(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let memory = self.memory.read();
        push_leb128(&mut body, memory.len() as u32);
        for (pool, form, spellings, drawn) in memory.classes() {
            push_leb128(&mut body, pool.number());
            push_text(&mut body, form);
            push_leb128(&mut body, spellings.iter().len() as u32);
            spellings.iter().for_each(|s| push_text(&mut body, s));
            match drawn {
                Surrogate::Word(word) => push_leb128(&mut body, *word),
                Surrogate::Number(number) => push_text(&mut body, number),
            }
        }
        let public = memory.public();
        push_leb128(&mut body, public.len() as u32);
        public.iter().for_each(|form| push_text(&mut body, form));
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.privatizer.session_identity());
        bytes.extend_from_slice(&Sha256::digest(&body));
        bytes.extend_from_slice(&body);
        zeroize::Zeroize::zeroize(&mut body);
        bytes
    }

    /// A session that was exported, with a privatizer like the one that it had.
    pub fn import(privatizer: Arc<Privatizer>, bytes: &[u8]) -> Result<Session> {
        let session = Session::new(privatizer)?;
        let (header, body) = bytes
            .split_at_checked(HEADER)
            .ok_or(Error::SessionInvalid)?;
        if !header.starts_with(MAGIC)
            || header[8] != VERSION
            || header[41..] != Sha256::digest(body)[..]
        {
            return Err(Error::SessionInvalid);
        }
        if header[9..41] != session.privatizer.session_identity() {
            return Err(Error::SessionMismatch);
        }
        let memory = read(&session.privatizer, body).ok_or(Error::SessionInvalid)?;
        *session.memory.write() = memory;
        Ok(session)
    }
}

impl Privatizer {
    /// What the draws of a session and their loss depend on.
    fn session_identity(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let guarantee = |hash: &mut Sha256, guarantee: crate::Guarantee| {
            hash.update(guarantee.metric.to_string());
            guarantee
                .numbers()
                .iter()
                .for_each(|(_, n)| hash.update(n.to_le_bytes()));
        };
        hash.update(self.model().identity().0);
        hash.update(self.mechanism().name());
        hash.update(self.options().policy.name());
        if let Some(list) = self.options().policy.list() {
            hash.update(list.identity().0);
        }
        guarantee(&mut hash, self.guarantee());
        if let Some(numbers) = self.numbers() {
            hash.update(b"numbers");
            hash.update(numbers.range().start().to_le_bytes());
            hash.update(numbers.range().end().to_le_bytes());
            hash.update(numbers.scale().to_le_bytes());
        }
        for list in self.list_words() {
            hash.update(Sha256::digest(list.name()));
            hash.update(list.list().identity().0);
            guarantee(&mut hash, list.mechanism().guarantee());
        }
        hash.finalize().into()
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    push_leb128(out, text.len() as u32);
    out.extend_from_slice(text.as_bytes());
}

fn read_text<'a>(fields: &mut Fields<'a>) -> Option<&'a str> {
    let length = fields.leb128().ok()?;
    std::str::from_utf8(fields.bytes(length as usize).ok()?).ok()
}

/// What the bytes say, if it makes sense.
fn read(privatizer: &Privatizer, body: &[u8]) -> Option<Memory> {
    let model = privatizer.model();
    let mut lookup = model.lookup();
    let mut fields = Fields::new("session", body);
    let mut memory = Memory::new(model.clone());
    let classes = fields.leb128().ok()?;
    for number in 0..classes as usize {
        let pool = privatizer.pool_numbered(fields.leb128().ok()?)?;
        let form = read_text(&mut fields)?;
        let spellings = fields.leb128().ok()?;
        for _ in 0..spellings {
            let spelled = read_text(&mut fields)?;
            let key = memory.key(form);
            let fits = lookup.form(spelled) == form && memory.class(pool, key, spelled) == number;
            fits.then_some(())?;
        }
        (memory.len() == number + 1).then_some(())?;
        let surrogate = read_surrogate(privatizer, pool, &mut fields)?;
        let form = memory.key(lookup.form(surrogate.spelled(model.vocabulary())));
        memory.draw(surrogate, form);
    }
    for _ in 0..fields.leb128().ok()? {
        let form = memory.key(read_text(&mut fields)?);
        memory.add_public(form);
    }
    fields.end().ok()?;
    Some(memory)
}

/// A surrogate that this pool can draw.
fn read_surrogate(
    privatizer: &Privatizer,
    pool: Pool,
    fields: &mut Fields<'_>,
) -> Option<Surrogate> {
    if !matches!(pool, Pool::Integer | Pool::Identifier) {
        let word = fields.leb128().ok()?;
        return privatizer
            .can_draw(pool, word)
            .then_some(Surrogate::Word(word));
    }
    let number = read_text(fields)?;
    let drawn = number
        .bytes()
        .all(|b| b.is_ascii_digit() || b.is_ascii_punctuation());
    drawn.then(|| Surrogate::Number(number.into()))
}

impl Pool {
    fn number(self) -> u32 {
        match self {
            Pool::Words => 0,
            Pool::Integer => 1,
            Pool::Identifier => 2,
            Pool::List(list) => list as u32 + 3,
        }
    }
}
