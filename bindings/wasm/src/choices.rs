//! What can be chosen: the core's table of names, defaults and help.

use brr::{Budget, Choice, Error, Layout, MechanismKind, Options, Result, Search, Unknown};

use crate::json::Json;

/// The choice with this name; the default if there is none.
fn parse<T: Choice>(name: &str) -> Result<T> {
    match name {
        "" => Ok(T::default()),
        name => T::parse(name),
    }
}

/// Options from a line each: the names of what is chosen, in the order of [`all`], and of the
/// budget that `value` states. An empty line is the default.
pub fn options(names: &str, value: f64) -> Result<Options> {
    let mut names = names.split('\n');
    let mut next = || names.next().unwrap_or_default();
    let options = Options::default()
        .with_mechanism(parse::<MechanismKind>(next())?)
        .with_layout(parse::<Layout>(next())?)
        .with_unknown(parse::<Unknown>(next())?)
        .with_search(parse::<Search>(next())?);
    match next() {
        "" => Ok(options),
        name => Budget::named(name, value)
            .map(|budget| options.with_budget(budget))
            .ok_or_else(|| Error::UnknownChoice {
                what: "budget",
                names: Budget::NAMES.join(", "),
            }),
    }
}

/// All that can be chosen, the default first; and the default budget, with
/// the names of all.
pub fn all() -> String {
    Json::text(|j| {
        list::<MechanismKind>(j, "mechanism");
        list::<Layout>(j, "layout");
        list::<Unknown>(j, "unknown");
        list::<Search>(j, "search");
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
