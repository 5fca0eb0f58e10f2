//! What is said on standard error.

/// Says a line on standard error, as `eprintln!` does, but is no failure where nobody can hear it: `eprintln!`
/// panics if standard error is closed or full, and what is being written would be lost for that.
macro_rules! tell {
    ($($words:tt)*) => {{
        let line = format!("{}\n", format_args!($($words)*));
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }};
}
