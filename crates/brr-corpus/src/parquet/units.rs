//! Whose the rows of a Parquet file are.
//!
//! A row group's units are read before its private columns, which come one after another: in the
//! order of the file, and so in the order in which a cap is used up.

use ::parquet::basic::Type;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{AsBytes, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::BATCH;
use super::batch::{Batch, text as text_of};
use super::read::{keys_of, no_such_column};
use crate::error::{ColumnProblem, ColumnRole, Result};
use crate::paths::{keys, without_lists};
use crate::units::{Accounts, Naming, UnitName, trimmed};

/// The leaf that names units.
pub fn find_unit(column: &str, private: &[bool], schema: &SchemaDescriptor) -> Result<usize> {
    let mut leaves = schema.columns().iter();
    let wanted = without_lists(&keys(column));
    let found = leaves.position(|leaf| keys_of(leaf) == wanted);
    let Some(leaf) = found else {
        return Err(no_such_column(ColumnRole::Unit, schema));
    };
    let problem = match (leaf, schema.column(leaf)) {
        (leaf, _) if private[leaf] => ColumnProblem::Private,
        (_, leaf) if leaf.max_rep_level() > 0 => ColumnProblem::ListOfUnits,
        (leaf, description) => match description.physical_type() {
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY | Type::INT32 | Type::INT64 => {
                return Ok(leaf);
            }
            _ => ColumnProblem::NotAName,
        },
    };
    Err(ColumnRole::Unit.error(problem))
}

/// The unit of each row of a row group; none where it is null or empty.
pub struct Owners(Vec<Option<UnitName>>);

impl Owners {
    /// Reads the column that names them.
    pub fn read(
        reader: ColumnReader,
        leaf: &ColumnDescriptor,
        naming: &Naming,
    ) -> Result<Owners, ParquetError> {
        let text = |bytes: &[u8]| trimmed(bytes).map(|name| naming.name(name));
        let number = |bytes: &[u8]| Some(naming.name(bytes));
        let names = match reader {
            ColumnReader::ByteArrayColumnReader(reader) => names(reader, leaf, text),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => names(reader, leaf, number),
            ColumnReader::Int32ColumnReader(reader) => names(reader, leaf, number),
            ColumnReader::Int64ColumnReader(reader) => names(reader, leaf, number),
            _ => Err(ParquetError::General(
                "another type than its schema's".into(),
            )),
        };
        names.map(Owners)
    }

    /// Counts the next values of a private column, and gives each its cap.
    pub fn admit(
        &self,
        batch: &mut Batch,
        description: &ColumnDescriptor,
        accounts: &mut Accounts,
    ) {
        let rows = batch.rows_of(description);
        let cap = |(row, value): (usize, &_)| {
            let unit = self.0.get(batch.first + row).copied().flatten()?;
            Some(accounts.admit(unit, text_of(value).unwrap_or_default()))
        };
        batch.caps = rows.into_iter().zip(&batch.values).map(cap).collect();
    }
}

/// Hands each value of a column to `name`, and tells which rows have none.
fn names<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    leaf: &ColumnDescriptor,
    name: impl Fn(&[u8]) -> Option<UnitName>,
) -> Result<Vec<Option<UnitName>>, ParquetError> {
    let mut names = Vec::new();
    loop {
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        let mut values: Vec<T::T> = Vec::new();
        let (rows, ..) = reader.read_records(
            BATCH,
            Some(&mut definition),
            Some(&mut repetition),
            &mut values,
        )?;
        if rows == 0 {
            return Ok(names);
        }
        let mut values = values.iter();
        for row in 0..rows {
            let there = definition
                .get(row)
                .is_none_or(|d| *d == leaf.max_def_level());
            let value = if there { values.next() } else { None };
            names.push(value.and_then(|value| name(value.as_bytes())));
        }
    }
}
