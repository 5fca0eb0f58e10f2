//! SHA-256 of stored files, for provenance.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{archive, package};
use crate::error::{Error, Result};

/// SHA-256 of a file as it is stored, for provenance where
/// [`LoadReport::sha256`](super::LoadReport::sha256) has none. Reads the whole file. Of a folder with the vectors of spaCy or
/// navec it is that of `key2row`, `strings.json` and `vectors`, or `meta.json`, `vocab.bin` and `pq.bin`, one after
/// another.
pub fn sha256_of_file(path: &Path) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let loose = match path.is_dir() {
        true => package::find(path, None)?.and_then(|package| package.loose_files()),
        false => None,
    };
    let files = loose.unwrap_or_else(|| vec![archive::split_member(path).0]);
    for file in files {
        add(&file, &mut hash)?;
    }
    Ok(hash.finalize().into())
}

fn add(path: &Path, hash: &mut Sha256) -> Result<()> {
    let mut buffer = vec![0; 1 << 16];
    let mut offset = 0;
    let failed = |offset, source| Error::Read {
        path: path.to_owned(),
        offset,
        source,
    };
    let mut file = File::open(path).map_err(|e| failed(0, e))?;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                hash.update(&buffer[..n]);
                offset += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(failed(offset, e)),
        }
    }
}
