//! Other people's programs, run within a limit of time: lines in, lines out.
//!
//! A program is a group of processes, since a shell starts others. Its output is read by threads
//! that this program does not wait for, so that nothing it does or leaves running can hold us up;
//! when time is up the whole group is ended.

use std::io::{Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Bytes read for each line that is expected, and beyond that: a program that never stops writing
/// must not fill the memory.
const BYTES: (u64, u64) = (4096, 1 << 24);
/// Bytes of its messages that are shown.
const SHOWN: usize = 300;
/// How often a program that has closed its output is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// A program and how long it may take.
pub struct Peer {
    command: Vec<String>,
    /// When it must have ended.
    pub deadline: Instant,
    /// The time it had, for messages.
    pub seconds: u32,
}

impl Peer {
    /// A program with its arguments, which has so many seconds from now on, for all its runs together.
    pub fn new(command: Vec<String>, seconds: u32) -> Peer {
        Peer {
            command,
            deadline: Instant::now() + Duration::from_secs(seconds.into()),
            seconds,
        }
    }

    /// A command line for the shell.
    pub fn in_shell(line: &str, seconds: u32) -> Peer {
        let shell = if cfg!(windows) {
            ["cmd", "/C"]
        } else {
            ["sh", "-c"]
        };
        let command = shell.into_iter().chain([line]).map(String::from);
        Peer::new(command.collect(), seconds)
    }

    /// One run: a line in for each text, and whatever lines come out. An error is a message.
    pub fn ask(&self, texts: &[String]) -> Result<Vec<String>, String> {
        let mut group = Group::start(&self.command)?;
        let limit = texts.len() as u64 * BYTES.0 + BYTES.1;
        let fed = feed(group.input.take().ok_or("no standard input")?, texts);
        let out = read(group.output.take().ok_or("no standard output")?, limit);
        let told = read(group.messages.take().ok_or("no standard error")?, limit);
        let out = self.wait(&out)?;
        if out.len() as u64 >= limit {
            return Err("it never stops writing".into());
        }
        let status = self.wait_for_end(&mut group)?;
        if !status.success() {
            let told = told.recv_timeout(PAUSE * 100).unwrap_or_default();
            return Err(format!("{status}{}", last_words(&told)));
        }
        // Whoever has answered may leave the rest unread: the number of lines tells.
        drop(fed);
        let text = String::from_utf8(out).map_err(|_| "its output is not UTF-8")?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn wait<T>(&self, from: &Receiver<T>) -> Result<T, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        from.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => self.late(),
            RecvTimeoutError::Disconnected => "its output could not be read".to_owned(),
        })
    }

    fn wait_for_end(&self, group: &mut Group) -> Result<ExitStatus, String> {
        loop {
            match group.child.try_wait().map_err(|e| e.to_string())? {
                Some(status) => {
                    group.ended = true;
                    return Ok(status);
                }
                None if Instant::now() >= self.deadline => return Err(self.late()),
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    fn late(&self) -> String {
        let seconds = self.seconds;
        format!(
            "it had not ended after {seconds} seconds; it must end when its input does, and --seconds gives it more time"
        )
    }
}

/// A running program with all that it started. Ended when dropped.
struct Group {
    child: Child,
    /// Whether it has ended: its number may then be another's.
    ended: bool,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    messages: Option<ChildStderr>,
}

impl Group {
    fn start(command: &[String]) -> Result<Group, String> {
        let mut start = Command::new(&command[0]);
        start
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut start, 0);
        let mut child = start.spawn().map_err(|e| format!("cannot run it: {e}"))?;
        Ok(Group {
            input: child.stdin.take(),
            output: child.stdout.take(),
            messages: child.stderr.take(),
            ended: false,
            child,
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // If it fails, there is nothing left to end.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes the lines from a thread of its own.
fn feed(mut stdin: ChildStdin, texts: &[String]) -> Receiver<()> {
    let input = texts.join("\n") + "\n";
    let (done, fed) = mpsc::channel();
    std::thread::spawn(move || {
        // A program that stops reading shows in what it writes.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let _ = done.send(());
    });
    fed
}

/// Reads all there is from a thread of its own.
fn read(from: impl Read + Send + 'static, limit: u64) -> Receiver<Vec<u8>> {
    let (done, all) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if from.take(limit).read_to_end(&mut bytes).is_ok() {
            let _ = done.send(bytes);
        }
    });
    all
}

/// The end of what a program said before it failed.
fn last_words(told: &[u8]) -> String {
    let told = String::from_utf8_lossy(told);
    let line = told.trim().lines().last().unwrap_or_default();
    match line.char_indices().rev().nth(SHOWN - 1) {
        _ if line.is_empty() => String::new(),
        Some((from, _)) => format!(": ...{}", &line[from..]),
        None => format!(": {line}"),
    }
}
