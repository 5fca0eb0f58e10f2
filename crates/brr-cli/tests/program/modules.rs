//! Modules of a crate form no circle: each can be read on top of those that it uses.
//!
//! A module uses another if a line of its code names `crate::other`. Tests and comments do not
//! count, nor does what a crate's error wraps. What a folder's files use is what the module of the
//! folder uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Uses = BTreeMap<String, BTreeSet<String>>;

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// The modules that a source names, its tests aside.
fn named(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        let list = match part.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or(""),
            None => part
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or(""),
        };
        let first = |item: &str| item.trim().split("::").next().unwrap_or("").to_owned();
        names.extend(list.split(',').map(first));
    }
    // Types that a crate gives out at its root begin with a capital.
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
    names
}

fn uses_of(source: &Path) -> Uses {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    let mut uses = Uses::new();
    for file in files {
        let inside = file.strip_prefix(source).unwrap().with_extension("");
        let module = inside.iter().next().unwrap().to_string_lossy().into_owned();
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        // An error names what it wraps, and is used by what it wraps.
        if module == "error" {
            continue;
        }
        let mut names = named(&std::fs::read_to_string(&file).unwrap());
        names.remove(&module);
        uses.entry(module).or_default().extend(names);
    }
    let known: BTreeSet<String> = uses.keys().cloned().collect();
    uses.values_mut()
        .for_each(|names| names.retain(|name| known.contains(name)));
    uses
}

/// Modules that are left when those that use none of the others are taken away, again and again.
fn circle(mut uses: Uses) -> Uses {
    loop {
        let free: BTreeSet<String> = uses
            .iter()
            .filter(|(_, names)| names.iter().all(|name| !uses.contains_key(name)))
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            return uses;
        }
        uses.retain(|module, _| !free.contains(module));
        uses.values_mut()
            .for_each(|names| names.retain(|name| !free.contains(name)));
    }
}

#[test]
fn modules_form_no_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in [
        "brr",
        "brr-build",
        "brr-cli",
        "brr-corpus",
        "brr-estimate",
        "brr-eval",
        "brr-search",
    ] {
        let found = circle(uses_of(&crates.join(name).join("src")));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// What two verbs share has a module of its own.
#[test]
fn no_verb_uses_another() {
    let verbs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands");
    let mut files = Vec::new();
    rust_files(&verbs, &mut files);
    assert!(files.len() > 10);
    for file in files {
        let names = named(&std::fs::read_to_string(&file).unwrap());
        assert!(!names.contains("commands"), "{}", file.display());
    }
}

#[test]
fn a_circle_is_found() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (a, b) in pairs {
            uses.entry((*a).into()).or_default().insert((*b).into());
            uses.entry((*b).into()).or_default();
        }
        circle(uses)
    };
    assert!(uses(&[("a", "b"), ("b", "c")]).is_empty());
    assert_eq!(uses(&[("a", "b"), ("b", "c"), ("c", "b")]).len(), 3);
    let names = named("use crate::{one, two::Three};\n// crate::four\nfn f() { crate::five::g() }");
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["five", "one", "two"]
    );
}
