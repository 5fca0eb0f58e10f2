//! How a Parquet file that was interrupted goes on at a row group.
//!
//! The file's footer, which says where column chunks are, is written last; until then the
//! checkpoint keeps it. To go on, the row groups that are there are given to a new writer as if
//! they came from another file, while what it writes of them is not written again.

use std::io::{self, Write};

use ::parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use ::parquet::file::writer::SerializedFileWriter;
use bytes::Bytes;

use super::Trouble;
use super::rewrite::as_it_is;
use crate::error::{Error, FileProblem, Result};
use crate::files;
use crate::partial::Partial;

/// Writes to the partial file, but for what is there already.
pub struct Spool<'p> {
    pub partial: &'p mut Partial,
    skip: u64,
}

impl<'p> Spool<'p> {
    pub fn new(partial: &'p mut Partial) -> Spool<'p> {
        let skip = partial.state().output_length;
        Spool { partial, skip }
    }
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
pub fn remember(groups: &[RowGroupMetaData], file: &FileMetaData) -> String {
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
pub fn replay(
    writer: &mut SerializedFileWriter<Spool<'_>>,
    memory: &str,
    trouble: &Trouble<'_>,
) -> Result {
    let unfit = || FileProblem::UnlikeCheckpoint.of(&trouble.partial);
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
