//! Parquet through the crate's one entrance: copied, rewritten, and resumed at a row group.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{listing, privatize, privatizer};
use brr::Layout;
use brr_corpus::{Error, Input, OnBadRow, Output, Progress, Run, Written};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use tempfile::tempdir;

const GROUPS: i64 = 4;
const ROWS: i64 = 1000;

fn write(path: &Path) {
    let schema = "message rows { required int64 id; optional binary body (STRING); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    for group in 0..GROUPS {
        let ids: Vec<i64> = (group * ROWS..(group + 1) * ROWS).collect();
        let bodies = vec![ByteArray::from("Good FILM"); ids.len() / 2];
        // Every second one is null.
        let levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 2 == 0)).collect();
        let mut row_group = writer.next_row_group().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        let typed = column.typed::<Int64Type>();
        typed.write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&bodies, Some(&levels), None).unwrap();
        column.close().unwrap();
        row_group.close().unwrap();
    }
    writer.close().unwrap();
}

fn assert_whole(path: &Path) {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    assert_eq!(reader.metadata().num_row_groups() as i64, GROUPS);
    let rows: Vec<_> = reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len() as i64, GROUPS * ROWS);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.get_long(0).unwrap(), i as i64);
        let body = row.get_string(1).ok().map(String::as_str);
        assert_eq!(body, (i % 2 == 0).then_some("good film"));
    }
}

#[test]
fn a_run_goes_on_at_a_row_group() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    write(&folder.path().join("in.parquet"));
    let run = Run {
        columns: vec!["body".into()],
        checkpoint_interval: Duration::ZERO,
        resume: true,
        threads: 2,
        ..Run::new(&privatizer)
    };
    for stop_after in 1..GROUPS as u64 {
        let (stop, groups) = (AtomicBool::new(false), std::sync::Mutex::new(0));
        let tell = |progress| {
            if let Progress::Bytes(_) = progress {
                *groups.lock().unwrap() += 1;
                stop.store(*groups.lock().unwrap() == 1, Ordering::Relaxed);
            }
        };
        let interrupted = Run {
            stop: Some(&stop),
            progress: Some(&tell),
            ..run.clone()
        };
        let stopped = privatize(&folder, &interrupted, "in.parquet", "out.parquet");
        let Err(Error::Unfinished { rows, .. }) = stopped else {
            panic!("{stopped:?}");
        };
        assert_eq!(rows, stop_after * ROWS as u64);
    }
    let report = privatize(&folder, &run, "in.parquet", "out.parquet").unwrap();
    assert_eq!(report.counts.rows, (GROUPS * ROWS) as u64);
    assert_eq!(report.counts.documents, (GROUPS * ROWS / 2) as u64);
    assert_eq!(report.restarts.len() as i64, GROUPS - 1);
    assert_whole(&folder.path().join("out.parquet"));
    assert_eq!(listing(&folder), ["in.parquet", "out.parquet"]);
}

#[test]
fn what_parquet_cannot_do_is_refused() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    write(&folder.path().join("in.parquet"));
    let run = Run {
        columns: vec!["body".into()],
        ..Run::new(&privatizer)
    };
    let skip = Run {
        on_bad_row: OnBadRow::Skip,
        ..run.clone()
    };
    let refused = privatize(&folder, &skip, "in.parquet", "out.parquet");
    assert!(matches!(refused, Err(Error::CannotSkip { .. })));
    let packed = privatize(&folder, &run, "in.parquet", "out.parquet.gz");
    assert!(matches!(packed, Err(Error::CompressedParquet)));
    let mut bytes = Vec::new();
    let output = Output::Stream {
        writer: &mut bytes,
        name: None,
    };
    let streamed = run.run(Input::File(folder.path().join("in.parquet")), output);
    assert!(matches!(streamed, Err(Error::ParquetStream)));
    assert_eq!(listing(&folder), ["in.parquet"]);
}

/// What was written is read again by its record: private values, and nothing where there is none.
#[test]
fn the_private_column_is_read_again() {
    let (privatizer, folder) = (privatizer(Layout::Keep), tempdir().unwrap());
    write(&folder.path().join("in.parquet"));
    let run = Run {
        columns: vec!["body".into()],
        manifest: Some(folder.path().join("run.json")),
        ..Run::new(&privatizer)
    };
    let report = privatize(&folder, &run, "in.parquet", "out.parquet").unwrap();
    let model = Arc::new(brr_english::model().unwrap());
    let written = Written::of(report.manifest.unwrap(), model).unwrap();
    let out = folder.path().join("out.parquet");
    let (mut texts, told) = (0, std::sync::Mutex::new(0));
    let tell = |progress| {
        if let Progress::Bytes(bytes) = progress {
            *told.lock().unwrap() = bytes;
        }
    };
    let reader = Run {
        progress: Some(&tell),
        ..written.reader(Some(&out)).unwrap()
    };
    reader
        .read(Input::File(out), &mut |text| {
            assert_eq!(text, "good film");
            texts += 1;
        })
        .unwrap();
    assert_eq!(texts, GROUPS * ROWS / 2);
    assert!(*told.lock().unwrap() > 0);
}
