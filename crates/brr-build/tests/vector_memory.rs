//! Memory: what is loaded, one buffer, and nothing that a header asks for.
//!
//! One test in a program of its own, since it watches the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use brr_build::error::Error;
use brr_build::vectors::{LoadOptions, load};
use flate2::Compression;
use flate2::write::GzEncoder;

struct Watched;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Twice the stream's buffer, the line, and what decoders need.
const SOME: usize = 2 << 20;

/// The most memory that loading took, beyond what there was before.
fn peak_of_loading(path: &Path, words: Option<usize>) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let _ = load(
        path,
        &LoadOptions {
            words,
            ..LoadOptions::default()
        },
    );
    PEAK.load(Relaxed) - before
}

/// A file of this content, then zeros that take no room on disk up to `len`.
fn sparse(path: &Path, content: &[u8], len: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(content).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.set_len(len.max(content.len() as u64)).unwrap();
}

fn rows(count: usize) -> Vec<u8> {
    let word = |i: usize| [i / 676, i / 26 % 26, i % 26].map(|n| char::from(b'a' + n as u8));
    (0..count)
        .flat_map(|i| format!("{} 0.{i} 0.5 -0.25\n", String::from_iter(word(i))).into_bytes())
        .collect()
}

/// A fastText model of `words` words with 2 million buckets of `dim` numbers, its matrix all zeros
/// but for the first number of each word.
fn fasttext(words: u64, dim: u64) -> (Vec<u8>, u64) {
    let mut file = Vec::new();
    let version = [793_712_314, 12];
    let arguments = [dim as i32, 5, 1, 1, 5, 1, 2, 2, 2_000_000, 5, 5, 100];
    let numbers = version.iter().chain(&arguments);
    numbers.for_each(|n| file.extend(n.to_le_bytes()));
    file.extend([0; 8]);
    [words as i32, words as i32, 0]
        .iter()
        .for_each(|n| file.extend(n.to_le_bytes()));
    [9i64, -1].iter().for_each(|n| file.extend(n.to_le_bytes()));
    for i in 0..words {
        let word = [i / 26, i % 26].map(|n| b'a' + n as u8);
        file.extend([&word[..], b"word\0", &[0; 9]].concat());
    }
    let matrix_rows = words + 2_000_000;
    file.push(0);
    [matrix_rows, dim]
        .iter()
        .for_each(|n| file.extend(n.to_le_bytes()));
    let len = file.len() as u64 + matrix_rows * dim * 4;
    for _ in 0..words {
        file.extend(1f32.to_le_bytes());
        file.resize(file.len() + dim as usize * 4 - 4, 0);
    }
    (file, len)
}

