//! Writes packages of spaCy and navec, and the archives that they come in.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::files::*;

/// Files by name.
pub type Files = Vec<(String, Vec<u8>)>;

/// Words with the keys that spaCy 3.8.18 has for them.
pub const KEYS: [(&str, u64); 9] = [
    ("the", 0x670e_66a6_3573_9a92),
    ("cat", 0x4b7d_8b42_cb9a_c683),
    ("sat", 0x98a5_04f0_bbf3_46d3),
    ("été", 0x05c6_4fe2_c274_904f),
    ("l'homme", 0x7f95_ce1c_a05e_c009),
    ("extraordinaire", 0xffb9_87c5_72b1_4e9f),
    ("猫", 0xaa2d_1049_7eae_6314),
    ("🧿", 0x1b7e_2a99_1e6d_d6ae),
    ("aux", 405),
];

pub fn key(word: &str) -> u64 {
    KEYS.iter().find(|(known, _)| *known == word).unwrap().1
}

/// A MessagePack map of these entries, which says that it has `promised`.
pub fn key2row(promised: u32, entries: &[(u64, u64)]) -> Vec<u8> {
    let mut file = vec![0xdf];
    file.extend(promised.to_be_bytes());
    for number in entries.iter().flat_map(|&(key, row)| [key, row]) {
        match number {
            0..0x80 => file.push(number as u8),
            0x80..0x100 => file.extend([0xcc, number as u8]),
            0x100..0x1_0000 => file.extend([&[0xcd][..], &(number as u16).to_be_bytes()].concat()),
            _ => file.extend([&[0xcf][..], &number.to_be_bytes()].concat()),
        }
    }
    file
}

/// Each word with its row; as many rows as `table` has.
pub fn spacy(words: &[(&str, u64)], table: &Table) -> Files {
    let entries: Vec<_> = words.iter().map(|&(word, row)| (key(word), row)).collect();
    let strings = words.iter().filter(|(word, _)| *word != "aux");
    let strings: Vec<String> = strings.map(|(word, _)| format!("\"{word}\"")).collect();
    [
        ("key2row", key2row(words.len() as u32, &entries)),
        (
            "strings.json",
            format!("[\n  {}\n]", strings.join(",\n  ")).into_bytes(),
        ),
        ("vectors", table.npy()),
    ]
    .map(|(name, content)| (name.to_owned(), content))
    .into()
}

/// `the`, `cat`, `sat`, each with a row of its own.
pub fn spacy_three() -> Files {
    spacy(&[("the", 0), ("cat", 1), ("sat", 2)], &three())
}

pub fn gz(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive
            .start_file(name.as_str(), SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// An entry of a tar archive.
pub fn tar_entry(kind: u8, name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    let size = format!("{:011o}\0", content.len());
    header[124..136].copy_from_slice(size.as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut entry = [&header, content].concat();
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

pub fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let entries = files
        .iter()
        .map(|(name, content)| tar_entry(b'0', name, content));
    [entries.collect::<Vec<_>>().concat(), vec![0; 1024]].concat()
}

/// The files in a folder.
pub fn under(folder: &str, files: &[(String, Vec<u8>)]) -> Files {
    let moved = files
        .iter()
        .map(|(name, content)| (format!("{folder}/{name}"), content.clone()));
    moved.collect()
}

/// The files, one of them changed.
pub fn with(mut files: Files, name: &str, content: impl Into<Vec<u8>>) -> Files {
    let content = content.into();
    match files.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = content,
        None => files.push((name.to_owned(), content)),
    }
    files
}

pub fn content<'f>(files: &'f Files, name: &str) -> &'f [u8] {
    &files.iter().find(|(known, _)| known == name).unwrap().1
}

/// Words with counts and the centroids of their parts, and a centroid for each part and number.
pub struct Quantized<'w> {
    pub words: &'w [(&'w str, u32, [u8; 2])],
    /// Of two parts, two centroids each, of two numbers each.
    pub centroids: [f32; 8],
}

/// `cat`, `sat`, `the` in this order; by their counts they come as in [`three`], in another dimension.
pub const QUANTIZED: Quantized<'static> = Quantized {
    words: &[
        ("cat", 5, [1, 0]),
        ("sat", 5, [1, 1]),
        ("the", 9, [0, 1]),
        ("<unk>", 0, [0, 0]),
    ],
    centroids: [0.5, -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
};

impl Quantized<'_> {
    pub fn vocabulary(&self) -> Vec<u8> {
        let mut file = (self.words.len() as u32).to_le_bytes().to_vec();
        let counts = self
            .words
            .iter()
            .flat_map(|(_, count, _)| count.to_le_bytes());
        file.extend(counts);
        let words: Vec<&str> = self.words.iter().map(|(word, ..)| *word).collect();
        file.extend(words.join("\n").bytes());
        file
    }

    pub fn files(&self) -> Files {
        let sizes = [self.words.len() as u32, 4, 2, 2];
        let mut pq: Vec<u8> = sizes.iter().flat_map(|n| n.to_le_bytes()).collect();
        pq.extend(self.words.iter().flat_map(|(.., parts)| parts));
        pq.extend(self.centroids.iter().flat_map(|x| x.to_le_bytes()));
        [
            (
                "meta.json",
                b"{\n  \"id\": \"x\",\n  \"protocol\": 1\n}".to_vec(),
            ),
            ("vocab.bin", gz(&self.vocabulary())),
            ("pq.bin", pq),
        ]
        .map(|(name, content)| (name.to_owned(), content))
        .into()
    }
}

/// What [`QUANTIZED`] has.
pub fn quantized_table() -> Table {
    Table {
        words: ["the", "cat", "sat"].map(str::to_owned).to_vec(),
        dim: 4,
        data: vec![0.5, -1.0, 6.0, 7.0, 2.0, 3.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0],
    }
}
