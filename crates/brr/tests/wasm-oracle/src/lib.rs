//! The oracle of `tests/oracle`, as a WebAssembly module: no test harness runs
//! there. `run.mjs` calls it in Node.

#[path = "../../oracle/mod.rs"]
mod oracle;

use brr::parts::codes::CodeBits;
use brr::parts::nearest::{Backend, Scan};
use oracle::{Random, disagreement, queries, table};

/// Number of tables, out of `tables`, over which a search and the oracle do not
/// agree. Code lengths and table sizes go round.
#[unsafe(no_mangle)]
pub extern "C" fn failures(tables: u32, seed: u32) -> u32 {
    let random = &mut Random(seed.into());
    let mut failed = 0;
    for i in 0..tables as usize {
        let bits = CodeBits::new(64 + i % 16 * 64).unwrap();
        let len = [1, 63, 64, 65, 129, 1 + random.below(1500)][i % 6];
        let rows = table(bits, len, random);
        let queries = queries(&rows, random.below(40), random);
        failed += u32::from(disagreement(&rows, &queries).is_some());
    }
    failed
}

/// Same, over one table of more than 257 blocks, and queries in two groups.
#[unsafe(no_mangle)]
pub extern "C" fn failures_when_large(seed: u32) -> u32 {
    let random = &mut Random(seed.into());
    let rows = table(CodeBits::new(256).unwrap(), 257 * 64 + 1, random);
    let queries = queries(&rows, 261, random);
    u32::from(disagreement(&rows, &queries).is_some())
}

/// 1 if this build has the SIMD128 backend.
#[unsafe(no_mangle)]
pub extern "C" fn has_simd128() -> u32 {
    u32::from(Backend::available().any(|b| b == Backend::Simd128))
}

/// Scans a table of `words` random codes of 256 bits for `count` queries, with
/// the SIMD128 or the scalar backend, so that the caller can time it.
#[unsafe(no_mangle)]
pub extern "C" fn scan(words: u32, count: u32, simd: u32) -> u32 {
    let random = &mut Random(1);
    let rows = table(CodeBits::new(256).unwrap(), words as usize, random);
    let queries = queries(&rows, count as usize, random);
    let bytes = brr::parts::codes::to_blocks(&rows);
    let codes = brr::parts::codes::CodeBlocks::new(rows.bits(), rows.len(), &bytes).unwrap();
    let backend = [Backend::Scalar, Backend::Simd128][(simd != 0) as usize];
    let found = Scan::with_backend(codes, backend).map(|s| s.nearest(&queries));
    found.map_or(u32::MAX, |f| f.iter().map(|n| n.distance).sum())
}
