//! How many private words belong to one unit of privacy, such as a person.
//!
//! Losses add up, so what a release says about a person is the loss of all their words together.
//! Which rows are whose, only a column can tell; without one, the unit is the document.
//! [`Statistics`] are what a manifest states, and a cap holds for the words of a unit in the order of the file: what lies beyond the cap is deleted.
//!
//! # Why a statement is never too low
//!
//! - A cap depends on all rows before it, so a [`Ledger`] counts words where rows are read, in
//!   order, and hands each cell its cap; how many threads privatize the cells changes nothing.
//! - A unit's name is kept as 128 bits of a hash under a key that is drawn for the run and never
//!   written. Two names that collide are counted as one unit, which can only raise its count.
//! - White space around a name does not make another unit. A row without a name is a bad row: its
//!   words may be anybody's, and added to nobody's they would be missing from somebody's.
//! - A run that goes on reads again what was done before and counts it as it was counted then. The
//!   output would not do: it may have fewer words than were spent, as with a rule that drops
//!   unknown ones. Neither names nor their counts are in a checkpoint.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use brr::Model;
use brr::parts::random::Noise;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;

/// A cell of which all words are kept.
pub const NO_CAP: u64 = u64::MAX;

/// What a name becomes: 128 bits.
pub type UnitName = [u64; 2];

/// Hides the names of units behind a key of this run.
pub struct Naming([u64; 4]);

impl Naming {
    fn new() -> Result<Naming> {
        let mut key = [0; 4];
        Noise::from_os()?.fill(&mut key);
        Ok(Naming(key))
    }

    /// The name as it is kept.
    pub fn name(&self, value: &[u8]) -> UnitName {
        let mut hash = Sha256::new();
        self.0
            .iter()
            .for_each(|limb| hash.update(limb.to_le_bytes()));
        hash.update(value);
        let hash: [u8; 32] = hash.finalize().into();
        let join = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        [&hash[..8], &hash[8..16]].map(|bytes| bytes.iter().fold(0, join))
    }
}

/// A name as it stands in text, without white space around it; none if nothing is left.
pub fn trimmed(value: &[u8]) -> Option<&[u8]> {
    let name = value.trim_ascii();
    (!name.is_empty()).then_some(name)
}

/// Who has how many words.
pub struct Ledger {
    /// How names are kept.
    pub naming: Naming,
    /// What each has.
    pub accounts: Accounts,
}

/// Counts the words of each unit.
pub struct Accounts {
    /// What tells the words of a text apart.
    model: Arc<Model>,
    cap: u64,
    words: HashMap<UnitName, u64>,
}

impl Ledger {
    /// One for a run whose units are named by a column, if they are.
    pub fn open(model: &Arc<Model>, named: bool, max_words: Option<u64>) -> Result<Option<Ledger>> {
        let ledger = named.then(|| Ledger::new(model.clone(), max_words));
        ledger.transpose()
    }

    fn new(model: Arc<Model>, max_words: Option<u64>) -> Result<Ledger> {
        Ok(Ledger {
            naming: Naming::new()?,
            accounts: Accounts {
                model,
                cap: max_words.unwrap_or(NO_CAP),
                words: HashMap::new(),
            },
        })
    }
}

impl Accounts {
    /// Counts a cell of a unit, the next in the order of the file; the cell's cap.
    pub fn admit(&mut self, unit: UnitName, text: &str) -> u64 {
        let words = self.model.count(text) as u64;
        let spent = self.words.entry(unit).or_default();
        let left = self.cap - *spent;
        *spent += words.min(left);
        if words > left { left } else { NO_CAP }
    }

    /// How the counts are distributed.
    pub fn statistics(&self) -> Statistics {
        let mut counts = Histogram::default();
        self.words.values().for_each(|&words| counts.add(words));
        counts.statistics()
    }
}

/// Number of units by their number of words. It has an entry for each number that occurs: of n words in
/// all, at most about the square root of 2n.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram(BTreeMap<u64, u64>);

impl Histogram {
    /// One more unit of this many words.
    pub fn add(&mut self, words: u64) {
        *self.0.entry(words).or_default() += 1;
    }

    /// All of another's units.
    pub fn merge(&mut self, other: &Histogram) {
        for (&words, units) in &other.0 {
            *self.0.entry(words).or_default() += units;
        }
    }

    /// In a few numbers.
    pub fn statistics(&self) -> Statistics {
        let units = self.0.values().sum();
        Statistics {
            units,
            largest: self.0.last_key_value().map_or(0, |(words, _)| *words),
            median: self.beyond(units / 2),
            percentile_99: self.beyond(units - units.div_ceil(100)),
        }
    }

    /// The number of words of the unit at this place, in ascending order.
    fn beyond(&self, smaller: u64) -> u64 {
        let mut passed = 0;
        let found = self.0.iter().find(|(_, units)| {
            passed += **units;
            passed > smaller
        });
        found.map_or(0, |(words, _)| *words)
    }
}

/// Private words per unit. Where a share falls between two units, the larger one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Units with private cells.
    pub units: u64,
    /// The most words that a unit has.
    pub largest: u64,
    /// Half of the units have no more.
    pub median: u64,
    /// All but a hundredth of the units have no more.
    pub percentile_99: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(max_words: Option<u64>) -> Ledger {
        let model = Model::open("../brr-english/src/english.brr").unwrap();
        Ledger::new(Arc::new(model), max_words).unwrap()
    }

    #[test]
    fn words_beyond_a_cap_are_cut_in_order() {
        let mut ledger = ledger(Some(5));
        let [a, b] = [b"a", b"b"].map(|name| ledger.naming.name(name));
        assert_eq!(ledger.accounts.admit(a, "one, two three"), NO_CAP);
        assert_eq!(ledger.accounts.admit(b, "one two three four five"), NO_CAP);
        assert_eq!(ledger.accounts.admit(a, "four five. six"), 2);
        assert_eq!(ledger.accounts.admit(a, "seven"), 0);
        assert_eq!(ledger.accounts.admit(b, "!"), NO_CAP);
        let found = ledger.accounts.statistics();
        assert_eq!((found.units, found.largest), (2, 5));
    }

    #[test]
    fn names_are_hidden_by_a_key_of_the_run() {
        let (one, other) = (ledger(None), ledger(None));
        assert_eq!(one.naming.name(b"ann"), one.naming.name(b"ann"));
        assert_ne!(one.naming.name(b"ann"), one.naming.name(b"anna"));
        assert_ne!(one.naming.name(b"ann"), other.naming.name(b"ann"));
        assert_eq!(trimmed(b" ann\t"), Some(&b"ann"[..]));
        assert_eq!(trimmed(b" \t"), None);
    }

    #[test]
    fn shares_between_two_units_take_the_larger() {
        let of = |counts: &[u64]| {
            let mut histogram = Histogram::default();
            counts.iter().for_each(|&words| histogram.add(words));
            let s = histogram.statistics();
            (s.units, s.largest, s.median, s.percentile_99)
        };
        assert_eq!(of(&[]), (0, 0, 0, 0));
        assert_eq!(of(&[7]), (1, 7, 7, 7));
        assert_eq!(of(&[1, 9]), (2, 9, 9, 9));
        assert_eq!(of(&[3, 1, 2]), (3, 3, 2, 3));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(of(&hundred), (100, 100, 51, 100));
        let thousand: Vec<u64> = (1..=1000).collect();
        assert_eq!(of(&thousand), (1000, 1000, 501, 991));
    }
}
