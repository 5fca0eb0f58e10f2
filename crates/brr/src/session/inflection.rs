//! Plurals and possessives of English, by rule, and the case in which an original is written.

use super::memory::Spellings;

/// The shortest surrogate that is looked for behind a plural: `as` is no plural of `a`.
const SHORTEST: usize = 3;

fn hisses(word: &str) -> bool {
    let word = word.to_lowercase();
    ["s", "x", "z", "ch", "sh"]
        .iter()
        .any(|end| word.ends_with(end))
}

/// Whether it ends in `y` behind a consonant.
fn ends_in_y(word: &str) -> bool {
    let mut ends = word.chars().rev().map(|c| c.to_ascii_lowercase());
    ends.next() == Some('y')
        && ends
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() && !"aeiou".contains(c))
}

/// Words that `form`, in lower case, may be the plural of.
pub fn singulars(form: &str) -> impl Iterator<Item = String> {
    let plain = form.strip_suffix('s').filter(|stem| !hisses(stem));
    let hissing = form.strip_suffix("es").filter(|stem| hisses(stem));
    let in_y = form.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let found = [plain.map(str::to_owned), hissing.map(str::to_owned), in_y];
    let long = |stem: &String| stem.chars().filter(|c| c.is_alphabetic()).count() >= SHORTEST;
    found.into_iter().flatten().filter(long)
}

/// The plural of a word; none of what is not all letters. Names only take an ending.
pub fn plural(word: &str) -> Option<String> {
    if !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let is_name = word.starts_with(char::is_uppercase);
    let (stem, ending) = match word {
        _ if hisses(word) => (word, "es"),
        _ if ends_in_y(word) && !is_name => (&word[..word.len() - 1], "ies"),
        _ => (word, "s"),
    };
    Some(match Pattern::of(word) {
        Pattern::Upper => format!("{stem}{}", ending.to_uppercase()),
        _ => format!("{stem}{ending}"),
    })
}

/// Where a word has capital letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Lower,
    Capital,
    Upper,
    Other,
}

impl Pattern {
    fn of(word: &str) -> Pattern {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        let first = letters.next().is_some_and(char::is_uppercase);
        let rest: Vec<bool> = letters.map(char::is_uppercase).collect();
        match (first, rest.contains(&true), rest.contains(&false)) {
            (false, false, _) => Pattern::Lower,
            (true, false, _) => Pattern::Capital,
            (true, true, false) => Pattern::Upper,
            _ => Pattern::Other,
        }
    }
}

/// The way of writing the original that is like that of the surrogate in the answer, or the first.
pub fn spelling<'m>(spellings: Spellings<'m>, written: &str) -> &'m str {
    alike(spellings.iter(), written)
}

fn alike<'m>(mut spellings: impl Iterator<Item = &'m str> + Clone, written: &str) -> &'m str {
    let first = spellings.clone().next();
    let pattern = Pattern::of(written);
    let alike = spellings.find(|spelled| Pattern::of(spelled) == pattern);
    alike.or(first).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_go_by_rule() {
        for (word, expected) in [
            ("John", Some("Johns")),
            ("JONES", Some("JONESES")),
            ("Kennedy", Some("Kennedys")),
            ("city", Some("cities")),
            ("toy", Some("toys")),
            ("church", Some("churches")),
            ("12/05/2020", None),
        ] {
            assert_eq!(plural(word).as_deref(), expected);
        }
        let singulars = |form| singulars(form).collect::<Vec<_>>();
        assert_eq!(singulars("kenneths"), ["kenneth"]);
        assert_eq!(singulars("joneses"), ["jonese", "jones"]);
        assert_eq!(singulars("cities"), ["citie", "city"]);
        assert_eq!(singulars("as"), [""; 0]);
        assert_eq!(singulars("james"), ["jame"]);
        assert_eq!(singulars("press"), [""; 0]);
    }

    #[test]
    fn the_way_of_writing_that_is_alike_is_taken() {
        let spellings = ["the", "The", "THE"];
        for (written, expected) in [
            ("word", "the"),
            ("Word", "The"),
            ("WORD", "THE"),
            ("wOrd", "the"),
        ] {
            assert_eq!(alike(spellings.into_iter(), written), expected);
        }
        assert_eq!(alike(["John"].into_iter(), "KENNETH"), "John");
    }
}
