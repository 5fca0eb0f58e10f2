//! Every search backend against one naive oracle.

mod oracle;

use brr::parts::codes::{CodeBits, CodeRows};
use oracle::{Random, disagreement, queries, table};
use proptest::prelude::*;

fn code_lengths() -> impl Iterator<Item = CodeBits> {
    (64..=1024).step_by(64).map(|n| CodeBits::new(n).unwrap())
}

#[test]
fn every_code_length_at_every_boundary() {
    let random = &mut Random(1);
    for bits in code_lengths() {
        for len in [1, 2, 63, 64, 65, 127, 128, 129, 257, 511, 512, 513, 1025] {
            let rows = table(bits, len, random);
            // Below and above the batch size from which bit slices are used.
            for count in [0, 1, 7, 30] {
                let queries = queries(&rows, count, random);
                assert_eq!(disagreement(&rows, &queries), None);
            }
        }
    }
}

#[test]
fn minima_survive_folding() {
    // More than 257 blocks, 32 tiles of the widest backend, 256 queries.
    let random = &mut Random(2);
    for (bits, len) in [(64, 17_000), (256, 257 * 64 + 1), (448, 16_449)] {
        let rows = table(CodeBits::new(bits).unwrap(), len, random);
        let queries = queries(&rows, 261, random);
        assert_eq!(disagreement(&rows, &queries), None);
    }
}

#[test]
fn equal_codes_give_the_lowest_id() {
    for bits in code_lengths() {
        // Nothing but ties, at distance 0, at the maximum, and in between.
        let rows = CodeRows::zeros(bits, 200);
        let mut queries = CodeRows::zeros(bits, 12);
        queries.row_mut(0).fill(!0);
        queries.row_mut(1)[0] = 5;
        assert_eq!(disagreement(&rows, &queries), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_table(limbs in 1..=16usize, len in 1..1500usize, count in 0..40usize, seed: u64) {
        let random = &mut Random(seed);
        let rows = table(CodeBits::new(limbs * 64).unwrap(), len, random);
        let queries = queries(&rows, count, random);
        prop_assert_eq!(disagreement(&rows, &queries), None);
    }
}
