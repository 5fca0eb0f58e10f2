//! Progress on a terminal, and nothing elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

fn hidden_unless_terminal(bar: ProgressBar) -> ProgressBar {
    let colour = std::env::var_os("NO_COLOR").is_none();
    if !std::io::stderr().is_terminal()
        || !colour && std::env::var_os("TERM").is_some_and(|t| t == "dumb")
    {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Bytes of a known or unknown total.
pub fn bytes(total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total).with_style(style(
            "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  ETA {eta}  {msg}",
        )),
        None => ProgressBar::new_spinner()
            .with_style(style("{spinner} {bytes}  {bytes_per_sec}  {msg}")),
    };
    hidden_unless_terminal(bar)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a valid template")
        .progress_chars("=> ")
}
