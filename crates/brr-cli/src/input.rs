//! Where documents come from.

use std::io::{self, IsTerminal};
use std::path::Path;

use brr_corpus::Input;

use crate::output::is_standard;

/// A file, or standard input if none is named.
pub fn open(path: Option<&Path>) -> Input {
    match path {
        Some(path) if !is_standard(path) => Input::File(path.to_owned()),
        _ => {
            let stdin = io::stdin();
            if stdin.is_terminal() {
                tell!("brr: reading from the keyboard, a document per line; end with Ctrl-D");
            }
            Input::Stream(Box::new(stdin))
        }
    }
}
