//! NumPy's `.npy` files of unsigned integers: codes and places for other tools.

/// A table whose entries NumPy calls `kind`.
pub fn encode(kind: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one has a comma.
    let shape = sizes.join(", ") + if sizes.len() == 1 { "," } else { "" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
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
