//! What is private does not stay behind in freed memory.
//!
//! This program's allocator looks at every block that is given back and counts
//! those that hold a number of the private data. A mechanism that forgets to
//! overwrite a buffer is caught, wherever in it the buffer is.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use std::sync::Arc;

use brr::parts::certify::Weights;
use brr::parts::codes::hamming;
use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::{Brr, Exponential, Mechanism};
use brr::parts::random::Noise;
use brr::{Budget, MechanismKind, Options, Privatizer, Search, Session, Span};
use support::random_model;

/// What to look for (0: nothing), and how many freed blocks held it.
static NEEDLE: AtomicU64 = AtomicU64::new(0);
static FOUND: AtomicUsize = AtomicUsize::new(0);

struct Probe;

// SAFETY: all requests go to the system's allocator, unchanged but for zeroing.
unsafe impl GlobalAlloc for Probe {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Zeroed, so that what is read back was written.
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let needle = NEEDLE.load(Ordering::Relaxed);
        if needle != 0 {
            let mut places = 0..=layout.size().saturating_sub(8);
            let held = layout.size() >= 8
                && places.any(|place| {
                    // SAFETY: eight bytes within the block, which is still allocated.
                    let found = unsafe { pointer.add(place).cast::<u64>().read_unaligned() };
                    found == needle
                });
            FOUND.fetch_add(usize::from(held), Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static PROBE: Probe = Probe;

/// Freed blocks that held `needle`, while `run` ran.
fn left_behind(needle: u64, run: impl FnOnce()) -> usize {
    assert_ne!(needle, 0);
    FOUND.store(0, Ordering::Relaxed);
    NEEDLE.store(needle, Ordering::Relaxed);
    run();
    NEEDLE.store(0, Ordering::Relaxed);
    FOUND.load(Ordering::Relaxed)
}

/// One test: the probe sees what any thread frees.
#[test]
fn nothing_private_stays_in_freed_memory() {
    the_probe_sees_what_is_left_behind();
    generator_state_is_overwritten();
    codes_of_words_are_overwritten();
    sums_of_the_exponential_mechanism_are_overwritten();
    originals_of_a_session_are_overwritten();
}

fn the_probe_sees_what_is_left_behind() {
    let needle = 0x1234_5678_9abc_def1;
    let run = || drop(std::hint::black_box(vec![1, needle, 2]));
    assert_eq!(left_behind(needle, run), 1);
}

fn generator_state_is_overwritten() {
    let seed = [0xa7; 32];
    let run = || {
        let mut noise = Noise::seeded(seed);
        noise.limb();
        drop(noise);
    };
    assert_eq!(left_behind(u64::from_ne_bytes([0xa7; 8]), run), 0);

    // What it drew last is still in its buffer while it lives.
    let next = {
        let mut noise = Noise::seeded(seed);
        noise.limb();
        noise.limb()
    };
    let run = || {
        Noise::seeded(seed).limb();
    };
    assert_eq!(left_behind(next, run), 0);
}

/// Few words go one way through the search, many another.
const TEXTS: [usize; 2] = [3, 200];

fn codes_of_words_are_overwritten() {
    let model = random_model(256, 300, 5);
    let code = model.codes().to_rows().row(7).to_vec();
    // So little noise that the noisy code is the word's own.
    let brr = |search| Brr::new(model.clone(), Epsilon::new(50.0).unwrap()).with_search(search);
    let weights = Weights::exponential(model.bits(), 0.2, None);
    let mechanisms: [Box<dyn Mechanism>; 3] = [
        Box::new(brr(Search::Scan)),
        Box::new(brr(Search::MultiIndex)),
        Box::new(Exponential::textbook(model.clone(), weights)),
    ];
    for mechanism in mechanisms {
        for words in TEXTS {
            let run = || {
                let mut noise = Noise::from_os().unwrap();
                mechanism.privatize(&vec![Some(7); words], &mut noise);
            };
            let left = left_behind(code[1], run);
            assert_eq!(left, 0, "{}, {words} words", mechanism.name());
        }
    }
}

fn sums_of_the_exponential_mechanism_are_overwritten() {
    let model = random_model(256, 300, 6);
    let codes = model.codes().to_rows();
    let weights = Weights::exponential(model.bits(), 0.2, None);
    let weight = |id: usize| weights.table()[hamming(codes.row(7), codes.row(id)) as usize];
    let second_block = (64..128).map(weight).sum();
    let mechanism = Exponential::textbook(model.clone(), weights.clone());
    for words in TEXTS {
        let run = || {
            let mut noise = Noise::from_os().unwrap();
            mechanism.privatize(&vec![Some(7); words], &mut noise);
        };
        assert_eq!(left_behind(second_block, run), 0, "{words} words");
    }
}

/// The folded form and the spelling of a word, while a session lives, answers, and is copied for a restorer.
fn originals_of_a_session_are_overwritten() {
    let options = Options::default()
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(1.0));
    let privatizer = Privatizer::new(random_model(64, 40, 3), options).unwrap();
    let privatizer = Arc::new(privatizer);
    let text = String::from("qa Wxyzwxyzwxyzwxyz qb WXYZWXYZWXYZWXYZ");
    for needle in [*b"wxyzwxyz", *b"WXYZWXYZ", *b"xyzwxyzw"] {
        let run = || {
            let mut session = Session::new(privatizer.clone()).unwrap();
            session.privatize(&text).unwrap();
            let mut restorer = session.restorer();
            let marked = session.privatize_spans(&text, &[Span::new(3..39)]);
            restorer.push(&marked.unwrap().text[..2]);
            (0..100).for_each(|i| drop(session.privatize(&support::letters(i)).unwrap()));
        };
        assert_eq!(left_behind(u64::from_ne_bytes(needle), run), 0);
    }
}
