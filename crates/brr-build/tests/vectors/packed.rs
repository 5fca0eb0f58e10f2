//! gzip, Zstandard and zip around any format.

use std::io::{Cursor, Write};

use brr_build::error::Error;
use brr_build::vectors::{Loaded, load, sha256_of_file};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::files::*;

fn gz(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zst(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Rows that no buffer holds at once, and that do not compress well.
fn large() -> Table {
    let letters = |i: usize| [i / 676, i / 26 % 26, i % 26].map(|n| char::from(b'a' + n as u8));
    Table {
        words: (0..10_000).map(|i| letters(i).iter().collect()).collect(),
        dim: 10,
        data: (0..100_000).map(|i| (i as f32 * 0.7).sin() + 2.0).collect(),
    }
}

fn digest(bytes: &[u8]) -> Option<[u8; 32]> {
    Some(Sha256::digest(bytes).into())
}

fn assert_loads(name: &str, packed: &[u8], table: &Table) -> Loaded {
    let loaded = load_bytes(name, packed, &fail()).unwrap();
    assert_same(&loaded, table);
    loaded
}

#[test]
fn every_format_loads_from_every_packing() {
    let table = large();
    let model = crate::models::Model {
        table,
        labels: 0,
        buckets: 0,
        ngrams: (0, 0),
    };
    let table = &model.table;
    for content in [
        table.text(false),
        table.text(true),
        table.word2vec(false),
        model.bytes(),
    ] {
        assert_loads("v", &content, table);
        let packed = gz(&content);
        assert_eq!(
            assert_loads("v.gz", &packed, table).report.sha256,
            digest(&packed)
        );
        let packed = zst(&content);
        assert_eq!(
            assert_loads("v.zst", &packed, table).report.sha256,
            digest(&packed)
        );
        assert_loads("v.zip", &zip(&[("v", &content)]), table);
    }
}

#[test]
fn the_word_list_may_be_packed_too() {
    let folder = Folder::new();
    let list = folder.write("words.txt.gz", gz(&three().word_list()));
    let matrix = folder.write("v.npy.zst", zst(&three().npy()));
    assert_same(&load(&matrix, &with_list(&list)).unwrap(), &three());
}

#[test]
fn files_of_several_frames_are_read_to_the_end() {
    let text = three().text(false);
    let (start, end) = text.split_at(20);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    assert_loads("v.gz", &[gz(start), gz(end)].concat(), &three());
    assert_loads(
        "v.zst",
        &[&skippable, &zst(start)[..], &skippable, &zst(end)].concat(),
        &three(),
    );
}

/// A frame of one raw block with this checksum.
fn raw_frame(content: &[u8], checksum: [u8; 4]) -> Vec<u8> {
    let block = (content.len() as u32) << 3 | 1;
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x24, content.len() as u8];
    [&head, &block.to_le_bytes()[..3], content, &checksum].concat()
}

#[test]
fn a_wrong_checksum_is_an_error() {
    let content = b"of 1 2\nto 3 4\n";
    // xxHash64 of the content, low half.
    let right = [0x20, 0xa3, 0x5b, 0xd7];
    assert!(load_bytes("v.zst", raw_frame(content, right), &skip()).is_ok());
    let wrong = load_bytes("v.zst", raw_frame(content, [1, 2, 3, 4]), &skip());
    assert!(wrong.unwrap_err().to_string().contains("checksum"));
}

#[test]
fn the_digest_is_that_of_the_file() {
    let folder = Folder::new();
    let text = large().text(false);
    let plain = folder.write("v.txt", &text);
    assert_eq!(load(&plain, &skip()).unwrap().report.sha256, digest(&text));
    assert_eq!(load(&plain, &first(5)).unwrap().report.sha256, None);
    let packed = zip(&[("v.txt", &text)]);
    let archive = folder.write("v.zip", &packed);
    assert_eq!(load(&archive, &skip()).unwrap().report.sha256, None);
    assert_eq!(Some(sha256_of_file(&archive).unwrap()), digest(&packed));
    assert_eq!(
        sha256_of_file(&folder.path("v.zip#v.txt")).ok(),
        digest(&packed)
    );
}

#[test]
fn a_damaged_or_cut_file_is_an_error() {
    let text = large().text(false);
    for (name, packed) in [
        ("v.gz", gz(&text)),
        ("v.zst", zst(&text)),
        ("v.zip", zip(&[("v", &text)])),
    ] {
        let cut = load_bytes(name, &packed[..packed.len() / 2], &skip());
        // A zip archive ends with its list of files.
        let told = match name {
            "v.zip" => matches!(cut, Err(Error::Read { .. })),
            _ => matches!(cut, Err(Error::CutShort { .. })),
        };
        assert!(told, "{name}: {cut:?}");
        let message = cut.unwrap_err().to_string();
        assert!(
            message.contains(name) && message.contains("fetch it again"),
            "{message}"
        );
        let mut damaged = packed.clone();
        damaged[packed.len() / 2..][..64].fill(0x55);
        let result = load_bytes(name, &damaged, &skip());
        assert!(
            matches!(result, Err(Error::Read { .. })),
            "{name}: {result:?}"
        );
    }
}

#[test]
fn a_cut_file_still_gives_its_first_words() {
    let packed = gz(&large().text(false));
    let loaded = load_bytes("v.gz", &packed[..packed.len() * 3 / 4], &first(100)).unwrap();
    assert_eq!(loaded.vectors.words, large().words[..100]);
}

#[test]
fn the_member_of_an_archive_is_found() {
    let text = three().text(false);
    let readme: &[u8] = b"Read me";
    assert_loads(
        "v.zip",
        &zip(&[
            ("LICENSE", readme),
            ("__MACOSX/v.txt", readme),
            ("v.txt", &text),
        ]),
        &three(),
    );

    let folder = Folder::new();
    let several = zip(&[("v.50d.txt", b"a 1 2\n"), ("v.3d.txt", &text)]);
    let archive = folder.write("v.zip", several);
    let result = load(&archive, &skip());
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("v.3d.txt, v.50d.txt") && message.contains("v.zip#FILE"),
        "{message}"
    );
    assert_same(
        &load(&folder.path("v.zip#v.3d.txt"), &fail()).unwrap(),
        &three(),
    );
    let missing = load(&folder.path("v.zip#v.4d.txt"), &fail());
    assert!(matches!(missing, Err(Error::ChooseMember { members, .. }) if members.len() == 2));
    // A file whose own name has a hash sign is itself.
    let hash = folder.write("v.zip#v.4d.txt", &text);
    assert_same(&load(&hash, &fail()).unwrap(), &three());
}
