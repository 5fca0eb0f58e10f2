//! Lists of words: built-in ones by name, others from files.

use std::path::Path;
use std::sync::Arc;

use brr::{Model, Policy, WordList};
use brr_english::LISTS;

use crate::failure::{Failure, Result};
use crate::input;
use crate::output::is_standard;

/// The options that say what is private.
#[derive(clap::Args)]
pub struct PolicyArgs {
    /// Leave the words of this list as they are, and privatize all others: a built-in list
    /// (function-words, names, places; names+places for both) or a file with a word on each line. Which words of the list
    /// stand where is then public. May be given several times
    #[arg(long, value_name = "LIST", conflicts_with = "private")]
    public: Vec<String>,
    /// Privatize the words of this list alone, and those that the model does not know. All other words
    /// are then public. May be given several times
    #[arg(long, value_name = "LIST")]
    private: Vec<String>,
}

impl PolicyArgs {
    /// Which words are private.
    pub fn policy(&self, model: &Model) -> Result<Policy> {
        if let Some(list) = all_of("--public", &self.public, model)? {
            return Ok(Policy::AllBut(Arc::new(list)));
        }
        let private = all_of("--private", &self.private, model)?;
        Ok(private.map_or(Policy::All, |list| Policy::Only(Arc::new(list))))
    }
}

/// The words of all these lists.
pub fn all_of(option: &str, lists: &[String], model: &Model) -> Result<Option<WordList>> {
    let mut all: Option<WordList> = None;
    for list in lists {
        let found = open(option, list, model)?;
        all = Some(match &all {
            Some(before) => before.and(&found, model)?,
            None => found,
        });
    }
    Ok(all)
}

/// Whether this is the name of a built-in list, or of several.
pub fn is_built_in(list: &str) -> bool {
    let one = |part: &str| LISTS.iter().any(|(name, ..)| *name == part);
    list.split('+').all(one)
}

fn open(option: &str, list: &str, model: &Model) -> Result<WordList> {
    let told = |error: brr::Error| Failure::Usage(format!("{option}: {error}"));
    if is_built_in(list) {
        return brr_english::list(list, model).map_err(told);
    }
    let path = Path::new(list);
    if !path.is_file() && !is_standard(path) {
        let names = LISTS.map(|(name, ..)| name).join(", ");
        return Err(Failure::Usage(format!(
            "{option}: neither a built-in list ({names}) nor a file"
        )));
    }
    let Ok(text) = String::from_utf8(input::bytes(path)?) else {
        return Err(Failure::Usage(format!("{option}: the file is not UTF-8")));
    };
    let name = match is_standard(path) {
        true => input::STANDARD.into(),
        false => path.file_name().unwrap_or_default().to_string_lossy(),
    };
    WordList::new(&name, &text, model).map_err(told)
}
