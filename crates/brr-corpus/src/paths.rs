//! Paths of columns in JSON and Parquet: keys from the outside in.
//!
//! A path goes through lists to each element, so that `messages[].content`, `messages.content` and
//! Parquet's own `messages.list.element.content` are the same.

/// The keys of a path: joined by dots; or by slashes with one before the first, for keys that have
/// dots.
pub fn keys(path: &str) -> Vec<&str> {
    let keys = match path.strip_prefix('/') {
        Some(path) => path.split('/'),
        None => path.split('.'),
    };
    keys.map(|key| key.strip_suffix("[]").unwrap_or(key))
        .collect()
}

/// The keys of a path in Parquet, without the names that writers give to the inside of a list.
#[cfg(feature = "parquet")]
pub fn without_lists<'p>(keys: &[&'p str]) -> Vec<&'p str> {
    const INSIDE: [[&str; 2]; 3] = [
        ["list", "element"],
        ["list", "item"],
        ["bag", "array_element"],
    ];
    let mut out: Vec<&str> = Vec::with_capacity(keys.len());
    for key in keys {
        let inside = out.last().is_some_and(|last| INSIDE.contains(&[last, key]));
        // A column that is itself called so is not inside of anything.
        if inside && out.len() > 1 {
            out.pop();
        } else {
            out.push(key);
        }
    }
    out
}

/// Paths that exist, for a message about one that does not. Only names that look like names: a
/// key may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(Vec<String>);

impl Known {
    const MOST: usize = 20;

    /// Those of the paths that may be shown.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Known {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name = |path: &String| {
            let keys = path.split('.');
            !path.is_empty()
                && path.chars().all(plain)
                && keys.clone().count() < 8
                && keys.map(str::len).all(|n| n < 40)
        };
        let mut paths: Vec<String> = paths.into_iter().filter(name).collect();
        paths.sort();
        paths.dedup();
        Known(paths)
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let told = &self.0[..self.0.len().min(Known::MOST)];
        if told.is_empty() {
            return Ok(());
        }
        write!(f, "; there are {}", told.join(", "))?;
        match self.0.len() - told.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_in_all_its_forms() {
        for path in [
            "messages.content",
            "messages[].content",
            "/messages/content",
        ] {
            assert_eq!(keys(path), ["messages", "content"]);
        }
        assert_eq!(keys("/a.b/c[]"), ["a.b", "c"]);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn the_inside_of_a_list_has_no_name() {
        let without = |path: &str| without_lists(&keys(path)).join(".");
        assert_eq!(without("m.list.element.content"), "m.content");
        assert_eq!(without("m.list.item"), "m");
        assert_eq!(without("a.list.element.b.bag.array_element"), "a.b");
        assert_eq!(without("list.element"), "list.element");
    }

    #[test]
    fn only_names_are_told() {
        let known = Known::new(["b.c", "a", "my secret", "a"].map(String::from));
        assert_eq!(known.to_string(), "; there are a, b.c");
        assert_eq!(Known::new(["ü".to_owned()]).to_string(), "");
    }
}
