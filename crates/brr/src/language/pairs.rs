//! Listed pairs in memory: in rows, and in tables that find one pair with one look.

use std::sync::OnceLock;

use super::{State, log_pair};

/// Listed pairs by one of their two states.
pub(crate) struct Rows {
    pub(super) starts: Vec<u32>,
    pub(super) others: Vec<State>,
    pub(super) probabilities: Vec<u8>,
}

impl Rows {
    /// The listed pairs of a state: the other states and the steps of p.
    pub fn row(&self, state: State) -> (&[State], &[u8]) {
        let at = |i: usize| self.starts[i] as usize;
        let range = at(state as usize)..at(state as usize + 1);
        (&self.others[range.clone()], &self.probabilities[range])
    }

    /// By the other state.
    pub(super) fn transposed(&self) -> Rows {
        let states = self.starts.len() - 1;
        let mut starts = vec![0; states + 1];
        for &other in &self.others {
            starts[other as usize + 1] += 1;
        }
        for i in 0..states {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut others = vec![0; self.others.len()];
        let mut probabilities = vec![0; self.others.len()];
        for state in 0..states as State {
            let (row, steps) = self.row(state);
            for (&other, &step) in row.iter().zip(steps) {
                let at = next[other as usize] as usize;
                (others[at], probabilities[at]) = (state, step);
                next[other as usize] += 1;
            }
        }
        Rows {
            starts,
            others,
            probabilities,
        }
    }
}

/// Successors or predecessors that a state's row of heads has at most.
const HEADS: usize = 128;

/// States with their scores, which fall.
type Ordered = Box<[(f32, State)]>;

/// What begins the row of each state, if the pairs in it are ordered by how likely they are. A row is
/// put in order when it is first asked for: a text needs few of them.
pub(crate) struct Heads {
    rows: Rows,
    /// The ln of the other state's share, if it counts.
    log_shares: Option<Vec<f32>>,
    ordered: Vec<OnceLock<Ordered>>,
}

impl Heads {
    /// The listed pairs that the rows are put in order from.
    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(super) fn new(rows: Rows, log_shares: Option<Vec<f32>>) -> Heads {
        let ordered = (1..rows.starts.len()).map(|_| OnceLock::new()).collect();
        Heads {
            rows,
            log_shares,
            ordered,
        }
    }

    /// The other states of a row with their scores, which fall: ln p and the ln of the share.
    pub fn row(&self, state: State) -> &[(f32, State)] {
        self.ordered[state as usize].get_or_init(|| self.order(state))
    }

    fn order(&self, state: State) -> Ordered {
        let share = |other: State| match &self.log_shares {
            Some(shares) => shares[other as usize],
            None => 0.0,
        };
        let (row, steps) = self.rows.row(state);
        let pairs = row.iter().zip(steps);
        let mut pairs: Vec<_> = pairs
            .map(|(&other, &steps)| (log_pair(steps) + share(other), other))
            .collect();
        pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        pairs.truncate(HEADS);
        pairs.into()
    }
}

/// No state.
const NONE: State = State::MAX;

/// The listed successors of each state, in a hash table for each: half full, with linear probing.
/// What the candidates after one word are looked up in lies close together.
pub(crate) struct Listed {
    /// Where the table of each state begins.
    starts: Vec<u32>,
    successors: Vec<State>,
    probabilities: Vec<u8>,
    /// Eight bits a pair: those that its hash names are set. Of most states they lie in one line of cache.
    filter: Vec<u8>,
}

impl Listed {
    pub(super) fn new(rows: &Rows) -> Listed {
        let places = 2 * rows.others.len();
        let mut listed = Listed {
            starts: rows.starts.iter().map(|&start| 2 * start).collect(),
            successors: vec![NONE; places],
            probabilities: vec![0; places],
            filter: vec![0; rows.others.len()],
        };
        for u in 0..(rows.starts.len() - 1) as State {
            let first = listed.starts[u as usize] as usize;
            let (row, steps) = rows.row(u);
            for (&v, &step) in row.iter().zip(steps) {
                let place = first + listed.after(u).place(v);
                let bit = listed.after(u).bit(v);
                listed.filter[first / 2 + bit / 8] |= 1 << (bit % 8);
                (listed.successors[place], listed.probabilities[place]) = (v, step);
            }
        }
        listed
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.successors.len() / 2
    }

    /// The listed successors of a state.
    pub fn after(&self, u: State) -> After<'_> {
        let [start, end] = [0, 1].map(|i| self.starts[u as usize + i] as usize);
        After {
            successors: &self.successors[start..end],
            probabilities: &self.probabilities[start..end],
            filter: &self.filter[start / 2..end / 2],
        }
    }
}

/// The listed successors of one state.
#[derive(Clone, Copy)]
pub(crate) struct After<'a> {
    successors: &'a [State],
    probabilities: &'a [u8],
    filter: &'a [u8],
}

impl After<'_> {
    /// Fibonacci hashing: the upper bits are a share of this many places.
    #[inline]
    fn hash(v: State, places: usize) -> usize {
        let hash = u64::from(v.wrapping_mul(0x9e37_79b9));
        ((hash * places as u64) >> 32) as usize
    }

    /// Where v is in the filter.
    #[inline]
    fn bit(&self, v: State) -> usize {
        After::hash(v.rotate_left(16) ^ v, 8 * self.filter.len())
    }

    /// Whether v may be listed; no for seven in eight of those that are not. For many in a row, as no
    /// look waits for the one before.
    #[inline]
    pub fn may_list(&self, v: State) -> bool {
        let bit = self.bit(v);
        let byte = self.filter.get(bit / 8).copied().unwrap_or(0);
        byte >> (bit % 8) & 1 == 1
    }

    /// Where v is, or would be. The table must have places.
    #[inline]
    fn place(&self, v: State) -> usize {
        let mut at = After::hash(v, self.successors.len());
        while self.successors[at] != v && self.successors[at] != NONE {
            at += 1;
            if at == self.successors.len() {
                at = 0;
            }
        }
        at
    }

    /// What stands where v would be looked for first. For many in a row, as no look waits for the one
    /// before. The filter must have let v through.
    #[inline]
    pub fn first(&self, v: State) -> State {
        self.successors[After::hash(v, self.successors.len())]
    }

    /// As [`get`](Self::get), given what stands where v is looked for first.
    #[inline]
    pub fn get_from(&self, first: State, v: State) -> Option<u8> {
        match first {
            NONE => None,
            _ if first == v => Some(self.probabilities[After::hash(v, self.successors.len())]),
            _ => self.get(v),
        }
    }

    /// The steps of p(v | u), if the pair is listed.
    #[inline]
    pub fn get(&self, v: State) -> Option<u8> {
        if self.successors.is_empty() {
            return None;
        }
        let place = self.place(v);
        (self.successors[place] == v).then(|| self.probabilities[place])
    }

    /// All of them with the steps of p, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (State, u8)> + '_ {
        let pairs = self.successors.iter().zip(self.probabilities);
        pairs
            .filter(|(v, _)| **v != NONE)
            .map(|(&v, &steps)| (v, steps))
    }
}
