//! Where the files of a package are: folders, archives, archives in archives.

use std::path::PathBuf;

use brr_build::error::Error;
use brr_build::vectors::{LoadOptions, VectorFormat, load, sha256_of_file};
use brr_build::vocabulary_rule::{Case, Numbers, VocabularyRule};
use sha2::{Digest, Sha256};

use crate::files::*;
use crate::parts::*;

fn fixture(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/packages");
    PathBuf::from(folder).join(name)
}

/// What spaCy and navec themselves find in packages that they wrote, in the words that the rule admits.
#[test]
fn the_packages_own_readers_agree() {
    let wheel = "tiny_core_news_md-1.0.0-py3-none-any.whl";
    for (package, expected, shared_vectors, words) in [
        (wheel, "spacy.vec", false, 10),
        (wheel, "spacy-shared.vec", true, 16),
        ("navec_tiny.tar", "navec.vec", false, 8),
    ] {
        let everything = LoadOptions {
            shared_vectors,
            filter: VocabularyRule {
                numbers: Numbers::Keep,
                case: Case::Keep,
                orthography: None,
            },
            ..fail()
        };
        let loaded = load(&fixture(package), &everything).unwrap();
        let expected = load(&fixture(expected), &everything).unwrap();
        assert_eq!(loaded.vectors.words, expected.vectors.words);
        assert_eq!(loaded.vectors.data, expected.vectors.data);
        assert_eq!(loaded.vectors.words.len(), words, "{}", loaded.report);
        assert_balanced(&loaded);
    }
}

