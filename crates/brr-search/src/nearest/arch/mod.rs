//! The vector types, one file a CPU, each with the kernels compiled for it.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
pub(super) mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128;

/// `kernels() -> Option<Kernels>` for a vector type and the number of blocks that
/// `planes` measures side by side: every kernel compiled with
/// the given target features, handed out only if `$detected` holds.
macro_rules! kernels {
    ($vector:ty, $blocks:literal, $backend:expr, $detected:expr, $(#[$features:meta])?) => {
        pub(in crate::nearest) fn kernels() -> Option<Kernels> {
            $detected.then_some(Kernels {
                backend: $backend,
                nearest_many,
                nearest_one,
                distances,
                sift,
                distances_of,
                weigh_many,
            })
        }

        $(#[$features])?
        fn nearest_many(codes: CodeBlocks<'_>, queries: &CodeRows, out: &mut [Neighbor]) {
            slices::nearest::<$vector>(codes, queries, out);
        }

        $(#[$features])?
        fn nearest_one(codes: CodeBlocks<'_>, query: &[u64]) -> Neighbor {
            planes::nearest::<$vector, $blocks>(codes, query)
        }

        $(#[$features])?
        fn distances(codes: CodeBlocks<'_>, blocks: Range<usize>, query: &[u64], out: &mut [u16]) {
            planes::distances::<$vector, $blocks>(codes, blocks, query, out);
        }

        $(#[$features])?
        fn sift(codes: CodeBlocks<'_>, queries: &CodeRows, sieve: &mut dyn sift::Sieve) {
            sift::sift::<$vector>(codes, queries, sieve);
        }

        $(#[$features])?
        fn distances_of(rows: &CodeRows, query: &[u64], words: &[WordId], out: &mut [u16]) {
            sift::distances_of(rows, query, words, out);
        }

        $(#[$features])?
        fn weigh_many(
            codes: CodeBlocks<'_>,
            queries: &CodeRows,
            tables: &[&WeightTable],
            sums: &mut [u64],
        ) {
            weigh::weigh::<$vector>(codes, queries, tables, sums);
        }
    };
}
use kernels;
