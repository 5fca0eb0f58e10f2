//! The oracle: distances one by one, the first of the least. Every search is
//! held against it, and none has tests of its own.
//!
//! Needs nothing but the crate itself, so that it also runs where no test
//! harness does (`tests/wasm-oracle`).

use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, hamming, to_blocks};
use brr::parts::nearest::{Backend, MultiIndex, Neighbor, Scan, Sieve, WeightTable, distances_of};

/// SplitMix64: enough to make tables, and reproducible everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A table with duplicates and near-duplicates, so that ties are common.
pub fn table(bits: CodeBits, len: usize, random: &mut Random) -> CodeRows {
    let mut rows = CodeRows::new(bits);
    for i in 0..len {
        let mut row: Vec<u64> = (0..bits.limbs()).map(|_| random.next()).collect();
        if i > 0 && random.below(4) == 0 {
            row = rows.row(random.below(i)).to_vec();
            let flips = random.below(3);
            flip(&mut row, flips, random);
        }
        rows.push(&row);
    }
    rows
}

/// Queries at every distance: words, noisy words, complements, extremes.
pub fn queries(rows: &CodeRows, count: usize, random: &mut Random) -> CodeRows {
    let bits = rows.bits().get();
    let mut out = CodeRows::new(rows.bits());
    for i in 0..count {
        let mut query = rows.row(random.below(rows.len())).to_vec();
        match i % 6 {
            0 => query.iter_mut().for_each(|l| *l = !*l),
            1 => query.fill(0),
            2 => query.fill(!0),
            3 => {}
            4 => flip(&mut query, bits / 4, random),
            _ => query.iter_mut().for_each(|l| *l = random.next()),
        }
        out.push(&query);
    }
    out
}

fn flip(row: &mut [u64], times: usize, random: &mut Random) {
    for _ in 0..times {
        let bit = random.below(row.len() * 64);
        row[bit / 64] ^= 1 << (bit % 64);
    }
}

/// What any search must answer, and the largest distance.
pub fn naive(rows: &CodeRows, query: &[u64]) -> (Neighbor, u32) {
    let distances = || rows.iter().map(|row| hamming(row, query));
    let (id, distance) = distances().enumerate().min_by_key(|&(_, d)| d).unwrap();
    let nearest = Neighbor {
        id: id as u32,
        distance,
    };
    (nearest, distances().max().unwrap())
}

/// Runs every backend of this machine, and the index, over one table. The
/// first disagreement, if any.
pub fn disagreement(rows: &CodeRows, queries: &CodeRows) -> Option<String> {
    let bytes = to_blocks(rows);
    let codes = CodeBlocks::new(rows.bits(), rows.len(), &bytes).unwrap();
    let (nearest, farthest): (Vec<_>, Vec<_>) = queries.iter().map(|q| naive(rows, q)).unzip();
    let what = |name: &str, part: &str| {
        let (bits, words, queries) = (rows.bits(), rows.len(), queries.len());
        format!("{name}: {part}, {bits} bits, {words} words, {queries} queries")
    };

    for backend in Backend::available() {
        let scan = Scan::with_backend(codes, backend).unwrap();
        if scan.nearest(queries) != nearest {
            return Some(what(backend.name(), "nearest"));
        }
        if scan.farthest(queries) != farthest {
            return Some(what(backend.name(), "farthest"));
        }
        for (query, &nearest) in queries.iter().zip(&nearest) {
            if scan.nearest_one(query) != nearest {
                return Some(what(backend.name(), "nearest_one"));
            }
        }
        if !weights_agree(&scan, rows, queries) {
            return Some(what(backend.name(), "weigh_many"));
        }
        if !sieves_agree(&scan, rows, queries) {
            return Some(what(backend.name(), "sift"));
        }
        for query in queries.iter().take(4) {
            if !distances_agree(&scan, rows, query) {
                return Some(what(backend.name(), "distances"));
            }
        }
    }
    // By itself the index scans tables as small as these: make it look.
    for radii in [0, 1, 2, 4] {
        let index = MultiIndex::with_radii(codes, radii);
        if index.nearest(&Scan::new(codes), queries) != nearest {
            return Some(what("multi-index", &format!("{radii} radii")));
        }
    }
    let index = MultiIndex::new(codes);
    let mut pairs = queries.iter().zip(&nearest);
    let agrees =
        pairs.all(|(query, &nearest)| index.nearest_one(&Scan::new(codes), query) == nearest);
    (!agrees).then(|| what("multi-index", "nearest_one"))
}

