//! A private column of a Parquet file, some rows at a time.

use std::sync::Arc;

use ::parquet::basic::Repetition;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescriptor;

use super::BATCH;
use crate::checkpoint::Counts;
use crate::edits::OnBadRow;
use crate::error::{Result, RowProblem};
use crate::run::Run;

/// A private column chunk.
pub struct Column {
    pub reader: ColumnReaderImpl<ByteArrayType>,
    pub description: Arc<ColumnDescriptor>,
    /// Rows read.
    pub row: usize,
}

/// Some of its values, with the levels that place them.
#[derive(Default)]
pub struct Batch {
    pub values: Vec<ByteArray>,
    pub definition: Vec<i16>,
    pub repetition: Vec<i16>,
    /// Rows of the row group before these.
    pub first: usize,
    pub rows: u64,
    /// How many words of each value are kept, if units are counted; none if it is nobody's.
    pub caps: Vec<Option<u64>>,
    pub counts: Counts,
}

impl Column {
    /// The values of the next rows.
    pub fn next(&mut self) -> Result<Option<Batch>, ParquetError> {
        let mut batch = Batch::default();
        let (rows, ..) = self.reader.read_records(
            BATCH,
            Some(&mut batch.definition),
            Some(&mut batch.repetition),
            &mut batch.values,
        )?;
        (batch.first, batch.rows) = (self.row, rows as u64);
        self.row += rows;
        Ok((rows > 0).then_some(batch))
    }
}

/// A value that cannot be privatized, in this row of the batch.
pub struct BadValue {
    pub row: u64,
    pub problem: RowProblem,
}

/// A value's text, if it is one.
pub fn text(value: &ByteArray) -> Option<&str> {
    std::str::from_utf8(value.data()).ok()
}

/// Privatizes the values of a batch.
pub fn privatize_batch(
    task: &Run<'_>,
    description: &ColumnDescriptor,
    mut batch: Batch,
) -> Result<Result<Batch, BadValue>> {
    if let Some(bad) = (0..batch.values.len()).find_map(|value| batch.problem(value)) {
        if task.on_bad_row == OnBadRow::Fail {
            let (value, problem) = bad;
            let row = batch.rows_of(description)[value] as u64;
            return Ok(Err(BadValue { row, problem }));
        }
        batch.empty_bad_values(description);
    }
    let cap = |value: usize| match batch.caps.get(value) {
        Some(cap) => cap.unwrap_or(0),
        None => task.cap(),
    };
    let texts = batch
        .values
        .iter()
        .map(|value| text(value).unwrap_or_default());
    let texts: Vec<&str> = texts.collect();
    let privatized = task.rewritten(&texts, cap)?;
    batch.counts = Counts {
        emptied: batch.counts.emptied,
        ..Counts::of(&privatized)
    };
    let values = privatized.into_iter().map(|t| t.text.into_bytes().into());
    batch.values = values.collect();
    Ok(Ok(batch))
}

impl Batch {
    /// Whether a value cannot be privatized, and why.
    fn problem(&self, value: usize) -> Option<(usize, RowProblem)> {
        match (text(&self.values[value]), self.caps.get(value)) {
            (None, _) => Some((value, RowProblem::NotUtf8)),
            (_, Some(None)) => Some((value, RowProblem::NoUnit)),
            _ => None,
        }
    }

    /// The row of each value.
    pub fn rows_of(&self, description: &ColumnDescriptor) -> Vec<usize> {
        let levels = self.levels_of(description).into_iter();
        if self.repetition.is_empty() {
            return levels.collect();
        }
        let mut begun = 0;
        let mut rows = Vec::with_capacity(self.repetition.len());
        for repetition in &self.repetition {
            begun += usize::from(*repetition == 0);
            rows.push(begun.saturating_sub(1));
        }
        levels.map(|level| rows[level]).collect()
    }

    /// The place of each value among the levels: those that are null have no value.
    fn levels_of(&self, description: &ColumnDescriptor) -> Vec<usize> {
        if self.definition.is_empty() {
            return (0..self.values.len()).collect();
        }
        let full = description.max_def_level();
        let levels = self.definition.iter().enumerate();
        let there = levels.filter(|(_, d)| **d == full);
        there.map(|(level, _)| level).collect()
    }

    /// Values that cannot be privatized become null, or empty where null is not allowed.
    fn empty_bad_values(&mut self, description: &ColumnDescriptor) {
        let info = description.self_type().get_basic_info();
        let nullable = info.has_repetition() && info.repetition() == Repetition::OPTIONAL;
        let levels = self.levels_of(description);
        for value in (0..self.values.len()).rev() {
            if self.problem(value).is_none() {
                continue;
            }
            self.counts.emptied += 1;
            if nullable {
                self.definition[levels[value]] -= 1;
                self.values.remove(value);
                if !self.caps.is_empty() {
                    self.caps.remove(value);
                }
            } else {
                self.values[value] = ByteArray::from("");
            }
        }
    }
}
