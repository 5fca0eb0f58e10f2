//! Lists of English words, by which a [policy](brr::Policy) tells what is private.
//!
//! `function-words` was written for brr by hand; `scripts/default-lists` makes `names` and `places` from
//! public sources, which NOTICE names, and from words that were written for brr. All their words are words of the built-in model.

use std::sync::Arc;

use brr::{Case, Error, Model, Options, Policy, Privatizer, Result, WordList};

/// All there are: name, words (one on a line), and what they are.
pub const LISTS: [(&str, &str, &str); 3] = [
    (
        "function-words",
        include_str!("../lists/function-words.txt"),
        "articles, pronouns, prepositions, conjunctions and auxiliary verbs; to be made public",
    ),
    (
        "names",
        include_str!("../lists/names.txt"),
        "first names and surnames; to be made private",
    ),
    (
        "places",
        include_str!("../lists/places.txt"),
        "continents, countries, regions and cities; to be made private",
    ),
];

/// The policies that they are made for, each as a public list or a private one ([`policy`]): for these it is known
/// what stays after decoding.
pub const POLICIES: [(Option<&str>, Option<&str>); 4] = [
    (Some("function-words"), None),
    (None, Some("names")),
    (None, Some("places")),
    (None, Some("names+places")),
];

/// What divides names that are nothing else from names that are ordinary words too.
const ORDINARY: &str = "# Ordinary words too\n";

/// The name of lists of words that were given, and have none.
const GIVEN: &str = "given words";

/// The list of this name, for a model: the built-in one, of which it has every word, or
/// another, of which it has those that the model knows. A model of another language has `function-words` of its
/// own. Several names with `+` between them stand for
/// the words of all.
///
/// ```
/// let model = brr_english::model()?;
/// let list = brr_english::list("function-words", &model)?;
/// assert!(list.contains(model.find("the").expect("a word of the model")));
/// # Ok::<(), brr::Error>(())
/// ```
pub fn list(name: &str, model: &Model) -> Result<WordList> {
    let mut lists = name.split('+').map(|name| one(name, model));
    let first = lists.next().unwrap_or(Err(Error::ListEmpty))?;
    lists.try_fold(first, |all, list| all.and(&list?, model))
}

fn one(name: &str, model: &Model) -> Result<WordList> {
    let table = model.orthography();
    if name == LISTS[0].0 && !table.function_words().is_empty() {
        return WordList::known(name, &table.function_words().join("\n"), model);
    }
    let found = LISTS.iter().find(|(known, ..)| *known == name);
    let (name, words, _) = found.ok_or_else(|| Error::UnknownChoice {
        what: "list of words",
        names: LISTS.map(|(name, ..)| name).join(", "),
    })?;
    WordList::known(name, words, model)
}

/// What is private, as every binding states it: a public list, a private one, or neither. A list is
/// the name of a built-in one, or its words, each with a line feed after it.
///
/// ```
/// let model = brr_english::model()?;
/// let policy = brr_english::policy(None, Some("names+places"), &model)?;
/// assert_eq!(policy.name(), "only");
/// let words = brr_english::policy(Some("the\nof\n"), None, &model)?;
/// assert_eq!(words.list().map(|list| list.len()), Some(2));
/// # Ok::<(), brr::Error>(())
/// ```
pub fn policy(public: Option<&str>, private: Option<&str>, model: &Model) -> Result<Policy> {
    match (public, private) {
        (None, None) => Ok(Policy::All),
        (Some(list), None) => Ok(Policy::AllBut(Arc::new(read(list, model)?))),
        (None, Some(list)) => Ok(Policy::Only(Arc::new(read(list, model)?))),
        (Some(_), Some(_)) => Err(Error::TwoLists),
    }
}

/// A privatizer with lists that spans may name, each by the name that spans give it and by what is
/// on it: as for [`policy`], the name of a built-in list, or its words.
///
/// ```
/// use std::sync::Arc;
/// use brr::{Options, Privatizer, Span};
///
/// let privatizer = Privatizer::new(Arc::new(brr_english::model()?), Options::default())?;
/// let privatizer = brr_english::with_lists(privatizer, [("person", "names")])?;
/// let private = privatizer.privatize_spans("Ask Ludmilla.", &[Span::of(4..12, "person")])?;
/// assert!(private.text.starts_with("Ask ") && private.tokens == [1]);
/// # Ok::<(), brr::Error>(())
/// ```
pub fn with_lists<'a>(
    privatizer: Privatizer,
    lists: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Privatizer> {
    let model = privatizer.model().clone();
    lists
        .into_iter()
        .try_fold(privatizer, |privatizer, (name, given)| {
            let list = read(given, &model)?.with_name(name);
            privatizer.with_list(Arc::new(list))
        })
}

/// The words of a list with a line feed behind each, or the name of a built-in one.
fn read(given: &str, model: &Model) -> Result<WordList> {
    match given.contains('\n') {
        true => WordList::new(GIVEN, given, model),
        false => list(given, model),
    }
}

