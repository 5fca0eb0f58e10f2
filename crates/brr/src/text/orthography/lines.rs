//! The lines of a table, read distrustfully, and written in one way only.

use std::fmt;

use super::{Fold, Form, MARKS, Orthography, Words, contraction};

/// Longest section.
pub const MOST_BYTES: usize = 64 << 10;
/// Most elisions, endings, stems.
const MOST_PARTS: usize = 256;
/// Most function words, and the longest.
const MOST_WORDS: usize = 2000;
const LONGEST_WORD: usize = 128;
/// Function words on a line, as they are written.
const WORDS_A_LINE: usize = 12;

/// A line that a table cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Its number, from 1; 0 if a line is missing.
    pub line: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(self.reason),
            line => write!(f, "line {line}: {}", self.reason),
        }
    }
}

impl std::error::Error for LineError {}

pub fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    let found = names.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

fn named<T: Copy>(names: &[(&str, T)], values: &[&str]) -> Result<T, &'static str> {
    let found = match values {
        [value] => names.iter().find(|(name, _)| name == value),
        _ => None,
    };
    found
        .map(|(_, value)| *value)
        .ok_or("there is no such choice")
}

/// What the lines said so far.
#[derive(Default)]
struct Lines {
    version: bool,
    language: Option<(String, String)>,
    script: Option<String>,
    words: Option<Words>,
    fold: Option<Fold>,
    form: Option<Form>,
    marks: Option<String>,
    parts: [Vec<(String, String)>; 3],
    function_words: Vec<String>,
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), &'static str> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err("the line is there twice"),
    }
}

pub fn parse(text: &str) -> Result<Orthography, LineError> {
    let mut lines = Lines::default();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let values: Vec<&str> = content.split_whitespace().collect();
        lines
            .add(values[0], &values[1..])
            .map_err(|reason| LineError { line, reason })?;
    }
    lines
        .table()
        .map_err(|reason| LineError { line: 0, reason })
}

impl Lines {
    fn add(&mut self, key: &str, values: &[&str]) -> Result<(), &'static str> {
        if !self.version {
            self.version = (key, values) == ("orthography", &["1"]);
            return match self.version {
                true => Ok(()),
                false => Err(
                    "the first line must be `orthography 1`: the only version that this build reads",
                ),
            };
        }
        match key {
            "language" => once(&mut self.language, language(values)?),
            "script" => once(&mut self.script, script(values)?),
            "words" => once(&mut self.words, named(&Words::NAMES, values)?),
            "fold" => once(&mut self.fold, named(&Fold::NAMES, values)?),
            "form" => once(&mut self.form, named(&Form::NAMES, values)?),
            "marks" => once(&mut self.marks, marks(values)?),
            "elision" => self.part(0, values, |part| part.ends_with('\'')),
            "ending" => self.part(1, values, |part| {
                part.contains('\'') && !part.ends_with('\'')
            }),
            "stem" => self.part(2, values, |part| !part.contains('\'')),
            "function-words" => self.words(values),
            _ => Err("there is no such key"),
        }
    }

    fn part(
        &mut self,
        kind: usize,
        values: &[&str],
        has_shape: impl Fn(&str) -> bool,
    ) -> Result<(), &'static str> {
        let [part, full] = values else {
            return Err("a part of a word and the word that it stands for are wanted");
        };
        let apostrophes = part.matches('\'').count();
        let long = part.chars().count() > contraction::LONGEST || full.len() > LONGEST_WORD;
        let letters = |word: &str| {
            let all = word.chars().all(|c| c.is_alphabetic() || c == '\'');
            all && word.contains(char::is_alphabetic)
        };
        if long || apostrophes > 1 || !letters(part) || !letters(full) || !has_shape(part) {
            return Err(
                "not an elision with its apostrophe behind, an ending with one before or in it, or a stem without",
            );
        }
        let parts = &mut self.parts[kind];
        if parts.iter().any(|(known, _)| known == part) || parts.len() == MOST_PARTS {
            return Err("the part is there twice, or there are too many");
        }
        parts.push(((*part).to_owned(), (*full).to_owned()));
        Ok(())
    }

    fn words(&mut self, values: &[&str]) -> Result<(), &'static str> {
        for word in values {
            let fits = word.len() <= LONGEST_WORD && !word.contains(char::is_control);
            if !fits || self.function_words.len() == MOST_WORDS {
                return Err("a word is too long or has a control character, or there are too many");
            }
            if !self.function_words.iter().any(|known| known == word) {
                self.function_words.push((*word).to_owned());
            }
        }
        Ok(())
    }

    fn table(self) -> Result<Orthography, &'static str> {
        let missing = "a line is missing: language, script, words, fold and form are needed";
        let (code, name) = self.language.ok_or(missing)?;
        let [elisions, endings, stems] = self.parts;
        let table = Orthography {
            longest_ending: Orthography::longest_of(&endings),
            code,
            name,
            script: self.script.ok_or(missing)?,
            words: self.words.ok_or(missing)?,
            fold: self.fold.ok_or(missing)?,
            form: self.form.ok_or(missing)?,
            marks: self.marks.unwrap_or_default(),
            elisions,
            endings,
            stems,
            function_words: self.function_words,
        };
        let parts = [&table.elisions, &table.endings, &table.stems];
        let folded = |part: &String| table.form(part, true) == *part;
        if !parts.into_iter().flatten().all(|(part, _)| folded(part)) {
            return Err("a part of a word is not in lower case and in its normal form");
        }
        Ok(table)
    }
}

