//! Parquet: private string columns are rewritten, all others copied as they lie in the file.
//!
//! Row groups, the schema, key-value metadata, each column's compression and whether it has a
//! dictionary stay. A copied column chunk stays byte by byte, statistics included; a rewritten one
//! has statistics of its new values. Page indexes and Bloom filters, which only help to skip, are
//! left out: those of private columns would tell about the old values.
//!
//! The crate's column readers and writers work on a column's values and levels, so nulls, lists
//! and nested records need no code here, and Arrow is not needed at all.
//!
//! A run goes on at a row group. The file's footer, which says where column chunks are, is written
//! last; until then the checkpoint keeps it. To go on, the row groups that are there are given to
//! a new writer as if they came from another file, while what it writes of them is not written
//! again.

mod batch;
mod units;

use std::fs::File;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::parquet::basic::{LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, get_typed_column_reader};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::data_type::ByteArrayType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use bytes::Bytes;

use crate::checkpoint::Counts;
use crate::edits::OnBadRow;
use crate::error::{Error, Result, nth_option};
use crate::files;
use crate::output::{Output, Partial};
use crate::pipeline;
use crate::rows::{Event, Job, Report};
use crate::source::Source;
use crate::units::{Accounts, Ledger};

use batch::{BadValue, Batch, Column, privatize_batch};
use units::{Owners, find_unit};

/// Rows that go through the pipeline together.
const BATCH: usize = 256;

/// Privatizes columns of a file into the output. A column is the path of a leaf, or of a group
/// with only strings in it.
pub fn run(
    job: &Job<'_>,
    columns: &[String],
    source: Source,
    output: &mut Output<'_>,
) -> Result<Report> {
    let (Source::File(path), Output::Partial(partial)) = (&source, &mut *output) else {
        return Err(Error::Usage(
            "Parquet is no stream: give files as --input and --output".into(),
        ));
    };
    if job.on_bad_row == OnBadRow::Skip {
        return Err(output.fail(Error::Usage(
            "--on-bad-row skip: a row of Parquet cannot be left out, as other columns are copied whole; use copy-null".into(),
        )));
    }
    let mut counts = partial.state().counts.clone();
    let ledger = Ledger::open(&job.units);
    let done = ledger.and_then(|mut ledger| {
        privatize(job, columns, path, partial, &mut counts, &mut ledger)?;
        Ok(ledger)
    });
    match done.and_then(|ledger| output.complete().map(|()| ledger)) {
        Ok(ledger) => Ok(Report::new(counts, ledger.as_ref(), output)),
        Err(error) => Err(output.fail(error)),
    }
}

/// Calls into the crate that reads the format, which panics at some files that are damaged. To
/// the user that is an error like others; `silenced` tells a panic hook so.
fn withstand<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    READING.set(true);
    // What a panic leaves half done is the output, which goes on from its checkpoint.
    let done = catch_unwind(AssertUnwindSafe(call));
    READING.set(false);
    done.unwrap_or_else(|_| Err(ParquetError::General(DAMAGED.into())))
}

/// Whether a panic of this thread would be told as an error of the input: nobody else need
/// tell it.
pub fn silenced() -> bool {
    READING.get()
}

thread_local! {
    static READING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

const DAMAGED: &str = "it is not Parquet, or was cut short or damaged";

/// Errors of the format's crate, without whatever text they may have from the file.
struct Trouble<'p> {
    input: &'p Path,
    partial: std::path::PathBuf,
}

impl Trouble<'_> {
    fn input(&self, error: ParquetError) -> Error {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.cut_short(),
                Ok(error) => Error::read(self.input, *error),
                Err(_) => self.malformed("it cannot be read as Parquet"),
            },
            ParquetError::NYI(what) => self.malformed(format!("this build cannot read it: {what}")),
            ParquetError::EOF(_) | ParquetError::NeedMoreData(_) => self.cut_short(),
            _ => self.malformed(DAMAGED),
        }
    }

    fn output(&self, error: ParquetError) -> Error {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => Error::write(&self.partial, *error),
                Err(_) => self.malformed("its columns cannot be copied"),
            },
            _ => self.malformed("its columns cannot be copied"),
        }
    }

    fn cut_short(&self) -> Error {
        Error::Truncated {
            name: self.input.display().to_string(),
            place: "where its footer or a page should be".into(),
            row: None,
        }
    }

    fn malformed(&self, problem: impl Into<String>) -> Error {
        Error::Malformed {
            name: self.input.display().to_string(),
            problem: problem.into(),
        }
    }
}

