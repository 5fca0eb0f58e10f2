//! The same options, names, numbers and kinds of errors in the program and in every binding: each
//! is looked up in the file that its users read, and compared with the core's own tables.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use brr::{Budget, Case, Choice, ErrorKind, Layout, MechanismKind, Options, Search, Unknown};

type Names = BTreeSet<String>;

fn names<T: Into<String>>(all: impl IntoIterator<Item = T>) -> Names {
    all.into_iter().map(Into::into).collect()
}

/// The part of a file between two marks.
fn part(file: &str, from: &str, to: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let (_, rest) = text
        .split_once(from)
        .unwrap_or_else(|| panic!("{file} has no {from}"));
    rest.split_once(to)
        .unwrap_or_else(|| panic!("{file}: no {to}"))
        .0
        .to_owned()
}

/// Names before a colon: parameters, fields and members, in most languages.
fn declared(text: &str) -> Names {
    let code = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with(['/', '*', '#']));
    let before = code.filter_map(|line| Some(line.split_once(':')?.0));
    let last = before.filter_map(|line| line.split_whitespace().last());
    names(last.map(|name| name.trim_end_matches('?')))
}

/// Options of the core, a budget and a policy by each of their names.
fn options() -> Names {
    let mut all = flat();
    all.remove("budget");
    all.extend(Budget::NAMES.map(str::to_owned));
    all
}

/// Fields of the core's `Options` as surfaces state them: a policy by one of two lists; proper nouns
/// come with the case.
fn flat() -> Names {
    let mut all = fields();
    for name in ["policy", "proper_nouns"] {
        assert!(all.remove(name), "{name}");
    }
    all.extend(["public", "private"].map(str::to_owned));
    all
}

/// Fields of the core's `Options`, none forgotten: they are as the type itself prints them.
fn fields() -> Names {
    let printed = format!("{:#?}", Options::default());
    let top = printed
        .lines()
        .filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    names(top.filter_map(|line| Some(line.trim().split_once(':')?.0)))
}

/// Option, names.
fn choices() -> Vec<(&'static str, Vec<&'static str>)> {
    fn of<T: Choice>() -> Vec<&'static str> {
        T::ALL.iter().map(|(name, ..)| *name).collect()
    }
    let all = vec![
        ("mechanism", of::<MechanismKind>()),
        ("layout", of::<Layout>()),
        ("unknown", of::<Unknown>()),
        ("search", of::<Search>()),
        ("case", of::<Case>()),
    ];
    let mut listed = names(all.iter().map(|(option, _)| *option));
    let others = ["budget", "context", "policy", "proper_nouns"];
    listed.extend(others.map(str::to_owned));
    assert_eq!(
        listed,
        fields(),
        "a new option of the core is missing in this test"
    );
    all
}

fn numbers() -> Names {
    let model = brr_english::model().unwrap().into();
    let privatizer = brr::Privatizer::new(model, Options::default()).unwrap();
    let numbers = privatizer.guarantee().numbers();
    names(numbers.map(|(name, _)| name))
}

/// `multi-index` as `MultiIndex`.
fn pascal(name: &str) -> String {
    let parts = name.split(['-', '_']);
    parts
        .map(|part| part[..1].to_uppercase() + &part[1..])
        .collect()
}

fn camel(name: &str) -> String {
    let pascal = pascal(name);
    pascal[..1].to_lowercase() + &pascal[1..]
}

#[test]
fn the_program_has_every_option() {
    let help = Command::new(env!("CARGO_BIN_EXE_brr"))
        .args(["privatize", "--help"])
        .output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    for option in options() {
        let flag = format!("--{option}");
        assert!(help.split_whitespace().any(|word| word == flag), "{flag}");
    }
    for (option, all) in choices() {
        let (_, about) = help.split_once(&format!("--{option} ")).unwrap();
        let about = about.split("\n      --").next().unwrap();
        for name in all {
            assert!(about.contains(&format!("- {name}:")), "--{option} {name}");
        }
    }
}

#[test]
fn python_has_every_option() {
    let folder = "bindings/python/python/brr";
    for (file, from, besides) in [
        ("_native.pyi", "class Privatizer:", vec!["model"]),
        ("privatizer.py", "def __new__(", vec!["model"]),
        ("sklearn.py", "def __init__(", vec!["model", "threads"]),
        ("spark.py", "def privatize(", vec!["df", "columns", "model"]),
    ] {
        let mut found = declared(&part(&format!("{folder}/{file}"), from, ") ->"));
        for name in besides {
            assert!(found.remove(name), "{file}: {name}");
        }
        assert_eq!(found, options(), "{file}");
    }
    let files = part(&format!("{folder}/files.py"), "def privatize_file(", ") ->");
    assert!(declared(&files).is_superset(&options()), "files.py");
    for (option, all) in choices() {
        let literal = format!("\n{} = Literal[", pascal(option));
        let found = part(&format!("{folder}/choices.py"), &literal, "]");
        assert_eq!(
            names(found.split(", ").map(|name| name.trim_matches('"'))),
            names(all)
        );
    }
}