/// All distances, and those of a range of blocks.
fn distances_agree(scan: &Scan<'_>, rows: &CodeRows, query: &[u64]) -> bool {
    let right: Vec<u16> = rows.iter().map(|r| hamming(r, query) as u16).collect();
    let mut all = vec![0; rows.len()];
    scan.distances(query, &mut all);
    let from = scan.codes().blocks() / 3;
    let mut some = vec![0; rows.len() - from * 64];
    scan.distances_in(query, from..scan.codes().blocks(), &mut some);
    all == right && some == right[from * 64..]
}

/// The words within reach of every query, all and few; and the distances of some.
fn sieves_agree(scan: &Scan<'_>, rows: &CodeRows, queries: &CodeRows) -> bool {
    let bits = rows.bits().get() as u16;
    [None, Some(0), Some(bits / 2), Some(bits)]
        .into_iter()
        .all(|reach| {
            let mut within = Within {
                reach,
                words: rows.len(),
                taken: vec![Vec::new(); queries.len()],
            };
            scan.sift(queries, &mut within);
            let mut pairs = queries.iter().zip(&within.taken);
            pairs.all(|(query, taken)| {
                let distances = rows.iter().map(|row| hamming(row, query) as u16);
                let near = distances.enumerate().filter(|(_, d)| Some(*d) <= reach);
                let near: Vec<(usize, u16)> = near.filter(|_| reach.is_some()).collect();
                let words: Vec<u32> = near.iter().map(|&(w, _)| w as u32).collect();
                let of_some = distances_of(rows, query, &words);
                near == *taken && of_some.iter().eq(near.iter().map(|(_, d)| d))
            })
        })
}

/// Takes what lies within one reach.
struct Within {
    reach: Option<u16>,
    words: usize,
    taken: Vec<Vec<(usize, u16)>>,
}

impl Sieve for Within {
    fn words(&self) -> usize {
        self.words
    }
    fn reach(&self, _: usize, words: std::ops::Range<usize>) -> Option<u16> {
        assert!(!words.is_empty() && words.end <= self.words);
        self.reach
    }
    fn take(&mut self, query: usize, word: usize, step: u16) {
        self.taken[query].push((word, step));
    }
}

/// Sums of weights, with a table of its own for every other query.
fn weights_agree(scan: &Scan<'_>, rows: &CodeRows, queries: &CodeRows) -> bool {
    let longest = rows.bits().get() as u64;
    let weights: [Vec<u64>; 2] = [
        (0..=longest).map(|d| (1 << 57) >> (d / 20)).collect(),
        (0..=longest)
            .map(|d| 0x0123_4567_89ab_cdef % (d + 3))
            .collect(),
    ];
    let tables = weights.each_ref().map(|w| WeightTable::new(w));
    let of_query: Vec<_> = (0..queries.len()).map(|q| &tables[q % 2]).collect();
    let mut sums = vec![0; queries.len() * scan.codes().blocks()];
    scan.weigh_many(queries, &of_query, &mut sums);
    let mut right = Vec::new();
    for (q, query) in queries.iter().enumerate() {
        let weight = |row: &[u64]| weights[q % 2][hamming(row, query) as usize];
        let all: Vec<u64> = rows.iter().map(weight).collect();
        right.extend(all.chunks(64).map(|block| block.iter().sum::<u64>()));
    }
    sums == right
}
