//! Which columns of a CSV file are meant.
//!
//! A column is a name in the header, or a number from 1, with or without `#` before it. A header
//! is copied as it is, so a row of data must not pass for one: if columns are given by number
//! alone, the user has to say whether there is a header. For the same reason a message repeats names
//! of the first row only if the user said that it is a header, and never a name that was asked for, which may be
//! text in the wrong place.

use std::borrow::Cow;

use crate::error::{ColumnProblem, ColumnRole, Error, Result};
use crate::paths::Known;

/// Names in the first row; those that are not UTF-8 are `None`.
type Names<'n> = [Option<Cow<'n, str>>];

/// The places of the columns among the cells of the first row, ascending.
pub fn find(columns: &[String], names: &Names<'_>, header: Option<bool>) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let mut named = false;
    let of = columns.len();
    for (index, column) in columns.iter().enumerate() {
        let role = ColumnRole::Private { index, of };
        let (places, by_name) = places_of(column, role, names, header)?;
        // A row of data may well have a number in it.
        named |= by_name && as_number(column).is_none();
        found.extend(places);
    }
    if header.is_none() && !named {
        return Err(Error::HeaderUnknown);
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
    let role = ColumnRole::Unit;
    let (places, _) = places_of(column, role, names, header)?;
    match places[..] {
        [place] if private.contains(&place) => Err(role.error(ColumnProblem::Private)),
        [place] => Ok(place),
        _ => Err(role.error(ColumnProblem::SeveralOfThatName)),
    }
}

/// The places of one column, and whether they were found by its name.
fn places_of(
    column: &str,
    role: ColumnRole,
    names: &Names<'_>,
    header: Option<bool>,
) -> Result<(Vec<usize>, bool)> {
    let by_name = places(names, |name| name == column);
    let by_number = number(column, names, header);
    if header == Some(false) || by_name.is_empty() {
        return match by_number {
            Ok(place) => Ok((vec![place], false)),
            Err(problem) => {
                let told = names.iter().flatten().map(|name| name.to_string());
                let told = (header == Some(true)).then(|| Known::new(told));
                Err(role.error_among(problem, told.unwrap_or_default()))
            }
        };
    }
    if let Some(other) = by_number.ok().filter(|i| by_name != [*i]) {
        return Err(role.error(ColumnProblem::NameAndNumber {
            sign: if column.starts_with('#') { "" } else { "#" },
            by_number: other + 1,
            by_name: by_name[0] + 1,
        }));
    }
    Ok((by_name, true))
}

fn places(names: &Names<'_>, wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let places = names.iter().enumerate();
    let places = places.filter(|(_, name)| name.as_deref().is_some_and(&wanted));
    places.map(|(i, _)| i).collect()
}

/// A column that is written as a number, whether or not it exists.
fn as_number(column: &str) -> Option<usize> {
    column.strip_prefix('#').unwrap_or(column).parse().ok()
}

/// A column given by its number, or the reason why it is none.
fn number(column: &str, names: &Names<'_>, header: Option<bool>) -> Result<usize, ColumnProblem> {
    let width = names.len();
    match as_number(column) {
        Some(number) if (1..=width).contains(&number) => Ok(number - 1),
        Some(_) => Err(ColumnProblem::NoSuchNumber(width)),
        None if header == Some(false) => Err(ColumnProblem::NotANumber(width)),
        None => {
            let plain = |name: &str| name.trim().to_lowercase();
            let alike = places(names, |name| plain(name) == plain(column));
            Err(match alike.first() {
                Some(place) => ColumnProblem::NearlyNamed(place + 1),
                None => ColumnProblem::NoSuchName(width),
            })
        }
    }
}