#[test]
fn c_has_every_option() {
    let header = "bindings/c/include/brr.h";
    let members = |name: &str| {
        let body = part(header, &format!("struct {name} {{"), "}");
        let lines = body
            .lines()
            .map(str::trim)
            .filter(|line| line.ends_with(';'));
        let last = lines.filter_map(|line| line.trim_end_matches(';').split_whitespace().last());
        names(last.map(|name| name.trim_start_matches('*')))
    };
    let mut fields = flat();
    fields.insert("value".into());
    // `public` and `private` are words of C++.
    for list in ["public", "private"] {
        assert!(fields.remove(list));
        fields.insert(format!("{list}_words"));
    }
    fields.remove("case");
    fields.insert("letter_case".into());
    assert_eq!(members("brr_options"), fields);
    let mut numbers = numbers();
    numbers.insert("expected_keep".into());
    assert_eq!(members("brr_guarantee"), numbers);
    let text = part(header, "", "#endif  /* BRR_H */");
    let mut all = choices();
    all.push(("budget", Budget::NAMES.to_vec()));
    for (option, expected) in all {
        let prefix = format!("#define BRR_{}_", option.to_uppercase());
        let found = text
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix)?.split(' ').next());
        let found = names(found.map(|name| name.to_lowercase().replace('_', "-")));
        assert_eq!(found, names(expected), "{option}");
    }
}

#[test]
fn uniffi_has_every_option() {
    let file = "bindings/uniffi/src/options.rs";
    assert_eq!(declared(&part(file, "pub struct Options {", "\n}")), flat());
    let mut all = choices();
    all.push(("budget", Budget::NAMES.to_vec()));
    for (option, expected) in all {
        let body = part(file, &format!("pub enum {} {{", pascal(option)), "\n}");
        let lines = body
            .lines()
            .filter(|line| line.starts_with("    ") && !line.starts_with("     "));
        let code = lines
            .map(str::trim)
            .filter(|line| line.starts_with(char::is_uppercase));
        let found = names(code.map(|line| line.trim_end_matches([',', '{', ' '])));
        assert_eq!(
            found,
            names(expected.iter().map(|name| pascal(name))),
            "{option}"
        );
    }
    let mut numbers = numbers();
    numbers.extend(["metric", "expected_keep", "losses"].map(str::to_owned));
    let guarantee = part(
        "bindings/uniffi/src/lib.rs",
        "pub struct Guarantee {",
        "\n}",
    );
    assert_eq!(declared(&guarantee), numbers);
}

#[test]
fn javascript_has_every_option() {
    let file = "bindings/wasm/js/brr.d.ts";
    let mut found = declared(&part(file, "interface Budget {", "\n}"));
    found.extend(declared(&part(
        file,
        "interface Options extends Budget {",
        "\n}",
    )));
    assert_eq!(found, options());
    for (option, all) in choices() {
        let found = part(file, &format!("type {}Name = ", pascal(option)), ";");
        assert_eq!(
            names(found.split(" | ").map(|name| name.trim_matches('"'))),
            names(all)
        );
    }
    let mut numbers: Names = numbers().iter().map(|name| camel(name)).collect();
    let besides = [
        "mechanism",
        "metric",
        "expectedKeep",
        "keptWords",
        "adjacency",
        "losses",
    ];
    numbers.extend(besides.map(str::to_owned));
    assert_eq!(
        declared(&part(file, "interface Guarantee {", "\n}")),
        numbers
    );
}

#[test]
fn every_language_has_every_kind_of_error_and_number() {
    let python = part("bindings/python/python/brr/__init__.py", "__all__ = [", "]");
    let uniffi = part(
        "bindings/uniffi/src/failure.rs",
        "pub enum BrrError {",
        "\n}",
    );
    let javascript = part("bindings/wasm/js/brr.d.ts", "type ErrorCode =", ";");
    for kind in ErrorKind::ALL.map(ErrorKind::name) {
        let class = pascal(kind);
        assert!(python.contains(&format!("\"{class}Error\"")), "{class}");
        assert!(uniffi.contains(&format!("    {class}(")), "{class}");
        assert!(javascript.contains(&format!("\"{kind}\"")), "{kind}");
    }
    let guarantee = part(
        "bindings/python/python/brr/_native.pyi",
        "class Guarantee:",
        "@final",
    );
    for number in numbers() {
        assert!(
            guarantee.contains(&format!("def {number}(self)")),
            "{number}"
        );
    }
}

#[test]
fn every_binding_says_that_case_is_lost_and_how_to_get_it_back() {
    for binding in ["c", "python", "uniffi", "wasm"] {
        let file = format!("bindings/{binding}/README.md");
        let said = part(&file, "Case is lost", "\n## ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for point in ["capital", "output", "costs no privacy"] {
            assert!(said.contains(point), "{file}: {point}");
        }
    }
}
