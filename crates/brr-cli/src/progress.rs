//! Progress on a terminal, and nothing elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

fn hidden_unless_terminal(bar: ProgressBar) -> ProgressBar {
    let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    if dumb || !std::io::stderr().is_terminal() {
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

/// The share done of one thing after another, each with its name.
pub struct Stages {
    bar: ProgressBar,
    /// The stages so far and when each began; the last is the present one.
    begun: Mutex<Vec<(String, Instant)>>,
}

impl Stages {
    /// Nothing is shown yet.
    pub fn new() -> Stages {
        let bar =
            ProgressBar::new(1000).with_style(style("{msg:24} {bar:30} {percent:>3} %  ETA {eta}"));
        Stages {
            bar: hidden_unless_terminal(bar),
            begun: Mutex::default(),
        }
    }

    /// This much of the stage is done. What follows in brackets is not part of
    /// its name.
    pub fn show(&self, stage: &str, share: f64) {
        let name = stage.split(" (").next().unwrap_or(stage);
        let mut begun = self.begun.lock().expect("no thread panics here");
        if begun.last().is_none_or(|last| last.0 != name) {
            begun.push((name.to_owned(), Instant::now()));
            self.bar.reset();
        }
        drop(begun);
        self.bar.set_message(stage.to_owned());
        self.bar.set_position((share * 1000.0) as u64);
    }

    /// This much of a stage is done of which nobody knows how long it is: no share, and no time left.
    #[cfg(feature = "workstation")]
    pub fn show_pass(&self, stage: &str, pass: u32) {
        let mut begun = self.begun.lock().expect("no thread panics here");
        if begun.last().is_none_or(|last| last.0 != stage) {
            begun.push((stage.to_owned(), Instant::now()));
            self.bar.reset();
            self.bar.set_style(style("{msg:24} {spinner} {elapsed}"));
        }
        drop(begun);
        self.bar.set_message(format!("{stage} (pass {pass})"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(feature = "workstation")]
impl Stages {
    /// What each stage took up to now, in order.
    pub fn took(&self) -> String {
        let begun = self.begun.lock().expect("no thread panics here");
        let ends = begun.iter().skip(1).map(|s| s.1).chain([Instant::now()]);
        let took = begun.iter().zip(ends).map(|((name, start), end)| {
            format!("{name} {:.1} s", end.duration_since(*start).as_secs_f64())
        });
        took.collect::<Vec<_>>().join(", ")
    }

    /// Says something above the bar.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| tell!("brr: {text}"));
    }

    /// Prints a result while there is more to come.
    pub fn print(&self, text: &str) {
        self.bar.suspend(|| println!("{text}"));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a valid template")
        .progress_chars("=> ")
}
