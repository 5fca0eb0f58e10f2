//! What can be chosen: the core's table of names, defaults and help, but for the rule that
//! writes unknown words as they are. A page has no standard error to warn on.

use brr::{Budget, Choice, Error, Layout, MechanismKind, Options, Result, Unknown};

use crate::json::Json;

/// The kinds of budget, in the order of js/brr.js.
const BUDGETS: [fn(f64) -> Budget; 3] = [Budget::Epsilon, Budget::Bound, Budget::Keep];

/// What js/brr.js calls a budget, and its value.
fn named(budget: Budget) -> (&'static str, f64) {
    match budget {
        Budget::Epsilon(value) => ("epsilon", value),
        Budget::Bound(value) => ("bound", value),
        Budget::Keep(value) => ("keep", value),
        _ => unreachable!("the core has no other"),
    }
}

/// The core's choices that are offered here.
fn offered<T: Choice>() -> impl Iterator<Item = &'static (&'static str, T, &'static str)> {
    T::ALL
        .iter()
        .filter(|(name, ..)| !(T::WHAT == Unknown::WHAT && *name == Unknown::Keep.name()))
}

/// The choice with this name; the default if there is none.
fn parse<T: Choice>(name: &str) -> Result<T> {
    if name.is_empty() {
        return Ok(T::default());
    }
    let found = offered::<T>().find(|(known, ..)| *known == name);
    found.map(|(_, choice, _)| *choice).ok_or_else(|| {
        let names: Vec<&str> = offered::<T>().map(|(name, ..)| *name).collect();
        Error::UnknownChoice {
            what: T::WHAT,
            names: names.join(", "),
        }
    })
}

/// Options from the names of mechanism, layout and rule for unknown words, a line each, and a
/// budget: its place among [`BUDGETS`], or one beyond for the default.
pub fn options(names: &str, budget: u32, value: f64) -> Result<Options> {
    let mut names = names.split('\n');
    let mut next = || names.next().unwrap_or_default();
    let budget = BUDGETS.get(budget as usize);
    Ok(Options::default()
        .with_mechanism(parse::<MechanismKind>(next())?)
        .with_layout(parse::<Layout>(next())?)
        .with_unknown(parse::<Unknown>(next())?)
        .with_budget(budget.map_or(Budget::DEFAULT, |make| make(value))))
}

/// All that can be chosen, the default first, and the default budget.
pub fn all() -> String {
    Json::text(|j| {
        list::<MechanismKind>(j, "mechanism");
        list::<Layout>(j, "layout");
        list::<Unknown>(j, "unknown");
        j.key("budget").object(|j| {
            let (name, value) = named(Budget::DEFAULT);
            j.key("name").string(name);
            j.key("value").number(value);
        });
    })
}

fn list<T: Choice>(j: &mut Json, key: &str) {
    j.key(key).array(|j| {
        for (name, _, help) in offered::<T>() {
            j.object(|j| {
                j.key("name").string(name);
                j.key("help").string(help);
            });
        }
    });
}
