//! What is said about a wrong call.
//!
//! An option's value may be the user's text: somebody writes `--input "my text"`, or forgets the
//! name of the option before it. So a message about the command line is made here, from the
//! kind of the mistake, the option's name and the values that it may have; never from what was
//! given, which clap's own messages repeat.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use brr::Choice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};

/// Why a value is refused, in words that do not hold the value.
#[derive(Debug)]
pub struct Refused(String);

impl Refused {
    /// The words must not hold the value.
    pub fn new(words: impl Into<String>) -> Refused {
        Refused(words.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// A whole number in a range; clap's own parser of ranges repeats what does not fit.
pub fn whole<T: TryFrom<u64>, const LOW: u64, const HIGH: u64>(text: &str) -> Result<T, Refused> {
    let number = text.parse().ok().filter(|n| (LOW..=HIGH).contains(n));
    let number = number.and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| Refused(format!("must be a whole number from {LOW} to {HIGH}")))
}

/// A positive finite number.
pub fn positive(text: &str) -> Result<f64, Refused> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err(Refused::new("must be a positive number, such as 0.5")),
    }
}

/// A number between 0 and 1.
pub fn share(text: &str) -> Result<f64, Refused> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err(Refused::new("must lie between 0 and 1, such as 0.5")),
    }
}

/// Reads a choice by its name in the core's table, and lists the names in help and messages.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter();
    let values = values.map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    // Only names of the table come through.
    PossibleValuesParser::new(values).map(|name| T::parse(&name).unwrap_or_default())
}

/// Prints clap's help as it is, and what is wrong with a call in one line.
pub fn explain(error: &clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
        _ => {
            tell!("error: {}", message(error));
            ExitCode::from(2)
        }
    }
}

fn message(error: &clap::Error) -> String {
    let options = names(error, ContextKind::InvalidArg);
    let option = options.first().map_or("an argument", String::as_str);
    let what = match error.kind() {
        ErrorKind::InvalidSubcommand if cfg!(not(feature = "workstation")) => {
            return "the first argument is not a command of this brr, which was built with `privatize` alone; \
                    for the others build it without --no-default-features"
                .into();
        }
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => {
            return "the first argument is not a command; for text: brr privatize TEXT; see `brr help`".into();
        }
        ErrorKind::UnknownArgument => return unknown_argument(error),
        ErrorKind::InvalidValue => match values(error) {
            Some(values) => format!("{option}: its value is not one of {values}"),
            None => format!("{option} needs a value"),
        },
        ErrorKind::ValueValidation => format!("{option}: {}", reason(error)),
        ErrorKind::TooManyValues => format!("{option} takes fewer values, or none"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{option} takes another number of values")
        }
        ErrorKind::NoEquals => format!("{option} needs '=' before its value"),
        ErrorKind::ArgumentConflict => match names(error, ContextKind::PriorArg).join(", ") {
            other if other.is_empty() => format!("{option} cannot be used with other options"),
            other if other == option => format!("{option} cannot be given more than once"),
            other => format!("{option} cannot be used with {other}"),
        },
        ErrorKind::MissingRequiredArgument => format!("missing: {}", options.join(", ")),
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".into(),
        _ => "the call is not understood".into(),
    };
    format!("{what}; see `brr help`")
}

/// What is not a flag may be the user's text.
fn unknown_argument(error: &clap::Error) -> String {
    let similar = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(flag)) => format!(" (did you mean {flag}?)"),
        _ => String::new(),
    };
    format!(
        "an argument is not one of this command's{similar}; text that begins with '-' goes after `--`"
    )
}

/// Options that a mistake is about, without their values' names.
fn names(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    let plain = |name: &String| match name.split_once(' ') {
        Some((flag, _)) if flag.starts_with('-') => flag.to_owned(),
        _ => name.clone(),
    };
    match error.get(kind) {
        Some(ContextValue::String(name)) => vec![plain(name)],
        Some(ContextValue::Strings(names)) => names.iter().map(plain).collect(),
        _ => Vec::new(),
    }
}

/// The values that an option may have.
fn values(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => Some(values.join(", ")),
        _ => None,
    }
}

/// Why a parser refused a value, if the parser is known not to repeat it.
fn reason(error: &clap::Error) -> String {
    use std::num::{ParseFloatError, ParseIntError};
    let source = std::error::Error::source(error);
    match source {
        Some(source) if source.is::<Refused>() => source.to_string(),
        Some(source) if source.is::<ParseIntError>() => "must be a whole number".into(),
        Some(source) if source.is::<ParseFloatError>() => "must be a number".into(),
        _ => "its value does not fit".into(),
    }
}

