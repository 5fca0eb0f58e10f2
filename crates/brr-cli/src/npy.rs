//! NumPy's `.npy` files of unsigned bytes: rows of codes for other tools.

use std::path::Path;

use crate::failure::{Failure, Result};

/// A file with rows of `columns` numbers, or with one number a row. `kind` is NumPy's name of
/// their type, and `data` their bytes.
pub fn encode(kind: &str, rows: usize, columns: Option<usize>, data: &[u8]) -> Vec<u8> {
    let shape = match columns {
        Some(columns) => format!("({rows}, {columns})"),
        None => format!("({rows},)"),
    };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take 10 bytes; data starts at a multiple of 64.
    let end = (10 + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', end - 10 - header.len() - 1));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// Reads a table of unsigned bytes: the number of columns, and the rows.
pub fn read_bytes(path: &Path) -> Result<(usize, Vec<u8>)> {
    let file = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
    let wrong = || {
        Failure::Failed(format!(
            "{}: not a NumPy file of unsigned bytes in rows; save one with np.save(file, codes.astype(np.uint8))",
            path.display()
        ))
    };
    let (columns, start) = header(&file).ok_or_else(wrong)?;
    let data = file[start..].to_vec();
    if columns == 0 || data.len() % columns != 0 {
        return Err(wrong());
    }
    Ok((columns, data))
}

/// Number of columns, and where the data starts.
fn header(file: &[u8]) -> Option<(usize, usize)> {
    let version = *file.strip_prefix(b"\x93NUMPY")?.first()?;
    let (length, from): (usize, usize) = match version {
        1 => (
            usize::from(u16::from_le_bytes(file.get(8..10)?.try_into().ok()?)),
            10,
        ),
        _ => (
            u32::from_le_bytes(file.get(8..12)?.try_into().ok()?) as usize,
            12,
        ),
    };
    let text = std::str::from_utf8(file.get(from..from.checked_add(length)?)?).ok()?;
    let bytes = text.contains("'|u1'") && text.contains("'fortran_order': False");
    let shape = text.split_once("'shape': (")?.1.split_once(')')?.0;
    let sizes: Vec<usize> = shape
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().ok())
        .collect::<Option<_>>()?;
    match sizes[..] {
        [rows, columns] if bytes && rows.checked_mul(columns)? == file.len() - from - length => {
            Some((columns, from + length))
        }
        _ => None,
    }
}
