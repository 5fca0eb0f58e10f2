//! Writes `include/brr.h` from the C library's source; with `--check`, fails
//! if that would change it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml"))
        .expect("cbindgen.toml is there and valid");
    let bindings = cbindgen::generate_with_config(&library, config).expect("the source parses");
    let header = library.join("include/brr.h");
    let mut text = Vec::new();
    bindings.write(&mut text);
    if std::fs::read(&header).is_ok_and(|there| there == text) {
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|arg| arg == "--check") {
        eprintln!(
            "error: bindings/c/include/brr.h is out of date\nhint: run scripts/test-c --update-header and commit it"
        );
        return ExitCode::FAILURE;
    }
    std::fs::write(&header, text).expect("include/brr.h can be written");
    ExitCode::SUCCESS
}