fn privatize(
    job: &Job<'_>,
    columns: &[String],
    path: &Path,
    partial: &mut Partial,
    counts: &mut Counts,
    ledger: &mut Option<Ledger>,
) -> Result {
    let trouble = Trouble {
        input: path,
        partial: partial.path().to_owned(),
    };
    let open = || File::open(path).map(Strict);
    let open = || open().map_err(|e| Error::read(path, e));
    let input = Input::open(job, columns, open()?, &trouble)?;
    let metadata = input.reader.metadata().clone();
    (job.tell)(Event::Begun);
    let properties = Arc::new(properties(&metadata, &input.private));
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();

    let (position, memory) = (partial.state().position, partial.state().memory.clone());
    if let Some(ledger) = ledger {
        for group in 0..metadata.num_row_groups() {
            if (group as u64) < position {
                input.recount(group, ledger)?;
            }
        }
    }
    if partial.state().complete {
        return Ok(());
    }
    let skip = partial.state().output_length;
    let spool = Spool { partial, skip };
    let mut writer =
        SerializedFileWriter::new(spool, root, properties).map_err(|e| trouble.output(e))?;
    if position > 0 {
        replay(&mut writer, &memory, &trouble)?;
    }
    let mut passed: u64 = 0;
    for group in 0..metadata.num_row_groups() {
        let of_group = metadata.row_group(group);
        passed += of_group
            .columns()
            .iter()
            .map(|c| c.compressed_size() as u64)
            .sum::<u64>();
        if (group as u64) < position {
            continue;
        }
        let mut row_group = writer.next_row_group().map_err(|e| trouble.output(e))?;
        let owners = input.owners(group, ledger.as_ref())?;
        for (column, &private) in input.private.iter().enumerate() {
            let chunk = of_group.column(column);
            if !private {
                let close = as_it_is(chunk, of_group);
                let file = open()?;
                let copied = withstand(|| row_group.append_column(&file, close));
                copied.map_err(|e| trouble.output(e))?;
                continue;
            }
            let accounts = ledger.as_mut().map(|ledger| &mut ledger.accounts);
            let units = owners.as_ref().zip(accounts);
            let source = input.column(group, column)?;
            rewrite(job, source, units, &mut row_group, counts, &trouble)?;
        }
        row_group.close().map_err(|e| trouble.output(e))?;
        counts.rows += of_group.num_rows() as u64;
        writer
            .flush()
            .map_err(|e| Error::write(&trouble.partial, e))?;
        if writer.inner().partial.due() {
            let memory = remember(writer.flushed_row_groups(), metadata.file_metadata());
            let partial = &mut writer.inner_mut().partial;
            partial.reached(counts, group as u64 + 1);
            partial.save_with(memory)?;
        }
        (job.tell)(Event::Passed(passed));
    }
    writer.finish().map_err(|e| trouble.output(e))?;
    let groups = metadata.num_row_groups() as u64;
    writer.inner_mut().partial.reached(counts, groups);
    Ok(())
}

/// The file that is read.
struct Input<'t> {
    reader: SerializedFileReader<Strict<File>>,
    /// Which leaves are private.
    private: Vec<bool>,
    /// The leaf that names units.
    unit: Option<usize>,
    trouble: &'t Trouble<'t>,
}

impl<'t> Input<'t> {
    fn open(
        job: &Job<'_>,
        columns: &[String],
        file: Strict<File>,
        trouble: &'t Trouble<'t>,
    ) -> Result<Input<'t>> {
        let length = Length::len(&file);
        let reader = withstand(|| SerializedFileReader::new(file)).map_err(|e| trouble.input(e))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let private = find(columns, schema)?;
        let unit = job.units.column;
        let unit = unit.map(|unit| find_unit(unit, &private, schema));
        let unit = unit.transpose()?;
        let apart = withstand(|| Ok(lie_apart(metadata, length)));
        if !apart.map_err(|e| trouble.input(e))? {
            return Err(trouble.malformed(DAMAGED));
        }
        Ok(Input {
            reader,
            private,
            unit,
            trouble,
        })
    }

    fn leaf(&self, column: usize) -> Arc<ColumnDescriptor> {
        let file = self.reader.metadata().file_metadata();
        file.schema_descr().column(column)
    }

    fn read(&self, group: usize, column: usize) -> Result<ColumnReader> {
        let reader = withstand(|| self.reader.get_row_group(group)?.get_column_reader(column));
        reader.map_err(|e| self.trouble.input(e))
    }

    /// A private column chunk.
    fn column(&self, group: usize, column: usize) -> Result<Column> {
        Ok(Column {
            reader: get_typed_column_reader::<ByteArrayType>(self.read(group, column)?),
            description: self.leaf(column),
            row: 0,
        })
    }

    /// Whose the rows of a row group are, if anybody counts.
    fn owners(&self, group: usize, ledger: Option<&Ledger>) -> Result<Option<Owners>> {
        let (Some(unit), Some(ledger)) = (self.unit, ledger) else {
            return Ok(None);
        };
        let reader = self.read(group, unit)?;
        let owners = withstand(|| Owners::read(reader, &self.leaf(unit), &ledger.naming));
        owners.map(Some).map_err(|e| self.trouble.input(e))
    }

    /// Counts a row group that was done before the run went on.
    fn recount(&self, group: usize, ledger: &mut Ledger) -> Result {
        let Some(owners) = self.owners(group, Some(ledger))? else {
            return Ok(());
        };
        let private = self.private.iter().enumerate().filter(|(_, p)| **p);
        for (leaf, _) in private {
            let mut column = self.column(group, leaf)?;
            let description = column.description.clone();
            let mut next = || withstand(|| column.next()).map_err(|e| self.trouble.input(e));
            while let Some(mut batch) = next()? {
                owners.admit(&mut batch, &description, &mut ledger.accounts);
            }
        }
        Ok(())
    }
}

