//! Files that brr writes belong to the user who runs it until they are published, whatever the
//! umask, and nothing is written through a link that somebody else put there.

use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Folder, Ran, build_small, run, tiny_model};

const UMASKS: [u32; 5] = [0o000, 0o022, 0o027, 0o077, 0o177];

/// The program, under a umask.
fn under(umask: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("umask {umask:04o}; exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_brr"),
    ]);
    command.args(args).stdin(Stdio::null());
    command
}

fn run_under(umask: u32, args: &[&str]) -> Ran {
    under(umask, args).output().unwrap().into()
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path)
        .unwrap()
        .permissions()
        .mode()
        & 0o7777
}

/// A folder with a model and a CSV file whose last row is bad unless it is skipped.
struct Case {
    folder: Folder,
    args: Vec<String>,
}

impl Case {
    fn new() -> Case {
        let folder = Folder::new();
        let model = folder.file("m.brr", &tiny_model());
        let rows = "1,the film was good\n".repeat(2000);
        let input = folder.file("in.csv", format!("id,body\n{rows}oops\n").as_bytes());
        let fixed = [
            "privatize",
            "-q",
            "--mechanism",
            "brr",
            "--epsilon",
            "30",
            "--column",
            "body",
        ];
        let mut args: Vec<String> = fixed.map(String::from).into();
        let (output, manifest) = (folder.name("out.csv"), folder.name("run.json"));
        let files = crate::support::files(&model, &input, &output, &manifest);
        args.extend(files.map(String::from));
        Case { folder, args }
    }

    fn with<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let args = self.args.iter().map(String::as_str);
        args.chain(more.iter().copied()).collect()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path(name)
    }
}

#[test]
fn unfinished_files_are_the_owners_and_finished_data_follow_the_umask() {
    for umask in UMASKS {
        let case = Case::new();
        let stopped = run_under(umask, &case.with(&[]));
        assert_eq!(stopped.code, 1, "{}", stopped.stderr);
        for name in ["out.csv.partial", "out.csv.checkpoint"] {
            assert_eq!(mode(&case.path(name)), 0o600, "{name} under {umask:03o}");
        }
        let done = run_under(umask, &case.with(&["--resume", "--on-bad-row", "skip"]));
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(mode(&case.path("out.csv")), 0o666 & !umask, "{umask:03o}");
        assert_eq!(mode(&case.path("run.json")), 0o600, "under {umask:03o}");
        // A stream has no checkpoint, but its file is whole or not at all.
        let output = case.folder.name("out.txt");
        let text = ["privatize", "-q", "--keep", "0.5", "x", "--output", &output];
        assert_eq!(run_under(umask, &text).code, 0);
        assert_eq!(mode(Path::new(&output)), 0o666 & !umask, "{umask:03o}");
    }
}

#[test]
fn models_are_ordinary_data() {
    let folder = Folder::new();
    assert_eq!(build_small(&folder, 20, "first.brr", &[]).code, 0);
    let (vectors, model) = (folder.name("v.txt"), folder.name("m.brr"));
    let args = ["build", &vectors, "-o", &model, "--bits", "64"];
    let built = run_under(0o027, &[&args[..], &["--no-certificates"]].concat());
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert_eq!(mode(Path::new(&model)), 0o640);
}

/// Looks at every file as often as it can while the program runs.
#[test]
fn no_unfinished_file_is_ever_open_to_others() {
    let case = Case::new();
    let skip = ["--on-bad-row", "skip", "--checkpoint-seconds", "0"];
    let mut child = under(0, &case.with(&skip)).spawn().unwrap();
    let mut ended = false;
    while !ended {
        ended = child.try_wait().unwrap().is_some();
        for name in case.folder.listing_now() {
            let unfinished = [".partial", ".checkpoint", ".new", ".tmp", "run.json"];
            if !unfinished.iter().any(|end| name.ends_with(end)) {
                continue;
            }
            if let Ok(found) = std::fs::symlink_metadata(case.path(&name)) {
                // The output may have taken its name since the folder was listed.
                let open = found.permissions().mode() & 0o077 != 0;
                assert!(!open, "{name} is open to others");
            }
        }
    }
    assert!(child.wait().unwrap().success());
}

/// Final names that are links of this user's own are followed. Where the
/// system lets a link be given away, those of another user are tried.
#[test]
fn nothing_is_written_through_a_planted_link() {
    let names = [
        "out.csv.partial",
        "out.csv.checkpoint",
        "out.csv.checkpoint.new",
        "out.csv",
        "run.json",
    ];
    for name in names {
        for more in [&[][..], &["--resume"], &["--force"]] {
            for target_exists in [false, true] {
                let case = Case::new();
                let victim = case.path("victim");
                if target_exists {
                    std::fs::write(&victim, "untouched").unwrap();
                }
                symlink(&victim, case.path(name)).unwrap();
                let given_away = lchown(case.path(name), Some(65_534), None).is_ok();
                if !given_away && is_final(name) {
                    continue;
                }
                let args = [more, &["--on-bad-row", "skip", "--checkpoint-seconds", "0"]].concat();
                let ran = run(&case.with(&args));
                let told = format!("{name} {more:?}: {}", ran.stderr);
                match std::fs::read_to_string(&victim) {
                    Ok(text) => assert!(target_exists && text == "untouched", "{told}"),
                    Err(_) => assert!(!target_exists, "{told}"),
                }
                // Either it was refused, or every name is now a file of its own.
                if ran.code == 0 {
                    for name in ["out.csv", "run.json"] {
                        let found = std::fs::symlink_metadata(case.path(name)).unwrap();
                        assert!(found.is_file(), "{told}");
                    }
                } else {
                    assert_eq!(ran.stderr.lines().count(), 1, "{told}");
                }
                assert_eq!(ran.code == 0, allowed(name, more), "{told}");
            }
        }
    }
}

fn is_final(name: &str) -> bool {
    matches!(name, "out.csv" | "run.json")
}

/// Whether a run goes on although this name is a link.
fn allowed(name: &str, more: &[&str]) -> bool {
    match name {
        "out.csv.checkpoint.new" => true,
        _ => !is_final(name) && more == ["--force"],
    }
}

#[test]
fn an_unfinished_run_is_not_continued_through_a_link() {
    for name in ["out.csv.partial", "out.csv.checkpoint"] {
        let case = Case::new();
        assert_eq!(run(&case.with(&[])).code, 1);
        let elsewhere = case.path("elsewhere");
        std::fs::rename(case.path(name), &elsewhere).unwrap();
        symlink(&elsewhere, case.path(name)).unwrap();
        let before = std::fs::read(&elsewhere).unwrap();
        let ran = run(&case.with(&["--resume", "--on-bad-row", "skip"]));
        crate::support::assert_one_line(&ran, ran.code, &[name]);
        assert_ne!(ran.code, 0);
        assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
    }
}