/// Values on the command line, each with the name of its option.
static GIVEN: OnceLock<Vec<(String, OsString)>> = OnceLock::new();

/// Keeps what was given, to speak of it by its option.
pub fn remember(command: &Command, matches: &ArgMatches) {
    let mut given = Vec::new();
    collect(command, matches, &mut given);
    let _ = GIVEN.set(given);
}

fn collect(command: &Command, matches: &ArgMatches, given: &mut Vec<(String, OsString)>) {
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        // A group's or a flag's own identifier has no raw values.
        if let Ok(Some(values)) = matches.try_get_raw(id) {
            given.extend(values.map(|value| (name(arg), value.to_owned())));
        }
    }
    if let Some((verb, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(verb)
    {
        collect(command, matches, given);
    }
}

fn name(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_value_names()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some([name, ..])) => name.to_string(),
        _ => arg.get_id().to_string(),
    }
}

/// How to call a file. A path at which there is nothing may be text that was given in the wrong
/// place: it is called by the option that it belongs to.
pub fn file_name(path: &Path) -> String {
    if brr_corpus::files::is_there(path) {
        return path.display().to_string();
    }
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut given = GIVEN.get().into_iter().flatten();
    // Names such as OUTPUT.partial and files in a folder begin with what was given.
    let beside =
        |value: &OsString| !value.is_empty() && bytes.starts_with(value.as_encoded_bytes());
    let named = given.clone().filter(|(_, value)| beside(value));
    if let Some((option, _)) = named.max_by_key(|(_, value)| value.len()) {
        return format!("the file given as {option}");
    }
    match given.find(|(_, value)| Path::new(value).parent() == Some(path)) {
        Some((option, _)) => format!("the folder of the file given as {option}"),
        // It was named in a file, or by brr itself.
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    const CANARY: &str = "my secret is qzxj";

    /// Calls `look` with every command that does something, and how it is called.
    fn each_verb(command: &Command, path: &[String], look: &mut impl FnMut(&Command, &[String])) {
        let verbs = command.get_subcommands().filter(|c| c.get_name() != "help");
        for verb in verbs {
            let path = [path, &[verb.get_name().to_owned()]].concat();
            each_verb(verb, &path, look);
            look(verb, &path);
        }
    }

    fn told(path: &[String], args: &[String]) -> Option<String> {
        let call = [&["brr".to_owned()], path, args].concat();
        let error = crate::Cli::command().try_get_matches_from(call).err()?;
        use ErrorKind::{DisplayHelp, DisplayVersion};
        let help = matches!(error.kind(), DisplayHelp | DisplayVersion);
        (!help).then(|| message(&error))
    }

    #[test]
    fn no_option_of_any_verb_repeats_its_value() {
        let mut refused = 0;
        let mut command = crate::Cli::command();
        command.build();
        each_verb(&command, &[], &mut |verb, path| {
            for arg in verb.get_arguments() {
                let canary = CANARY.to_owned();
                let calls = match (arg.get_long(), arg.get_short()) {
                    (Some(long), short) => {
                        let long = format!("--{long}");
                        let mut calls = vec![
                            vec![format!("{long}={CANARY}")],
                            vec![long.clone(), canary.clone()],
                            vec![long, canary.clone(), canary.clone()],
                        ];
                        let short = short.map(|short| vec![format!("-{short}"), canary]);
                        calls.extend(short);
                        calls
                    }
                    _ => vec![vec![canary.clone()], vec![format!("--{CANARY}")]],
                };
                for call in calls {
                    if let Some(told) = told(path, &call) {
                        refused += 1;
                        assert!(!told.contains("qzxj"), "{path:?} {call:?}: {told}");
                        assert!(!told.contains("secret"), "{path:?} {call:?}: {told}");
                    }
                }
            }
        });
        assert!(refused > 100, "only {refused} calls were refused");
    }

    #[test]
    fn a_message_names_the_option_and_the_way_out() {
        let told = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
            told(&["privatize".to_owned()], &args).unwrap()
        };
        let layout = told(&["--layout", "none"]);
        assert!(
            layout.contains("--layout") && layout.contains("keep, words"),
            "{layout}"
        );
        assert!(told(&["--layout"]).contains("--layout: its value is not one of"));
        assert!(told(&["--epsilon"]).contains("--epsilon needs a value"));
        assert!(told(&["--threads", "0"]).contains("from 1 to 65535"));
        assert!(told(&["--force=yes"]).contains("--force takes"));
        let both = told(&["--epsilon", "1", "--keep", "0.5"]);
        assert!(
            both.contains("--epsilon cannot be used with --keep"),
            "{both}"
        );
    }
}
