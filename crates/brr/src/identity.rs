//! Names for models and lists that nobody can give to another: hashes of their bytes.

use std::fmt;

/// Which codes: words, codes and case folding. Certificates name it; a remark or a certificate
/// added to a file does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodesIdentity(pub(crate) [u8; 32]);

/// Which words a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListIdentity(pub(crate) [u8; 32]);

/// Which file, every section and the frame included. Manifests name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity(pub(crate) [u8; 32]);

fn hexadecimal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for CodesIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

impl fmt::Display for ListIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

impl fmt::Display for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}
