//! The Parquet file that is written, row group by row group: private columns rewritten, all others
//! copied.

use std::io::Write;
use std::sync::Arc;

use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::data_type::ByteArrayType;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData, SortingColumn,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::batch::{BadValue, Batch, Column, privatize_batch};
use super::read::Table;
use super::resume::{Spool, remember, replay};
use super::units::Owners;
use super::{Trouble, withstand};
use crate::checkpoint::Counts;
use crate::error::{Error, Result};
use crate::partial::Partial;
use crate::pipeline;
use crate::run::Run;
use crate::units::{Accounts, Ledger};

/// The file at work.
pub struct Rewrite<'r> {
    task: &'r Run<'r>,
    table: &'r Table<'r>,
    writer: SerializedFileWriter<Spool<'r>>,
}

impl<'r> Rewrite<'r> {
    /// Starts the output, or goes on with one.
    pub fn open(
        task: &'r Run<'r>,
        table: &'r Table<'r>,
        partial: &'r mut Partial,
    ) -> Result<Rewrite<'r>> {
        let (metadata, trouble) = (table.metadata(), table.trouble);
        let properties = Arc::new(properties(metadata, &table.private));
        let root = metadata.file_metadata().schema_descr().root_schema_ptr();
        let (position, memory) = (partial.state().position, partial.state().memory.clone());
        let writer = SerializedFileWriter::new(Spool::new(partial), root, properties);
        let mut writer = writer.map_err(|e| trouble.output(e))?;
        if position > 0 {
            replay(&mut writer, &memory, trouble)?;
        }
        Ok(Rewrite {
            task,
            table,
            writer,
        })
    }

    /// The next row group.
    pub fn group(
        &mut self,
        group: usize,
        counts: &mut Counts,
        ledger: &mut Option<Ledger>,
    ) -> Result {
        let (table, trouble) = (self.table, self.table.trouble);
        let of_group = table.metadata().row_group(group);
        let row_group = self.writer.next_row_group();
        let mut row_group = row_group.map_err(|e| trouble.output(e))?;
        let owners = table.owners(group, ledger.as_ref())?;
        for (column, &private) in table.private.iter().enumerate() {
            if !private {
                let close = as_it_is(of_group.column(column), of_group);
                let file = table.file()?;
                let copied = withstand(|| row_group.append_column(&file, close));
                copied.map_err(|e| trouble.output(e))?;
                continue;
            }
            let accounts = ledger.as_mut().map(|ledger| &mut ledger.accounts);
            let units = owners.as_ref().zip(accounts);
            let source = table.column(group, column)?;
            rewrite(self.task, source, units, &mut row_group, counts, trouble)?;
        }
        row_group.close().map_err(|e| trouble.output(e))?;
        counts.rows += of_group.num_rows() as u64;
        let flushed = self.writer.flush();
        flushed.map_err(|e| Error::write(&trouble.partial, e))?;
        if self.writer.inner().partial.due() {
            let file = table.metadata().file_metadata();
            let memory = remember(self.writer.flushed_row_groups(), file);
            let partial = &mut self.writer.inner_mut().partial;
            partial.reached(counts, group as u64 + 1);
            partial.save_with(memory)?;
        }
        Ok(())
    }

    /// Writes the footer.
    pub fn finish(mut self, counts: &Counts) -> Result {
        let finished = self.writer.finish();
        finished.map_err(|e| self.table.trouble.output(e))?;
        let groups = self.table.groups() as u64;
        self.writer.inner_mut().partial.reached(counts, groups);
        Ok(())
    }
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

fn is_private(private: &[bool], sorting: &SortingColumn) -> bool {
    let index = usize::try_from(sorting.column_idx).ok();
    index.and_then(|i| private.get(i)).copied().unwrap_or(true)
}

/// A column chunk to be copied.
pub fn as_it_is(chunk: &ColumnChunkMetaData, group: &RowGroupMetaData) -> ColumnCloseResult {
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
    task: &Run<'_>,
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
    let work = |batch| privatize_batch(task, &description, batch);
    let write = |batch: Result<Batch, BadValue>| {
        let batch = batch.map_err(|bad| Error::BadRow {
            row: rows + bad.row + 1,
            offset: None,
            problem: bad.problem,
        })?;
        let typed = writer.typed::<ByteArrayType>();
        // A column without nulls or lists has no such levels.
        let definition = (description.max_def_level() > 0).then_some(&batch.definition[..]);
        let repetition = (description.max_rep_level() > 0).then_some(&batch.repetition[..]);
        let written = typed.write_batch(&batch.values, definition, repetition);
        written.map_err(|e| trouble.output(e))?;
        rows += batch.rows;
        counts.add(&batch.counts);
        task.go_on()
    };
    pipeline::run(task.threads, next, work, write)?;
    writer.close().map_err(|e| trouble.output(e))
}
