//! Which CPU instructions a scan uses.

use super::{Neighbor, Sieve, WeightTable, arch};
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows};
use std::fmt;
use std::ops::Range;

/// A family of CPU instructions that a [`Scan`](super::Scan) can be built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain 64-bit integers, on any CPU.
    Scalar,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, BITALG, VBMI and GFNI (Ice Lake, Zen 4 and later).
    Avx512,
    /// 64-bit ARM.
    Neon,
    /// WebAssembly built with `simd128`.
    Simd128,
}

impl Backend {
    /// Every backend, the fastest first.
    pub const ALL: [Backend; 5] = [
        Backend::Avx512,
        Backend::Avx2,
        Backend::Neon,
        Backend::Simd128,
        Backend::Scalar,
    ];

    /// The backends that this CPU has, the fastest first.
    pub fn available() -> impl Iterator<Item = Backend> {
        Backend::ALL
            .into_iter()
            .filter(|&backend| Kernels::new(backend).is_some())
    }

    /// The name by which [`from_name`](Self::from_name) finds it.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Scalar => "scalar",
            Backend::Avx2 => "avx2",
            Backend::Avx512 => "avx512",
            Backend::Neon => "neon",
            Backend::Simd128 => "simd128",
        }
    }

    /// The backend of that name, whether or not this CPU has it.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|b| b.name() == name)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The kernels of one backend. Holding one is proof that the CPU has it: the
/// constructors of [`arch`] look before they hand one out.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub(super) backend: Backend,
    pub(super) nearest_many: unsafe fn(CodeBlocks<'_>, &CodeRows, &mut [Neighbor]),
    pub(super) nearest_one: unsafe fn(CodeBlocks<'_>, &[u64]) -> Neighbor,
    pub(super) distances: unsafe fn(CodeBlocks<'_>, Range<usize>, &[u64], &mut [u16]),
    pub(super) sift: unsafe fn(CodeBlocks<'_>, &CodeRows, &mut dyn Sieve),
    pub(super) distances_of: unsafe fn(&CodeRows, &[u64], &[WordId], &mut [u16]),
    pub(super) weigh_many: unsafe fn(CodeBlocks<'_>, &CodeRows, &[&WeightTable], &mut [u64]),
}

impl Kernels {
    /// `None` if this CPU, or this build, lacks the backend.
    pub(super) fn new(backend: Backend) -> Option<Kernels> {
        match backend {
            Backend::Scalar => arch::scalar::kernels(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => arch::avx2::kernels(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => arch::avx512::kernels(),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => arch::neon::kernels(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Backend::Simd128 => arch::simd128::kernels(),
            #[allow(unreachable_patterns, reason = "all are there on no target")]
            _ => None,
        }
    }

    pub(super) fn fastest() -> Kernels {
        let mut found = Backend::ALL.into_iter().filter_map(Kernels::new);
        found.next().expect("the scalar backend is always there")
    }

    pub(super) fn backend(&self) -> Backend {
        self.backend
    }

    pub(super) fn nearest_many(
        &self,
        codes: CodeBlocks<'_>,
        queries: &CodeRows,
        out: &mut [Neighbor],
    ) {
        // SAFETY: `self` exists, so the CPU has the features.
        unsafe { (self.nearest_many)(codes, queries, out) }
    }

    pub(super) fn nearest_one(&self, codes: CodeBlocks<'_>, query: &[u64]) -> Neighbor {
        // SAFETY: as above.
        unsafe { (self.nearest_one)(codes, query) }
    }

    pub(super) fn distances(
        &self,
        codes: CodeBlocks<'_>,
        blocks: Range<usize>,
        query: &[u64],
        out: &mut [u16],
    ) {
        // SAFETY: as above.
        unsafe { (self.distances)(codes, blocks, query, out) }
    }

    pub(super) fn sift(&self, codes: CodeBlocks<'_>, queries: &CodeRows, sieve: &mut dyn Sieve) {
        // SAFETY: as above.
        unsafe { (self.sift)(codes, queries, sieve) }
    }

    pub(super) fn distances_of(
        &self,
        rows: &CodeRows,
        query: &[u64],
        words: &[WordId],
        out: &mut [u16],
    ) {
        // SAFETY: as above.
        unsafe { (self.distances_of)(rows, query, words, out) }
    }

    pub(super) fn weigh_many(
        &self,
        codes: CodeBlocks<'_>,
        queries: &CodeRows,
        tables: &[&WeightTable],
        sums: &mut [u64],
    ) {
        // SAFETY: as above.
        unsafe { (self.weigh_many)(codes, queries, tables, sums) }
    }
}
