//! Which tokens are integers, and which are identifiers: by their characters alone.
//!
//! An *integer* is one to six digits without a leading zero, or more in groups of three with commas between
//! (`1,000,000`), with or without a minus. An *identifier* is anything of digits and of the marks `+ - . / ( )` with a
//! leading zero in a plain number, or with at least seven digits; groups of digits with a single space or a dash between
//! them count together, so that a card number or a telephone number in groups is an identifier whole, and none of its
//! groups passes for an integer. Anything else is a word.

use crate::text::Piece;

/// Digits from which on a number is an identifier.
const MANY: usize = 7;

/// What kind of number a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// To be moved by noise.
    Integer,
    /// To get new digits.
    Identifier,
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Whether it is of digits and marks that identifiers have, with a digit at least.
fn is_numeric(text: &str) -> bool {
    let numeric = |b: u8| b.is_ascii_digit() || b"+-./()".contains(&b);
    digits(text) > 0 && text.bytes().all(numeric)
}

/// Whether it is a number in groups of three, with commas between.
fn is_grouped(number: &str) -> bool {
    let mut groups = number.split(',');
    let first = groups.next().unwrap_or_default();
    let (mut rest, mut several) = (groups, false);
    let whole = |group: &str, most: usize| {
        !group.is_empty() && group.len() <= most && digits(group) == group.len()
    };
    whole(first, 3)
        && rest.all(|group| {
            several = true;
            group.len() == 3 && whole(group, 3)
        })
        && several
        && number.len() <= 19
}

/// The integer that a token is, by its shape.
pub fn value(text: &str) -> Option<i64> {
    let number = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = number.len() > 1 && number.starts_with('0');
    let plain = (1..MANY).contains(&number.len()) && digits(number) == number.len();
    if leading_zero || !(plain || is_grouped(number)) {
        return None;
    }
    text.replace(',', "").parse().ok()
}

/// Whether what is between two numbers leaves them one.
fn joins(between: &[Piece<'_>]) -> bool {
    matches!(
        between,
        [] | [Piece::Space(' ') | Piece::Mark('-' | '–' | '/')]
            | [
                Piece::Space(' '),
                Piece::Mark('-' | '–' | '/'),
                Piece::Space(' '),
            ]
    )
}

/// The class of every token, if it is a number.
pub fn classes(pieces: &[Piece<'_>]) -> Vec<Option<Class>> {
    let places = (0..pieces.len()).filter_map(|at| pieces[at].token().map(|text| (at, text)));
    let tokens: Vec<(usize, &str)> = places.collect();
    let mut classes = vec![None; tokens.len()];
    let mut first = 0;
    while first < tokens.len() {
        let joined = |last: &usize| {
            let (here, next) = (tokens[*last], tokens[*last + 1]);
            is_numeric(here.1) && is_numeric(next.1) && joins(&pieces[here.0 + 1..next.0])
        };
        let end = (first..tokens.len() - 1).find(|last| !joined(last));
        let run = first..end.unwrap_or(tokens.len() - 1) + 1;
        let many = tokens[run.clone()]
            .iter()
            .map(|(_, text)| digits(text))
            .sum::<usize>()
            >= MANY;
        for token in run.clone() {
            classes[token] = class(tokens[token].1, many);
        }
        first = run.end;
    }
    classes
}

fn class(text: &str, many: bool) -> Option<Class> {
    let padded = text.len() > 1 && text.starts_with('0') && digits(text) == text.len();
    match text {
        _ if is_numeric(text) && (many || padded) => Some(Class::Identifier),
        _ => value(text).map(|_| Class::Integer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::pieces;

    fn show(text: &str) -> String {
        let letter = |class: &Option<Class>| match class {
            None => 'w',
            Some(Class::Integer) => 'i',
            Some(Class::Identifier) => 'd',
        };
        classes(&pieces(text)).iter().map(letter).collect()
    }

    #[test]
    fn classes_go_by_shape() {
        for (text, expected) in [
            ("I am 47 today", "wwiw"),
            ("1 -5 999999 1,000 1,234,567 0", "dddiii"),
            ("1, -5, 999999, 0", "iiii"),
            ("1000000", "d"),
            ("007, 0", "di"),
            ("4111 1111 1111 1111", "dddd"),
            ("4111-1111-1111-1111", "d"),
            ("(555) 123-4567 or +49", "ddww"),
            ("078-05-1120", "d"),
            ("12/05/2020, 3.14 50% $5 x1 covid-19", "dwwwww"),
            ("٣٤ 12:30 1,00", "www"),
            ("in 2020.\n1000 men", "wiiw"),
            ("", ""),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn integers_are_read() {
        let read = [
            "0",
            "-12",
            "1,234",
            "-1,234,567",
            "01",
            "1,23",
            "12a",
            "-",
            "",
            "999,999,999,999,999",
        ];
        let expected = [
            Some(0),
            Some(-12),
            Some(1234),
            Some(-1_234_567),
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(
            read[..9].iter().map(|text| value(text)).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(value(read[9]), Some(999_999_999_999_999));
    }
}
