//! NumPy's `.npy` files of unsigned bytes: rows of codes for other tools.

/// A table of unsigned bytes.
pub fn encode(rows: usize, columns: usize, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
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