/// Whether column chunks lie in the file, and none in another: a column that is copied would bring
/// the text of a private one along.
fn lie_apart(metadata: &ParquetMetaData, length: u64) -> bool {
    let groups = metadata.row_groups().iter();
    let chunks = groups.flat_map(RowGroupMetaData::columns);
    let mut ranges: Vec<(u64, u64)> = chunks.map(ColumnChunkMetaData::byte_range).collect();
    ranges.retain(|(_, bytes)| *bytes > 0);
    ranges.sort_unstable();
    let end = |(start, bytes): (u64, u64)| start.saturating_add(bytes);
    let within = ranges.iter().all(|range| end(*range) <= length);
    within && ranges.is_sorted_by(|a, b| end(*a) <= b.0)
}

/// A file at whose end reading is an error. The crate that reads the format takes no notice
/// of the end while it skips what a damaged header claims to be billions of elements.
struct Strict<R>(R);

impl Length for Strict<File> {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Strict<File> {
    type T = Strict<<File as ChunkReader>::T>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start).map(Strict)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }
}

/// Which leaves are private.
fn find(columns: &[String], schema: &SchemaDescriptor) -> Result<Vec<bool>> {
    let mut private = vec![false; schema.num_columns()];
    for (number, column) in columns.iter().enumerate() {
        let option = || nth_option("--column", number, columns.len());
        let mut found = false;
        for (i, leaf) in schema.columns().iter().enumerate() {
            let path = leaf.path().string();
            let below = path.strip_prefix(column.as_str());
            if !below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                continue;
            }
            if !is_text(leaf) {
                return Err(Error::Usage(format!(
                    "{}: it is not a column of strings",
                    option()
                )));
            }
            (found, private[i]) = (true, true);
        }
        if !found {
            let leaves = schema.num_columns();
            return Err(Error::Usage(format!(
                "{}: no such name among the {leaves} columns",
                option()
            )));
        }
    }
    Ok(private)
}

fn is_text(leaf: &ColumnDescriptor) -> bool {
    use ::parquet::basic::ConvertedType;
    let logical = matches!(leaf.logical_type_ref(), None | Some(LogicalType::String));
    let converted = matches!(
        leaf.converted_type(),
        ConvertedType::NONE | ConvertedType::UTF8
    );
    leaf.physical_type() == Type::BYTE_ARRAY && logical && converted
}

/// Settings of the file that is read, as far as its metadata tell them.
fn properties(metadata: &ParquetMetaData, private: &[bool]) -> WriterProperties {
    let file = metadata.file_metadata();
    let mut builder = WriterProperties::builder()
        .set_key_value_metadata(file.key_value_metadata().cloned())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    if let Some(name) = file.created_by() {
        builder = builder.set_created_by(name.to_owned());
    }
    let Some(group) = metadata.row_groups().first() else {
        return builder.build();
    };
    if let Some(sorting) = group.sorting_columns() {
        // The order of privatized values is another: what is sorted by them is not sorted.
        let still = |s: &&_| !is_private(private, s);
        let sorting = sorting.iter().take_while(still).cloned().collect();
        builder = builder.set_sorting_columns(Some(sorting));
    }
    for (chunk, _) in group
        .columns()
        .iter()
        .zip(private)
        .filter(|(_, private)| **private)
    {
        let path = chunk.column_path().clone();
        builder = builder
            .set_column_compression(path.clone(), chunk.compression())
            .set_column_dictionary_enabled(path, chunk.dictionary_page_offset().is_some());
    }
    builder.build()
}

