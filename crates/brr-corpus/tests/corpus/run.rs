//! Files and streams through the crate's one entrance, without a program around it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{listing, privatize, privatizer};
use brr::Layout;
use brr_corpus::{
    ColumnProblem, ColumnRole, Difference, Error, FileProblem, Fingerprint, Format, Input,
    OnBadRow, Output, Progress, Report, RowProblem, Run, Written,
};
use sha2::{Digest, Sha256};
use tempfile::{TempDir, tempdir};

fn column(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

fn stream(run: &Run<'_>, input: &[u8]) -> (brr_corpus::Result<Report>, String) {
    let mut bytes = Vec::new();
    let input = Input::Stream(Box::new(std::io::Cursor::new(input.to_vec())));
    let output = Output::Stream {
        writer: &mut bytes,
        name: None,
    };
    let done = run.clone().run(input, output);
    (done, String::from_utf8(bytes).unwrap())
}

#[test]
fn a_file_becomes_another_and_its_manifest_says_how() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    std::fs::write(
        folder.path().join("in.csv"),
        "id,body,user\n1,Good FILM,a\n2,bad,b\n",
    )
    .unwrap();
    let run = Run {
        columns: column("body"),
        unit: Some("user".into()),
        manifest: Some(folder.path().join("run.json")),
        ..Run::new(&privatizer)
    };
    let report = privatize(&folder, &run, "in.csv", "out.csv.gz").unwrap();
    assert_eq!((report.counts.rows, report.counts.words), (2, 3));
    assert_eq!((report.units.units, report.units.largest), (2, 2));
    assert_eq!(listing(&folder), ["in.csv", "out.csv.gz", "run.json"]);
    let mut text = String::new();
    let packed = std::fs::File::open(folder.path().join("out.csv.gz")).unwrap();
    let mut packed = flate2::read::MultiGzDecoder::new(packed);
    std::io::Read::read_to_string(&mut packed, &mut text).unwrap();
    assert_eq!(text, "id,body,user\n1,good film,a\n2,bad,b\n");
    let written = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
    let record = report.manifest.unwrap();
    assert_eq!(written, format!("{record:#}\n"));
    assert_eq!(record["schema"], brr_corpus::manifest::SCHEMA);
    assert_eq!(
        (&record["format"], &record["rows"]),
        (&"csv".into(), &2.into())
    );
    assert_eq!(record["unit"]["column"], "user");
}

