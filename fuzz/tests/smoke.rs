//! Replays the seeds of every target, and mutations of them that are the same in
//! every run. No input may panic or allocate more than it should.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;

use brr_fuzz::TARGETS;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// As `-malloc_limit_mb` of the fuzzer, but lower: these inputs are smaller.
const LARGEST_ALLOCATION: usize = 64 << 20;

/// Mutated inputs for each target.
const MUTATIONS: usize = 2000;

struct Limited;

// SAFETY: every call is passed on to the system's allocator as it is, or refused.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_ALLOCATION {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let files = std::fs::read_dir(&folder).expect("a folder of seeds for every target");
    let mut paths: Vec<_> = files.map(|file| file.expect("a seed").path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("a seed"))
        .collect()
}

/// Numbers that headers trip over.
const EDGES: [u64; 8] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 62,
    u64::MAX,
];

/// One to four changes: a byte, a number, a cut, a copied stretch, another seed's end.
fn mutate(seeds: &[Vec<u8>], rng: &mut ChaCha20Rng) -> Vec<u8> {
    let below = |n: usize, rng: &mut ChaCha20Rng| (rng.next_u64() % n.max(1) as u64) as usize;
    let mut input = seeds[below(seeds.len(), rng)].clone();
    for _ in 0..=below(4, rng) {
        if input.is_empty() {
            break;
        }
        let at = below(input.len(), rng);
        match below(6, rng) {
            0 => input[at] ^= 1 << below(8, rng),
            1 => input[at] = rng.next_u64() as u8,
            2 => {
                let number = EDGES[below(EDGES.len(), rng)].to_le_bytes();
                let width = (1 << below(4, rng)).min(input.len() - at);
                input[at..at + width].copy_from_slice(&number[..width]);
            }
            3 => input.truncate(at),
            4 => {
                let end = (at + 1 + below(64, rng)).min(input.len());
                let stretch = input[at..end].to_vec();
                let to = below(input.len(), rng);
                input.splice(to..to, stretch);
            }
            _ => {
                let other = &seeds[below(seeds.len(), rng)];
                input.truncate(at);
                input.extend(&other[at.min(other.len())..]);
            }
        }
    }
    input
}

#[test]
fn every_target_withstands_its_seeds_and_their_mutations() {
    for (number, (name, body)) in TARGETS.into_iter().enumerate() {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has seeds");
        let mut rng = ChaCha20Rng::seed_from_u64(number as u64);
        let mutated = (0..MUTATIONS).map(|_| mutate(&seeds, &mut rng));
        for (i, input) in seeds.iter().cloned().chain(mutated).enumerate() {
            let run = std::panic::catch_unwind(|| body(&input));
            assert!(run.is_ok(), "{name}: input {i} fails: {input:02x?}");
        }
    }
}
