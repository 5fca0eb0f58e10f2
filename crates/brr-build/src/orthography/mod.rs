//! Tables of languages ([`brr::Orthography`]) that come with brr, for the models that are built from vectors of these
//! languages. They and their function words were written for brr by hand.

use std::path::Path;

use brr::Orthography;

use crate::error::{Error, Result};

/// All there are: the code of the language, and its table. English has none: a model without a table is an
/// English one.
pub const TABLES: [(&str, &str); 11] = [
    ("de", include_str!("de.txt")),
    ("el", include_str!("el.txt")),
    ("en", ""),
    ("es", include_str!("es.txt")),
    ("fr", include_str!("fr.txt")),
    ("it", include_str!("it.txt")),
    ("ja", include_str!("ja.txt")),
    ("pt", include_str!("pt.txt")),
    ("ru", include_str!("ru.txt")),
    ("tr", include_str!("tr.txt")),
    ("zh", include_str!("zh.txt")),
];

/// The table of a language by its code, or from a file; none for English.
///
/// ```
/// let french = brr_build::orthography::find("fr")?.expect("a table");
/// assert_eq!(french.name(), "French");
/// assert_eq!(brr_build::orthography::find("en")?, None);
/// # Ok::<(), brr_build::Error>(())
/// ```
pub fn find(language: &str) -> Result<Option<Orthography>> {
    let built_in = TABLES.iter().find(|(code, _)| *code == language);
    if let Some((_, table)) = built_in {
        let table = (!table.is_empty()).then(|| Orthography::parse(table));
        return Ok(table.map(|table| table.expect("a table")));
    }
    let path = Path::new(language);
    if !path.is_file() {
        let codes = TABLES.map(|(code, _)| code).join(", ");
        return Err(Error::UnknownLanguage { codes });
    }
    let text = std::fs::read_to_string(path).map_err(|source| Error::Orthography {
        path: path.to_owned(),
        problem: source.to_string(),
    })?;
    let table = Orthography::parse(&text).map_err(|problem| Error::Orthography {
        path: path.to_owned(),
        problem: problem.to_string(),
    })?;
    Ok(Some(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table can be read, written, and used: its function words are one token each, in the form in
    /// which words are looked up.
    #[test]
    fn every_table_is_one() {
        for (code, _) in TABLES {
            let Some(table) = find(code).unwrap() else {
                assert_eq!(code, "en");
                continue;
            };
            assert_eq!(table.code(), code);
            assert_eq!(Orthography::parse(&table.to_lines()).unwrap(), table);
            assert!(table.function_words().len() >= 80, "{code}");
            for word in table.function_words() {
                assert_eq!(table.form(word, true), *word, "{code}");
                assert!(table.is_one_token(word), "{code}: {word}");
            }
        }
    }

    #[test]
    fn what_is_no_language_is_refused_without_being_repeated() {
        let error = find("klingon secret").unwrap_err().to_string();
        assert!(error.contains("fr") && !error.contains("secret"), "{error}");
    }
}