fn spread(folder: &Folder, files: &[(String, Vec<u8>)]) {
    for (name, content) in files {
        let path = folder.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn assert_loads(path: PathBuf, table: &Table) {
    let loaded = load(&path, &skip()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(loaded.vectors.words, table.words, "{}", path.display());
    assert_eq!(loaded.vectors.data, table.data);
    assert_eq!(loaded.report.sha256, None);
    assert_balanced(&loaded);
}

#[test]
fn folders_and_archives_of_all_kinds() {
    let others = [("setup.py".to_owned(), b"print(1)".to_vec())];
    let long = "x".repeat(60);
    for (files, table) in [
        (spacy_three(), three()),
        (QUANTIZED.files(), quantized_table()),
    ] {
        let folder = Folder::new();
        spread(&folder, &under("plain", &files));
        spread(&folder, &under("pipeline/vocab", &files));
        assert_loads(folder.path("plain"), &table);
        assert_loads(folder.path("pipeline"), &table);
        // Deep inside, and in another order.
        let mut deep = under(&format!("{long}/vocab"), &files);
        deep.reverse();
        let deep = [&others[..], &deep].concat();
        assert_loads(folder.write("p.whl", zip(&deep)), &table);
        assert_loads(folder.write("flat.zip", zip(&files)), &table);
        let archive = tar(&deep);
        assert_loads(folder.write("p.tar", &archive), &table);
        assert_loads(folder.write("p.tar.gz", gz(&archive)), &table);
        let packed = zstd::encode_all(&archive[..], 1).unwrap();
        assert_loads(folder.write("p.tar.zst", packed), &table);
        let nested = [("a/b/navec_x.tar".to_owned(), archive)];
        let nested = [&others[..], &nested].concat();
        assert_loads(folder.write("n.whl", zip(&nested)), &table);
        assert_loads(folder.path("n.whl#a/b/navec_x.tar"), &table);
    }
}

#[test]
fn names_that_no_header_has_room_for() {
    let files = spacy_three();
    let folder = "folder/".repeat(40);
    let (mut gnu, mut pax) = (Vec::new(), Vec::new());
    for (name, content) in &files {
        let path = format!("{folder}vocab/{name}");
        gnu.extend(tar_entry(
            b'L',
            "././@LongLink",
            format!("{path}\0").as_bytes(),
        ));
        gnu.extend(tar_entry(b'0', &path[..100], content));
        let lines = format!("20 mtime=1700000000\n999 path={path}\n");
        pax.extend(tar_entry(b'x', "PaxHeaders/x", lines.as_bytes()));
        pax.extend(tar_entry(b'0', "short", content));
        // What belongs to a folder names no file.
        pax.extend(tar_entry(b'x', "PaxHeaders/x", b"17 path=key2row\n"));
        pax.extend(tar_entry(b'5', "vocab/", b""));
    }
    let folder = Folder::new();
    assert_loads(folder.write("gnu.tar", gnu), &three());
    assert_loads(folder.write("pax.tar", pax), &three());
}

#[test]
fn one_of_several_packages_is_chosen_by_its_folder() {
    let other = Table {
        words: three().words,
        dim: 3,
        data: (1..10).map(|i| i as f32).collect(),
    };
    let words = [("the", 0), ("cat", 1), ("sat", 2)];
    let both = [
        under("a/vocab", &spacy_three()),
        under("b/vocab", &spacy(&words, &other)),
    ]
    .concat();
    let folder = Folder::new();
    for (name, archive) in [("p.zip", zip(&both)), ("p.tar", tar(&both))] {
        let path = folder.write(name, archive);
        let message = load(&path, &skip()).unwrap_err().to_string();
        assert!(
            message.contains("a/vocab, b/vocab") && message.contains(&format!("{name}#FILE")),
            "{message}"
        );
        assert_loads(folder.path(&format!("{name}#a")), &three());
        assert_loads(folder.path(&format!("{name}#b/vocab")), &other);
        assert!(load(&folder.path(&format!("{name}#c")), &skip()).is_err());
    }
}

#[test]
fn a_missing_file_is_named() {
    for files in [spacy_three(), QUANTIZED.files()] {
        for missing in 0..3 {
            let mut left = files.clone();
            let (name, _) = left.remove(missing);
            let folder = Folder::new();
            spread(&folder, &under("vocab", &left));
            let zipped = folder.write("p.whl", zip(&under("p/vocab", &left)));
            for path in [folder.path("vocab"), zipped] {
                let error = load(&path, &skip()).unwrap_err();
                let message = error.to_string();
                // Without its sign a folder or an archive might be anything.
                match &error {
                    Error::PartMissing { .. } => assert!(message.contains(&name), "{message}"),
                    Error::NotVectors { .. } | Error::ChooseMember { .. } => {
                        assert!(["key2row", "pq.bin"].contains(&&*name), "{message}");
                    }
                    _ => panic!("{message}"),
                }
            }
        }
    }
}

#[test]
fn what_is_no_package_is_said() {
    let folder = Folder::new();
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let message = load(&empty, &skip()).unwrap_err().to_string();
    assert!(message.contains("vocab/key2row"), "{message}");
    let other = [("glove.txt".to_owned(), three().text(false))];
    let message = load(&folder.write("g.tar", tar(&other)), &skip());
    let message = message.unwrap_err().to_string();
    assert!(message.contains("unpack it"), "{message}");
    // And what is one is no file of another format.
    let wheel = folder.write("p.whl", zip(&under("vocab", &spacy_three())));
    for (path, format) in [
        (&wheel, VectorFormat::Navec),
        (
            &folder.write("g.txt", three().text(false)),
            VectorFormat::Spacy,
        ),
    ] {
        let options = LoadOptions {
            format: Some(format),
            ..skip()
        };
        let error = load(path, &options).unwrap_err();
        assert!(
            matches!(
                error,
                Error::WrongFormat { .. } | Error::ChooseMember { .. }
            ),
            "{error}"
        );
    }
    let list = folder.write("words.txt", "the\n");
    let error = load(&wheel, &with_list(&list)).unwrap_err();
    assert!(matches!(error, Error::WordListUnused { .. }), "{error}");
}

#[test]
fn a_damaged_archive_is_an_error() {
    let files = under("vocab", &spacy_three());
    let whole = tar(&files);
    let folder = Folder::new();
    for len in [100, 512, 700, whole.len() - 1100] {
        for (name, bytes) in [
            ("p.tar", whole[..len].to_vec()),
            ("p.tgz", gz(&whole[..len])),
        ] {
            assert!(load(&folder.write(name, bytes), &skip()).is_err(), "{len}");
        }
    }
    let packed = gz(&whole);
    let cut = &packed[..packed.len() / 2];
    assert!(load(&folder.write("p.tgz", cut), &skip()).is_err());
    let mut wrong = whole.clone();
    wrong[124] = b'9';
    let error = load(&folder.write("p.tar", wrong), &skip()).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

#[test]
fn the_digest_of_a_folder_is_that_of_its_files() {
    let files = spacy_three();
    let folder = Folder::new();
    spread(&folder, &under("p/vocab", &files));
    let contents: Vec<u8> = files.into_iter().flat_map(|(_, content)| content).collect();
    let digest: [u8; 32] = Sha256::digest(contents).into();
    assert_eq!(sha256_of_file(&folder.path("p")).unwrap(), digest);
}
