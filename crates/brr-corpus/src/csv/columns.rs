//! Which columns of a CSV file are meant.
//!
//! A column is a name in the header, or a number from 1, with or without `#` before it. A header
//! is copied as it is, so a row of data must not pass for one: if columns are given by number
//! alone, the user has to say whether there is a header. For the same reason no message repeats
//! a name that is in the file, nor one that was asked for, which may be text in the wrong place.

use std::borrow::Cow;

use crate::error::{Error, Result, UNIT_IS_PRIVATE, nth_option};

/// Names in the first row; those that are not UTF-8 are `None`.
type Names<'n> = [Option<Cow<'n, str>>];

/// The places of the columns among the cells of the first row, ascending.
pub fn find(columns: &[String], names: &Names<'_>, header: Option<bool>) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let mut named = false;
    for (i, column) in columns.iter().enumerate() {
        let option = nth_option("--column", i, columns.len());
        let (places, by_name) = of(column, &option, names, header)?;
        // A row of data may well have a number in it.
        named |= by_name && as_number(column).is_none();
        found.extend(places);
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

/// The place of the column that names units, which is none of the private ones.
pub fn find_unit(
    column: &str,
    private: &[usize],
    names: &Names<'_>,
    header: Option<bool>,
) -> Result<usize> {
    let (places, _) = of(column, "--unit", names, header)?;
    match places[..] {
        [place] if private.contains(&place) => Err(Error::Usage(UNIT_IS_PRIVATE.into())),
        [place] => Ok(place),
        _ => Err(Error::Usage(
            "--unit: several columns have that name; give the number of one".into(),
        )),
    }
}

/// The places of one column, and whether they were found by its name.
fn of(
    column: &str,
    option: &str,
    names: &Names<'_>,
    header: Option<bool>,
) -> Result<(Vec<usize>, bool)> {
    let by_name = places(names, |name| name == column);
    let by_number = number(column, names, header);
    if header == Some(false) || by_name.is_empty() {
        return match by_number {
            Ok(place) => Ok((vec![place], false)),
            Err(problem) => Err(Error::Usage(format!("{option}: {problem}"))),
        };
    }
    if let Some(other) = by_number.ok().filter(|i| by_name != [*i]) {
        let sign = if column.starts_with('#') { "" } else { "#" };
        return Err(Error::Usage(format!(
            "{option}: it is the name of one column and the number of another; write {sign}{} for the number, or {sign}{} for the one of that name",
            other + 1,
            by_name[0] + 1
        )));
    }
    Ok((by_name, true))
}

fn places(names: &Names<'_>, wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let places = names.iter().enumerate();
    let places = places.filter(|(_, name)| name.as_deref().is_some_and(&wanted));
    places.map(|(i, _)| i).collect()
}

/// A column that is written as a number, whether there are so many or not.
fn as_number(column: &str) -> Option<usize> {
    column.strip_prefix('#').unwrap_or(column).parse().ok()
}

/// A column given by its number, or the reason why it is none.
fn number(column: &str, names: &Names<'_>, header: Option<bool>) -> Result<usize, String> {
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