/// Options with another way to write words. Capital letters are given to the [proper nouns](proper_nouns) that
/// the model knows. If a list of names and places alone is private, which these options must say already, they are given to all
/// its words: a word of it is written for a private token and nowhere else, and where these stand is public.
pub fn with_case(options: Options, case: Case, model: &Model) -> Options {
    let proper = (case == Case::Sentence).then(|| {
        let proper = proper_nouns(model).ok()?;
        let private = match &options.policy {
            Policy::Only(list) if all_names(list, model) => list.and(&proper, model).ok(),
            _ => None,
        };
        Some(Arc::new(private.unwrap_or(proper)))
    });
    options.with_case(case).with_proper_nouns(proper.flatten())
}

/// Whether every word of a list is a name or a place.
fn all_names(list: &WordList, model: &Model) -> bool {
    let names = self::list("names+places", model);
    names.is_ok_and(|names| list.words().iter().all(|&word| names.contains(word)))
}

/// Names and places that are no ordinary words: what is written with a capital letter wherever it
/// stands. There are none for models of another language.
pub fn proper_nouns(model: &Model) -> Result<WordList> {
    if model.has_orthography() {
        return Err(Error::ListEmpty);
    }
    let [_, (_, names, _), (_, places, _)] = LISTS;
    let names = names.split(ORDINARY).next().unwrap_or_default();
    WordList::known("proper nouns", &[names, places].concat(), model)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list from a file may hold words of the model alone; so may these.
    #[test]
    fn every_word_is_one_of_the_model() {
        let model = crate::model().unwrap();
        for (name, words, _) in LISTS {
            let strict = WordList::new(name, words, &model).unwrap();
            assert_eq!(strict, list(name, &model).unwrap());
        }
        let bytes: usize = LISTS.iter().map(|(_, words, _)| words.len()).sum();
        assert!(bytes < 40_000, "{bytes}");
    }

    /// Names that are function words at other times are not made public without being declared.
    #[test]
    fn homographs_of_names_are_left_out_or_declared() {
        let model = crate::model().unwrap();
        let [function, names, places] = LISTS.map(|(name, ..)| list(name, &model).unwrap());
        for word in ["will", "may", "us", "mark", "jordan"] {
            assert!(!function.contains(model.find(word).unwrap()), "{word}");
        }
        for id in 0..model.vocabulary().len() as u32 {
            let also = names.contains(id) || places.contains(id);
            assert!(!(function.contains(id) && also));
        }
        assert!(names.contains(model.find("smith").unwrap()));
        assert!(places.contains(model.find("chicago").unwrap()));
    }

    /// The census of the US has neither; PRIVACY.md names those that no list has.
    #[test]
    fn names_of_other_origins_and_regions_are_listed() {
        let model = crate::model().unwrap();
        let [_, names, places] = LISTS.map(|(name, ..)| list(name, &model).unwrap());
        let lacks = |list: &WordList, words: &str| -> Vec<String> {
            let has = |word: &&str| !list.contains(model.find(word).unwrap());
            words.split(' ').filter(has).map(str::to_owned).collect()
        };
        let known = "obama putin hussein sanjay hiroshi jurgen saddam sergei barack joao vikram henri yusuf";
        assert!(lacks(&names, known).is_empty());
        let known =
            "england scotland wales oxford siberia tuscany bavaria yorkshire cornwall quebec";
        assert!(lacks(&places, known).is_empty());
        let open = "merkel netanyahu bath reading cork nice";
        assert!(open.split(' ').all(|word| {
            let id = model.find(word);
            id.is_none_or(|id| !names.contains(id) && !places.contains(id))
        }));
        let ordinary = "sunday english seven river island german";
        assert_eq!(lacks(&names, ordinary).len(), 6);
        assert_eq!(lacks(&places, ordinary).len(), 6);
    }

    /// Where names alone are private, "mark" and "bill" stand for names.
    #[test]
    fn private_names_have_capital_letters() {
        let model = Arc::new(crate::model().unwrap());
        let written = |private: &str| {
            let options = Options::default()
                .with_mechanism(brr::MechanismKind::KAry)
                .with_budget(brr::Budget::Bound(38.0))
                .with_policy(policy(None, Some(private), &model).unwrap());
            let options = with_case(options, Case::Sentence, &model);
            let privatizer = Privatizer::new(model.clone(), options).unwrap();
            let text = "we met mark and nick and susan, dr. bill king, and a bill";
            privatizer.privatize(text).unwrap().text
        };
        let expected = "We met Mark and Nick and Susan, Dr. Bill King, and a Bill";
        assert_eq!(written("names"), expected);
        let expected = "We met mark and nick and Susan, Dr. bill king, and a bill";
        assert_eq!(written("mark\nbill\ninvoice\n"), expected);
    }

    #[test]
    fn ordinary_words_keep_their_case() {
        let model = crate::model().unwrap();
        let proper = proper_nouns(&model).unwrap();
        let has = |word: &str| proper.contains(model.find(word).unwrap());
        assert!(has("susan") && has("paris") && has("turkey"));
        assert!(!has("bill") && !has("hill") && !has("the"));
        assert!(list("my list", &model).is_err());
    }
}
