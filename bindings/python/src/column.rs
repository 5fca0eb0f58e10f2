//! String columns in and out, over Arrow's C data interface.
//!
//! Any object with the PyCapsule methods `__arrow_c_array__` or
//! `__arrow_c_stream__` is read without a copy: pyarrow, polars, pandas 3,
//! DuckDB. What comes out is freshly made. A dictionary-encoded column is
//! privatized row by row and comes out plain: one draw for each *entry* would
//! tell which rows are equal, and the dictionary itself would be the input.

use std::sync::Arc;

use arrow_array::builder::{GenericStringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{Array, ArrayRef, DictionaryArray, NullArray, OffsetSizeTrait};
use arrow_array::{downcast_dictionary_array, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::failure;

const SCHEMA: &std::ffi::CStr = c"arrow_schema";
const ARRAY: &std::ffi::CStr = c"arrow_array";
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// A column's chunks, checked: valid UTF-8 in every row.
pub struct Column {
    chunks: Vec<ArrayRef>,
}

impl Column {
    /// Takes the column that a Python object offers.
    pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let py = object.py();
        let chunks = if object.hasattr("__arrow_c_array__")? {
            vec![import_array(object)?]
        } else {
            import_stream(object)?
        };
        for chunk in &chunks {
            if output_type(chunk.data_type()).is_none() {
                let message = format!("expected a column of strings, found {}", chunk.data_type());
                return Err(failure::input(py, message, None));
            }
        }
        Ok(Column { chunks })
    }

    /// Every row's text.
    pub fn rows(&self) -> Vec<Option<&str>> {
        let mut rows = Vec::with_capacity(self.chunks.iter().map(|chunk| chunk.len()).sum());
        self.chunks
            .iter()
            .for_each(|chunk| push_rows(chunk, &mut rows));
        rows
    }

    /// Privatized rows in chunks of the same type and length as this column's;
    /// in one chunk if `combine`.
    pub fn rebuild<'r>(
        &self,
        mut rows: impl Iterator<Item = Option<&'r str>>,
        combine: bool,
    ) -> Result<Vec<ArrowColumn>, ArrowError> {
        let of = |chunk: &ArrayRef| output_type(chunk.data_type()).expect("checked when imported");
        if combine && !self.chunks.is_empty() {
            let rows: Vec<_> = rows.collect();
            return Ok(vec![build(&of(&self.chunks[0]), rows.into_iter())?]);
        }
        self.chunks
            .iter()
            .map(|chunk| build(&of(chunk), rows.by_ref().take(chunk.len())))
            .collect()
    }
}

/// The type in which privatized rows of a column are given back.
fn output_type(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            Some(of.clone())
        }
        DataType::Dictionary(_, values) => output_type(values),
        _ => None,
    }
}

fn push_rows<'a>(chunk: &'a dyn Array, rows: &mut Vec<Option<&'a str>>) {
    match chunk.data_type() {
        DataType::Utf8 => rows.extend(chunk.as_string::<i32>()),
        DataType::LargeUtf8 => rows.extend(chunk.as_string::<i64>()),
        DataType::Utf8View => rows.extend(chunk.as_string_view()),
        DataType::Null => rows.extend((0..chunk.len()).map(|_| None)),
        _ => downcast_dictionary_array!(
            chunk => push_decoded(chunk, rows),
            other => unreachable!("{other} was refused when imported")
        ),
    }
}

fn push_decoded<'a, K: ArrowDictionaryKeyType>(
    column: &'a DictionaryArray<K>,
    rows: &mut Vec<Option<&'a str>>,
) {
    let mut values = Vec::with_capacity(column.values().len());
    push_rows(column.values(), &mut values);
    rows.extend((0..column.len()).map(|row| values[column.key(row)?]));
}

fn build<'r>(
    data_type: &DataType,
    rows: impl Iterator<Item = Option<&'r str>>,
) -> Result<ArrowColumn, ArrowError> {
    let array: ArrayRef = match data_type {
        DataType::Utf8 => build_offsets::<i32>(rows)?,
        DataType::LargeUtf8 => build_offsets::<i64>(rows)?,
        DataType::Utf8View => {
            let mut builder = StringViewBuilder::new();
            for row in rows {
                match row {
                    Some(text) => builder.try_append_value(text)?,
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        _ => Arc::new(NullArray::new(rows.count())),
    };
    Ok(ArrowColumn(array))
}

fn build_offsets<'r, O: OffsetSizeTrait>(
    rows: impl Iterator<Item = Option<&'r str>>,
) -> Result<ArrayRef, ArrowError> {
    let mut builder = GenericStringBuilder::<O>::new();
    let mut bytes = 0;
    for row in rows {
        bytes += row.map_or(0, str::len);
        if O::from_usize(bytes).is_none() {
            return Err(ArrowError::OffsetOverflowError(bytes));
        }
        builder.append_option(row);
    }
    Ok(Arc::new(builder.finish()))
}

fn import_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = object.py();
    let pair = object
        .call_method0("__arrow_c_array__")?
        .cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema
        .pointer_checked(Some(SCHEMA))?
        .cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: by the PyCapsule protocol a capsule of this name points to an
    // initialized structure, ours to move from. The schema is only borrowed,
    // and its capsule lives to the end of this function.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    checked(py, make_array(data.map_err(|_| unreadable(py))?), 0)
}

fn import_stream(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let py = object.py();
    let capsule = object
        .call_method0("__arrow_c_stream__")?
        .cast_into::<PyCapsule>()?;
    let stream = capsule
        .pointer_checked(Some(STREAM))?
        .cast::<FFI_ArrowArrayStream>();
    // SAFETY: as above; the stream is moved out of its capsule.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) };
    let mut chunks = Vec::new();
    let mut rows = 0;
    for chunk in reader.map_err(|_| unreadable(py))? {
        let chunk = checked(py, chunk.map_err(|_| unreadable(py))?, rows)?;
        rows += chunk.len();
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// Refuses an array whose content is not what its type says: nothing behind
/// this may be trusted until it was looked at. `start` is its first row's number.
fn checked(py: Python<'_>, array: ArrayRef, start: usize) -> PyResult<ArrayRef> {
    if array.to_data().validate_full().is_ok() {
        return Ok(array);
    }
    let rows = start..start + array.len();
    let message = format!(
        "rows {} to {} are not a valid Arrow array: their offsets are wrong or their text is not UTF-8",
        rows.start,
        rows.end.saturating_sub(1)
    );
    Err(failure::input(py, message, Some(start)))
}

fn unreadable(py: Python<'_>) -> PyErr {
    let message = "the column cannot be read through Arrow's C data interface".to_owned();
    failure::input(py, message, None)
}

/// A privatized column: hand it to any library that reads Arrow
/// (`pyarrow.array(column)`, `polars.Series(column)`).
#[pyclass(frozen, module = "brr")]
pub struct ArrowColumn(ArrayRef);

#[pymethods]
impl ArrowColumn {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("ArrowColumn({}, {} rows)", self.0.data_type(), self.0.len())
    }

    /// The column as Arrow's pair of capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol lets a producer answer in its own type.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(|_| unreadable(py))?;
        Ok((
            PyCapsule::new_with_value(py, schema, SCHEMA)?,
            PyCapsule::new_with_value(py, array, ARRAY)?,
        ))
    }
}