fn language(values: &[&str]) -> Result<(String, String), &'static str> {
    let wanted = "a language has a code of two or three letters, and a name";
    let [code, name @ ..] = values else {
        return Err(wanted);
    };
    let code_fits = (2..=3).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase());
    let name = name.join(" ");
    let plain = |c: char| c.is_alphanumeric() || " -()".contains(c);
    let name_fits = (1..=64).contains(&name.len()) && name.chars().all(plain);
    match code_fits && name_fits {
        true => Ok(((*code).to_owned(), name)),
        false => Err(wanted),
    }
}

fn script(values: &[&str]) -> Result<String, &'static str> {
    let fits = |name: &str| {
        let [first, rest @ ..] = name.as_bytes() else {
            return false;
        };
        name.len() == 4 && first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase)
    };
    match values {
        [name] if fits(name) => Ok((*name).to_owned()),
        _ => Err("a script has a name of four letters, as in ISO 15924"),
    }
}

fn marks(values: &[&str]) -> Result<String, &'static str> {
    let [marks] = values else {
        return Err("marks stand in a row");
    };
    let twice = |(at, c): (usize, char)| marks[..at].contains(c);
    if marks.chars().any(|c| !MARKS.contains(c)) || marks.char_indices().any(twice) {
        return Err("a mark is not one of those that a table may add, or is there twice");
    }
    Ok((*marks).to_owned())
}

impl Orthography {
    /// The lines of the table, which [`parse`](Self::parse) reads.
    pub fn to_lines(&self) -> String {
        let mut lines = format!(
            "orthography 1\nlanguage {} {}\nscript {}\nwords {}\nfold {}\nform {}\n",
            self.code,
            self.name,
            self.script,
            self.words_name(),
            name_of(&Fold::NAMES, self.fold),
            name_of(&Form::NAMES, self.form),
        );
        if !self.marks.is_empty() {
            lines.push_str(&format!("marks {}\n", self.marks));
        }
        let parts = [
            ("elision", &self.elisions),
            ("ending", &self.endings),
            ("stem", &self.stems),
        ];
        for (key, parts) in parts {
            for (part, full) in parts {
                lines.push_str(&format!("{key} {part} {full}\n"));
            }
        }
        for words in self.function_words.chunks(WORDS_A_LINE) {
            lines.push_str(&format!("function-words {}\n", words.join(" ")));
        }
        lines
    }
}
