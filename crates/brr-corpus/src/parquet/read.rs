//! A Parquet file that is read: its columns, and whose its rows are.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, get_typed_column_reader};
use ::parquet::data_type::ByteArrayType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use bytes::Bytes;

use super::batch::{Batch, Column, text};
use super::units::{Owners, find_unit};
use super::{DAMAGED, Trouble, withstand};
use crate::error::{ColumnProblem, ColumnRole, Error, Result};
use crate::paths::{Known, keys, without_lists};
use crate::run::Run;
use crate::units::Ledger;

/// The file that is read.
pub struct Table<'t> {
    reader: SerializedFileReader<Strict<File>>,
    /// Which leaves are private.
    pub private: Vec<bool>,
    /// The leaf that names units.
    unit: Option<usize>,
    pub trouble: &'t Trouble<'t>,
}

impl<'t> Table<'t> {
    /// Finds the columns. What the file says of itself is checked as far as privacy rests on it.
    pub fn open(task: &Run<'_>, path: &Path, trouble: &'t Trouble<'t>) -> Result<Table<'t>> {
        let file = Strict::open(path)?;
        let length = Length::len(&file);
        let reader = withstand(|| SerializedFileReader::new(file)).map_err(|e| trouble.input(e))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let private = find(&task.columns, schema)?;
        let unit = task.unit.as_ref();
        let unit = unit.map(|unit| find_unit(unit, &private, schema));
        let unit = unit.transpose()?;
        let apart = withstand(|| Ok(lie_apart(metadata, length)));
        if !apart.map_err(|e| trouble.input(e))? {
            return Err(trouble.malformed(DAMAGED));
        }
        Ok(Table {
            reader,
            private,
            unit,
            trouble,
        })
    }

    pub fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    /// How many row groups it has.
    pub fn groups(&self) -> usize {
        self.metadata().num_row_groups()
    }

    /// How many bytes of the file a row group is.
    pub fn bytes(&self, group: usize) -> u64 {
        let columns = self.metadata().row_group(group).columns().iter();
        columns.map(|c| c.compressed_size() as u64).sum()
    }

    /// Another handle of the file, to copy from.
    pub fn file(&self) -> Result<Strict<File>> {
        Strict::open(self.trouble.input)
    }

    fn leaf(&self, column: usize) -> Arc<ColumnDescriptor> {
        let file = self.metadata().file_metadata();
        file.schema_descr().column(column)
    }

    fn read(&self, group: usize, column: usize) -> Result<ColumnReader> {
        let reader = withstand(|| self.reader.get_row_group(group)?.get_column_reader(column));
        reader.map_err(|e| self.trouble.input(e))
    }

    /// A private column chunk.
    pub fn column(&self, group: usize, column: usize) -> Result<Column> {
        Ok(Column {
            reader: get_typed_column_reader::<ByteArrayType>(self.read(group, column)?),
            description: self.leaf(column),
            row: 0,
        })
    }

    /// Whose the rows of a row group are, if anybody counts.
    pub fn owners(&self, group: usize, ledger: Option<&Ledger>) -> Result<Option<Owners>> {
        let (Some(unit), Some(ledger)) = (self.unit, ledger) else {
            return Ok(None);
        };
        let reader = self.read(group, unit)?;
        let owners = withstand(|| Owners::read(reader, &self.leaf(unit), &ledger.naming));
        owners.map(Some).map_err(|e| self.trouble.input(e))
    }

    /// Counts a row group that was done before the run went on.
    pub fn recount(&self, group: usize, ledger: &mut Ledger) -> Result {
        let Some(owners) = self.owners(group, Some(ledger))? else {
            return Ok(());
        };
        self.batches(group, |description, mut batch| {
            owners.admit(&mut batch, description, &mut ledger.accounts);
        })
    }

    /// Hands every private value of a row group that is text to `visit`.
    pub fn visit(&self, group: usize, visit: &mut dyn FnMut(&str)) -> Result {
        self.batches(group, |_, batch| {
            batch.values.iter().filter_map(text).for_each(&mut *visit);
        })
    }

    /// Hands all batches of the private columns of a row group to `take`.
    fn batches(&self, group: usize, mut take: impl FnMut(&ColumnDescriptor, Batch)) -> Result {
        let private = self.private.iter().enumerate().filter(|(_, p)| **p);
        for (leaf, _) in private {
            let mut column = self.column(group, leaf)?;
            let description = column.description.clone();
            let mut next = || withstand(|| column.next()).map_err(|e| self.trouble.input(e));
            while let Some(batch) = next()? {
                take(&description, batch);
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
pub struct Strict<R>(R);

impl Strict<File> {
    fn open(path: &Path) -> Result<Strict<File>> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        Ok(Strict(file))
    }
}

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
    let of = columns.len();
    for (index, column) in columns.iter().enumerate() {
        let role = ColumnRole::Private { index, of };
        let wanted = without_lists(&keys(column));
        let mut found = false;
        for (i, leaf) in schema.columns().iter().enumerate() {
            if !keys_of(leaf).starts_with(&wanted) {
                continue;
            }
            if !is_text(leaf) {
                return Err(role.error(ColumnProblem::NotStrings));
            }
            (found, private[i]) = (true, true);
        }
        if !found {
            return Err(no_such_column(role, schema));
        }
    }
    Ok(private)
}

/// The path of a leaf, without what writers call the inside of a list.
pub fn keys_of(leaf: &ColumnDescriptor) -> Vec<&str> {
    let parts: Vec<&str> = leaf.path().parts().iter().map(String::as_str).collect();
    without_lists(&parts)
}

pub fn no_such_column(role: ColumnRole, schema: &SchemaDescriptor) -> Error {
    let leaves = schema.columns();
    let known = Known::new(leaves.iter().map(|leaf| keys_of(leaf).join(".")));
    role.error_among(ColumnProblem::NoSuchColumn(leaves.len()), known)
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