fn is_private(private: &[bool], sorting: &::parquet::file::metadata::SortingColumn) -> bool {
    let index = usize::try_from(sorting.column_idx).ok();
    index.and_then(|i| private.get(i)).copied().unwrap_or(true)
}

/// A column chunk to be copied.
fn as_it_is(chunk: &ColumnChunkMetaData, group: &RowGroupMetaData) -> ColumnCloseResult {
    ColumnCloseResult {
        bytes_written: chunk.compressed_size() as u64,
        rows_written: group.num_rows() as u64,
        metadata: chunk.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    }
}

/// Takes a private column chunk through the privatizer.
fn rewrite<W: Write + Send>(
    job: &Job<'_>,
    mut column: Column,
    mut units: Option<(&Owners, &mut Accounts)>,
    row_group: &mut SerializedRowGroupWriter<'_, W>,
    counts: &mut Counts,
    trouble: &Trouble<'_>,
) -> Result {
    let next_column = row_group.next_column().map_err(|e| trouble.output(e))?;
    let Some(mut writer) = next_column else {
        return Err(trouble.malformed("it has columns that its schema has not"));
    };
    let description = column.description.clone();
    let mut rows = counts.rows;
    let next = || {
        let mut batch = withstand(|| column.next()).map_err(|e| trouble.input(e))?;
        if let (Some(batch), Some((owners, accounts))) = (&mut batch, &mut units) {
            owners.admit(batch, &column.description, accounts);
        }
        Ok(batch)
    };
    let work = |batch| privatize_batch(job, &description, batch);
    let write = |batch: Result<Batch, BadValue>| {
        let batch = batch.map_err(|bad| Error::BadRow {
            row: rows + bad.row + 1,
            offset: None,
            reason: bad.reason,
        })?;
        let typed = writer.typed::<ByteArrayType>();
        // A column without nulls or lists has no such levels.
        let definition = (description.max_def_level() > 0).then_some(&batch.definition[..]);
        let repetition = (description.max_rep_level() > 0).then_some(&batch.repetition[..]);
        let written = typed.write_batch(&batch.values, definition, repetition);
        written.map_err(|e| trouble.output(e))?;
        rows += batch.rows;
        counts.add(&batch.counts);
        if job.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        Ok(())
    };
    pipeline::run(job.threads, next, work, write)?;
    writer.close().map_err(|e| trouble.output(e))
}

/// Writes to the partial file, but for what is there already.
struct Spool<'p> {
    partial: &'p mut Partial,
    skip: u64,
}

impl Write for Spool<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let known = usize::try_from(self.skip).map_or(bytes.len(), |skip| skip.min(bytes.len()));
        self.skip -= known as u64;
        self.partial.write(&bytes[known..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the row groups so far are, as a footer in hexadecimal.
fn remember(groups: &[RowGroupMetaData], file: &FileMetaData) -> String {
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let schema = file.schema_descr_ptr();
    let file = FileMetaData::new(file.version(), rows, None, None, schema, None);
    let metadata = ParquetMetaData::new(file, groups.to_vec());
    let mut footer = Vec::new();
    // Writing to memory cannot fail; what cannot be read back is found when it is.
    let _ = ParquetMetaDataWriter::new(&mut footer, &metadata).finish();
    footer.iter().map(|b| format!("{b:02x}")).collect()
}

/// Gives the writer the row groups that the partial file has.
fn replay(
    writer: &mut SerializedFileWriter<Spool<'_>>,
    memory: &str,
    trouble: &Trouble<'_>,
) -> Result {
    let unfit = || {
        Error::Usage(format!(
            "--resume: {} does not fit its checkpoint; give --force without --resume to start anew",
            trouble.partial.display()
        ))
    };
    let digits = memory.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let footer: Option<Vec<u8>> = digits.map(byte).collect();
    let footer = Bytes::from(footer.ok_or_else(unfit)?);
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&footer);
    let metadata = metadata.map_err(|_| unfit())?;
    let file = files::open_own(&trouble.partial).map_err(|e| Error::read(&trouble.partial, e))?;
    for group in metadata.row_groups() {
        let mut row_group = writer.next_row_group().map_err(|e| trouble.output(e))?;
        for chunk in group.columns() {
            let again = row_group.append_column(&file, as_it_is(chunk, group));
            again.map_err(|_| unfit())?;
        }
        row_group.close().map_err(|e| trouble.output(e))?;
    }
    writer
        .flush()
        .map_err(|e| Error::write(&trouble.partial, e))?;
    let end = writer.bytes_written() as u64;
    let spool = writer.inner();
    if spool.skip != 0 || end != spool.partial.state().output_length {
        return Err(unfit());
    }
    Ok(())
}
