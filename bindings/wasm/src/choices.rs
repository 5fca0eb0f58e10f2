//! What can be chosen: the core's table of names, defaults and help.

use brr::{
    Budget, Case, Choice, Error, Layout, MechanismKind, Model, Options, Result, Search, Unknown,
};

use crate::json::Json;

/// The choice with this name; the default if there is none.
fn parse<T: Choice>(name: &str) -> Result<T> {
    match name {
        "" => Ok(T::default()),
        name => T::parse(name),
    }
}

/// Lines of [`options`].
pub const LINES: usize = 8;

/// Options from a line each: the names of what is chosen, in the order of [`all`], and of the
/// budget that `value` states; then public words and private words, as [`brr_english::policy`] takes
/// them but with tabs for line feeds. An empty line is the default.
pub fn options(names: &str, value: f64, model: &Model) -> Result<Options> {
    let mut names = names.split('\n');
    let mut next = || names.next().unwrap_or_default();
    let options = Options::default()
        .with_mechanism(parse::<MechanismKind>(next())?)
        .with_layout(parse::<Layout>(next())?)
        .with_unknown(parse::<Unknown>(next())?)
        .with_search(parse::<Search>(next())?);
    let case = parse::<Case>(next())?;
    let options = match next() {
        "" => options,
        name => {
            let budget = Budget::named(name, value).ok_or_else(|| Error::UnknownChoice {
                what: "budget",
                names: Budget::NAMES.join(", "),
            })?;
            options.with_budget(budget)
        }
    };
    let lists = [next(), next()].map(|list| (!list.is_empty()).then(|| list.replace('\t', "\n")));
    let policy = brr_english::policy(lists[0].as_deref(), lists[1].as_deref(), model)?;
    Ok(brr_english::with_case(
        options.with_policy(policy),
        case,
        model,
    ))
}

/// All that can be chosen, the default first; and the default budget, with
/// the names of all.
pub fn all() -> String {
    Json::text(|j| {
        list::<MechanismKind>(j, "mechanism");
        list::<Layout>(j, "layout");
        list::<Unknown>(j, "unknown");
        list::<Search>(j, "search");
        list::<Case>(j, "case");
        j.key("budget").object(|j| {
            let (kind, value) = Budget::DEFAULT.parts();
            j.key("name").string(Budget::NAMES[kind]);
            j.key("value").number(value);
            j.key("names").array(|j| {
                Budget::NAMES.iter().for_each(|name| j.string(name));
            });
        });
    })
}

fn list<T: Choice>(j: &mut Json, key: &str) {
    j.key(key).array(|j| {
        for (name, _, help) in T::ALL {
            j.object(|j| {
                j.key("name").string(name);
                j.key("help").string(help);
            });
        }
    });
}