/// Stops after the first chunk that is done, as a signal or a user would.
fn stopped(folder: &TempDir, run: &Run<'_>) -> u64 {
    let stop = AtomicBool::new(false);
    let tell = |progress| stop.store(progress != Progress::Begun, Ordering::Relaxed);
    let run = Run {
        stop: Some(&stop),
        progress: Some(&tell),
        ..run.clone()
    };
    match privatize(folder, &run, "in.jsonl", "out.jsonl") {
        Err(Error::Unfinished {
            cause,
            rows,
            partial,
        }) => {
            assert!(matches!(*cause, Error::Stopped));
            assert_eq!(partial, folder.path().join("out.jsonl.partial"));
            rows
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_if_it_is_the_same() {
    let (keep, words) = (privatizer(Layout::Keep), privatizer(Layout::Words));
    let folder = tempdir().unwrap();
    let row = |i: usize| format!("{{\"id\":{i},\"body\":\"good film\"}}\n");
    let text: String = (0..20_000).map(row).collect();
    std::fs::write(folder.path().join("in.jsonl"), &text).unwrap();
    let run = Run {
        columns: column("body"),
        threads: 2,
        checkpoint_interval: Duration::ZERO,
        ..Run::new(&keep)
    };
    let rows = stopped(&folder, &run);
    assert!(rows > 0 && rows < 20_000, "{rows} rows");

    let call = |run: &Run<'_>| privatize(&folder, run, "in.jsonl", "out.jsonl");
    let begun = call(&run).unwrap_err();
    let unfinished = FileProblem::UnfinishedRun;
    assert!(matches!(begun, Error::InTheWay { problem, .. } if problem == unfinished));
    let resume = Run {
        resume: true,
        ..run.clone()
    };
    let other = Run {
        privatizer: &words,
        columns: column("id"),
        ..resume.clone()
    };
    let Err(Error::Differs { differences }) = call(&other) else {
        panic!("another run goes on");
    };
    let (layout, columns) = ("layout".to_owned(), "columns".to_owned());
    let difference = |setting, values| Difference { setting, values };
    let values = Some(["keep".to_owned(), "words".to_owned()]);
    // The name of a column may be text in the wrong place.
    let expected = [difference(columns, None), difference(layout, values)];
    assert_eq!(differences, expected);

    let report = call(&resume).unwrap();
    assert_eq!(report.restarts.len(), 1);
    assert_eq!(
        (report.restarts[0].after_rows, report.counts.rows),
        (rows, 20_000)
    );
    let out = folder.path().join("out.jsonl");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
    // The fingerprint on record is of the whole file, the part before the stop included.
    let recorded = &report.manifest.unwrap()["output"];
    assert_eq!(recorded["bytes"], text.len());
    let whole: String = Sha256::digest(&text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(recorded["sha256"].as_str(), Some(&*whole));
    assert_eq!(Fingerprint::of_file(&out).unwrap().sha256, whole);
    assert_eq!(listing(&folder), ["in.jsonl", "out.jsonl"]);
    let again = call(&resume).unwrap_err();
    let nothing = FileProblem::NothingToResume;
    assert!(matches!(again, Error::InTheWay { problem, .. } if problem == nothing));
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    std::fs::write(folder.path().join("in.csv"), "id,body\n1,good\n").unwrap();
    let csv = Run {
        columns: column("body"),
        ..Run::new(&privatizer)
    };
    let refused =
        |run: &Run<'_>, output: &str| privatize(&folder, run, "in.csv", output).unwrap_err();
    let none = refused(&Run::new(&privatizer), "out.csv");
    assert!(matches!(
        none,
        Error::NoColumns {
            format: Format::Csv
        }
    ));
    let (input, output) = (Format::Csv, Format::Jsonl);
    let both = refused(&csv, "out.jsonl");
    assert!(
        matches!(both, Error::FormatsDiffer { input: i, output: o } if (i, o) == (input, output))
    );
    let text = Run {
        format: Some(Format::Text),
        ..csv.clone()
    };
    assert!(matches!(
        refused(&text, "out"),
        Error::Misfit {
            setting: "columns",
            ..
        }
    ));
    let letter = Run {
        delimiter: Some(b'a'),
        ..csv.clone()
    };
    assert!(matches!(refused(&letter, "out.csv"), Error::Delimiter));
    for (name, expected) in [
        ("boddy", ColumnProblem::NoSuchName(2)),
        ("Body", ColumnProblem::NearlyNamed(2)),
        ("9", ColumnProblem::NoSuchNumber(2)),
    ] {
        let columns = vec!["id".to_owned(), name.to_owned()];
        let run = Run {
            columns,
            ..csv.clone()
        };
        let Error::Column {
            column, problem, ..
        } = refused(&run, "out.csv")
        else {
            panic!("{name} is found");
        };
        assert_eq!(column, ColumnRole::Private { index: 1, of: 2 });
        assert_eq!(problem, expected);
    }
    let unit = Run {
        unit: Some("body".into()),
        ..csv.clone()
    };
    let (column, problem) = (ColumnRole::Unit, ColumnProblem::Private);
    let known = brr_corpus::Known::default();
    let told = Error::Column {
        column,
        problem,
        known,
    }
    .to_string();
    assert_eq!(refused(&unit, "out.csv").to_string(), told);
    let manifest = Run {
        manifest: Some(folder.path().join("in.csv")),
        ..csv.clone()
    };
    let there = FileProblem::ManifestExists;
    let refusal = refused(&manifest, "out.csv");
    assert!(matches!(refusal, Error::InTheWay { problem, .. } if problem == there));
    assert_eq!(listing(&folder), ["in.csv"]);

    let resume = Run {
        resume: true,
        format: Some(Format::Csv),
        ..csv.clone()
    };
    assert!(matches!(stream(&resume, b"").0, Err(Error::NotRestartable)));
}

#[test]
fn a_bad_row_is_told_by_its_place() {
    let privatizer = privatizer(Layout::Keep);
    let csv = Run {
        format: Some(Format::Csv),
        columns: column("body"),
        ..Run::new(&privatizer)
    };
    let input = b"id,body\n1,good\n2,SECRET,SECRET\n3,bad\n";
    let (failed, text) = stream(&csv, input);
    let Err(Error::BadRow {
        row,
        offset,
        problem,
    }) = failed
    else {
        panic!("{failed:?}");
    };
    assert_eq!((row, offset, problem), (2, Some(15), RowProblem::MoreCells));
    assert_eq!(text, "id,body\n1,good\n");
    let skip = Run {
        on_bad_row: OnBadRow::Skip,
        ..csv
    };
    let (done, text) = stream(&skip, input);
    assert_eq!(
        (done.unwrap().counts.skipped, text.as_str()),
        (1, "id,body\n1,good\n3,bad\n")
    );
}

/// Options belong to a program; a library that names them speaks of what its caller may not have.
#[test]
fn no_source_of_the_library_names_an_option_of_a_program() {
    fn look(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let flag = |line: &&str| {
                let after = line.split("--").skip(1);
                after
                    .into_iter()
                    .any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
            };
            let lines = text.lines().filter(flag);
            found.extend(lines.map(|line| format!("{}: {line}", path.display())));
        }
    }
    let mut found = Vec::new();
    look(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.is_empty(), "{found:#?}");
}

/// Rows that were kept without their text are still no rows; where there were none, one that is
/// bad is an error.
#[test]
fn bad_rows_of_an_output_are_those_on_record() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    let input = "{\"body\": \"good film\"}\nnot json\n{\"body\": 7}\n";
    std::fs::write(folder.path().join("in.jsonl"), input).unwrap();
    let run = Run {
        columns: column("body"),
        on_bad_row: OnBadRow::CopyNull,
        manifest: Some(folder.path().join("run.json")),
        ..Run::new(&privatizer)
    };
    let report = privatize(&folder, &run, "in.jsonl", "out.jsonl").unwrap();
    let out = folder.path().join("out.jsonl");
    let texts = |record: serde_json::Value, path: &Path| {
        let model = std::sync::Arc::new(brr_english::model().unwrap());
        let written = Written::of(record, model).unwrap();
        let (mut texts, reader) = (Vec::new(), written.reader(Some(path)).unwrap());
        let done = reader.read(Input::File(path.to_owned()), &mut |t| {
            texts.push(t.to_owned())
        });
        done.map(|()| texts)
    };
    let mut record = report.manifest.unwrap();
    assert_eq!(texts(record.clone(), &out).unwrap(), ["good film"]);
    record["bad_rows"]["emptied"] = 0.into();
    let bad = texts(record, &folder.path().join("in.jsonl"));
    assert!(matches!(bad, Err(Error::BadRow { row: 2, .. })), "{bad:?}");
}