/// Several files that ask for terabytes, or unpack to them.
fn packages(folder: &Path) {
    let header = |shape: &str| {
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        [
            b"\x93NUMPY\x01\x00",
            &(text.len() as u16).to_le_bytes()[..],
            text.as_bytes(),
        ]
        .concat()
    };
    let path = folder.join("vocab");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("strings.json"), r#"["the", "cat"]"#).unwrap();
    let the = 0x670e_66a6_3573_9a92_u64.to_be_bytes();
    for (keys, row) in [
        (&b"\xdf\x00\xff\xff\xff"[..], 0),
        (b"\x81", 0xff),
        (b"\xdf\xff\xff\xff\xff", 0),
    ] {
        let row = [0xce, row, 0xff, 0xff, 0xff];
        std::fs::write(path.join("key2row"), [keys, &[0xcf], &the, &row].concat()).unwrap();
        for shape in ["(1000000000000, 65536)", "(4294967296, 3)"] {
            sparse(&path.join("vectors"), &header(shape), 5 << 30);
            assert!(
                peak_of_loading(folder, None) < SOME,
                "{}",
                keys.escape_ascii()
            );
        }
    }
    // 300 MB of nothing in 300 KB: one word without an end, or as many words as there are line ends.
    let sizes = [1u32 << 24, 65536, 1, 256];
    let pq: Vec<u8> = sizes.iter().flat_map(|n| n.to_le_bytes()).collect();
    let path = folder.join("navec");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("meta.json"), r#"{"protocol": 1}"#).unwrap();
    let len = (1 << 24) + 16 + (65536 << 10);
    sparse(&path.join("pq.bin"), &pq, len);
    for (counts, filler) in [(1u32 << 24, b'x'), (1 << 24, b'\n'), (u32::MAX, 0)] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&counts.to_le_bytes()).unwrap();
        let filler = vec![filler; 1 << 20];
        (0..300).for_each(|_| packed.write_all(&filler).unwrap());
        std::fs::write(path.join("vocab.bin"), packed.finish().unwrap()).unwrap();
        let error = load(&path, &LoadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        // Sixteen million counts and ends, as were read.
        assert!(peak_of_loading(&path, None) < 400 << 20);
    }
    // 10 GB of vectors in 300 KB, which only few words make small.
    let count = 40_000u32;
    let mut words: Vec<u8> = [count].iter().flat_map(|n| n.to_le_bytes()).collect();
    words.resize(words.len() + 4 * count as usize, 0);
    for i in 0..count {
        let word = [i / 17_576, i / 676 % 26, i / 26 % 26, i % 26];
        words.extend(word.map(|n| b'a' + n as u8));
        words.push(b'\n');
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&words).unwrap();
    std::fs::write(path.join("vocab.bin"), packed.finish().unwrap()).unwrap();
    let sizes = [count, 65536, 1, 1];
    let mut pq: Vec<u8> = sizes.iter().flat_map(|n| n.to_le_bytes()).collect();
    pq.resize(pq.len() + count as usize, 0);
    pq.extend(1f32.to_le_bytes().repeat(65536));
    std::fs::write(path.join("pq.bin"), pq).unwrap();
    let error = load(&path, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("ask for fewer words"), "{error}");
    assert!(peak_of_loading(&path, None) < 8 * SOME);
    assert!(peak_of_loading(&path, Some(10)) < 8 * SOME);
}

#[test]
fn memory_is_that_of_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");

    // Headers that ask for terabytes.
    let headers: [&[u8]; 5] = [
        b"1000000000000 3\nthe 1 2 3\n",
        b"1000000000000 1000000000000\nthe 1 2 3\n",
        b"1000000000000 60000\nthe \0\0\0\0",
        b"3 18446744073709551615\nthe \0\0\0\0",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'",
    ];
    for header in headers {
        sparse(&path, header, 0);
        assert!(
            peak_of_loading(&path, None) < SOME,
            "{}",
            header.escape_ascii()
        );
    }

    // 5 GB of text, of which the first words are wanted. The zeros behind are one endless line.
    let text = rows(15_000);
    assert!(text.len() > 256 * 1024, "the format is told from rows only");
    sparse(&path, &text, 5 << 30);
    assert!(peak_of_loading(&path, Some(1000)) < SOME);
    assert!(
        peak_of_loading(&path, None) < 3 * SOME,
        "a line that does not end"
    );

    // 2.4 GB of a fastText model.
    let (model, len) = fasttext(500, 300);
    sparse(&path, &model, len);
    let loaded = load(
        &path,
        &LoadOptions {
            words: Some(100),
            ..LoadOptions::default()
        },
    )
    .unwrap();
    assert_eq!(loaded.vectors.words.len(), 100);
    // Each word has four n-grams of five characters.
    assert_eq!(loaded.vectors.row(99)[0], 1.0 / 5.0);
    assert!(peak_of_loading(&path, Some(100)) < SOME);

    packages(folder.path());

    // A packed model does not tell its size: what it promises must not be reserved.
    let (model, _) = fasttext(500, 60_000);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&model[..10_000]).unwrap();
    sparse(&path, &packed.finish().unwrap(), 0);
    let cut = load(&path, &LoadOptions::default());
    assert!(matches!(cut, Err(Error::Read { .. })), "{cut:?}");
    assert!(peak_of_loading(&path, None) < SOME);
}
