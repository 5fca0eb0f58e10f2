//! Which columns of a CSV file are meant.
//!
//! A column is a name in the header, or a number from 1, with or without `#` before it. A header
//! is copied as it is, so a row of data must not pass for one: if columns are given by number
//! alone, the user has to say whether there is a header. For the same reason no message repeats
//! a name that is in the file, nor one that was asked for, which may be text in the wrong place.

use std::borrow::Cow;

use crate::error::{Error, Result, nth_option};

/// The places of the columns among the cells of the first row (those that are not UTF-8 are
/// `None`), ascending.
pub fn find(
    columns: &[String],
    names: &[Option<Cow<'_, str>>],
    header: Option<bool>,
) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let mut named = false;
    for (i, column) in columns.iter().enumerate() {
        let option = nth_option("--column", i, columns.len());
        let by_name = places(names, |name| name == column);
        if header == Some(false) || by_name.is_empty() {
            let place = number(column, names, header);
            let place = place.map_err(|problem| Error::Usage(format!("{option}: {problem}")))?;
            found.push(place);
            continue;
        }
        let by_number = number(column, names, header);
        if let Some(other) = by_number.as_ref().ok().filter(|i| by_name != [**i]) {
            let sign = if column.starts_with('#') { "" } else { "#" };
            return Err(Error::Usage(format!(
                "{option}: it is the name of one column and the number of another; write {sign}{} for the number, or {sign}{} for the one of that name",
                other + 1,
                by_name[0] + 1
            )));
        }
        // A row of data may well have a number in it.
        named |= as_number(column).is_none();
        found.extend(by_name);
    }
    if header.is_none() && !named {
        return Err(Error::Usage(
            "--column: a column by number alone does not tell whether the first row is a header: give --header or --no-header".into(),
        ));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn places(names: &[Option<Cow<'_, str>>], wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let places = names.iter().enumerate();
    let places = places.filter(|(_, name)| name.as_deref().is_some_and(&wanted));
    places.map(|(i, _)| i).collect()
}

/// A column that is written as a number, whether there are so many or not.
fn as_number(column: &str) -> Option<usize> {
    column.strip_prefix('#').unwrap_or(column).parse().ok()
}

/// A column given by its number, or the reason why it is none.
fn number(
    column: &str,
    names: &[Option<Cow<'_, str>>],
    header: Option<bool>,
) -> Result<usize, String> {
    let width = names.len();
    let problem = match as_number(column) {
        Some(number) if (1..=width).contains(&number) => return Ok(number - 1),
        Some(_) => format!("the first row has {width} columns, counted from 1"),
        None if header == Some(false) => {
            format!("without a header, columns are numbers from 1 to {width}")
        }
        None => {
            let plain = |name: &str| name.trim().to_lowercase();
            let alike = places(names, |name| plain(name) == plain(column));
            match alike.first() {
                Some(place) => format!(
                    "the name of column {} differs in case or white space; give it as it is, or #{0} with --header",
                    place + 1
                ),
                None => format!(
                    "no such name among the {width} cells of the first row; check --delimiter, or give a number"
                ),
            }
        }
    };
    Err(problem)
}
