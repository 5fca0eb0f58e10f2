//! Objects read field by field: what is forwarded is what was read, and nothing else.
//!
//! # Guarantee
//!
//! [`Fields`] moves fields one by one from the object that was given to the one that is kept. A
//! field is moved only by a call that names it and says what it may hold, and [`Fields::done`] refuses
//! the request if one is left. So every field that leaves is one of: *public*, with a value from a
//! list, a range or a pattern of this file; *text* that went through the session; or an object that
//! was read in the same way. There is no fourth kind, and no way to forward the rest.

use serde_json::{Map, Value};

use crate::refusal::{Refusal, Result};

/// An object that is being read.
pub struct Fields {
    given: Map<String, Value>,
    kept: Map<String, Value>,
    place: String,
}

impl Fields {
    /// Begins to read a value, which has to be an object. `place` is made of known names and numbers.
    pub fn new(value: Value, place: impl Into<String>) -> Result<Fields> {
        let place = place.into();
        match value {
            Value::Object(given) => Ok(Fields {
                given,
                kept: Map::new(),
                place,
            }),
            _ => Err(Refusal::at(&place, "has to be an object")),
        }
    }

    /// Where a field of this object stands.
    pub fn under(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// The value of a string field, left where it is: what decides how the rest is read.
    pub fn peek(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str)
    }

    /// Takes a field out. A null holds nothing, and is kept as it is.
    pub fn take(&mut self, name: &'static str) -> Option<Value> {
        match self.given.shift_remove(name)? {
            Value::Null => {
                self.kept.insert(name.into(), Value::Null);
                None
            }
            value => Some(value),
        }
    }

    /// Keeps the privatized or checked form of a field that was taken out.
    pub fn keep(&mut self, name: &'static str, value: Value) {
        self.kept.insert(name.into(), value);
    }

    /// Reads a field by a function that gets its value and its place.
    pub fn read(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Value, &str) -> Result<Value>,
    ) -> Result<()> {
        if let Some(value) = self.take(name) {
            let value = read(value, &self.under(name))?;
            self.keep(name, value);
        }
        Ok(())
    }

    /// A public field with one of these values.
    pub fn one_of(&mut self, name: &'static str, values: &[&str]) -> Result<()> {
        self.read(name, |value, place| one_of(value, values, place))
    }

    /// A public field that has to have a pattern.
    pub fn public(&mut self, name: &'static str, pattern: Pattern) -> Result<()> {
        self.read(name, |value, place| pattern.check(value, place))
    }

    /// A public number within a range.
    pub fn number(&mut self, name: &'static str, least: f64, most: f64) -> Result<()> {
        self.read(name, |value, place| match value.as_f64() {
            Some(x) if (least..=most).contains(&x) => Ok(value),
            _ => Err(Refusal::at(
                place,
                &format!("has to be a number from {least} to {most}"),
            )),
        })
    }

    /// A public `true` or `false`.
    pub fn flag(&mut self, name: &'static str) -> Result<()> {
        self.read(name, |value, place| match value {
            Value::Bool(_) => Ok(value),
            _ => Err(Refusal::at(place, "has to be true or false")),
        })
    }

    /// A field that is known, and cannot be privatized: it may hold null or nothing.
    pub fn refused(&mut self, name: &'static str, why: &str) -> Result<()> {
        self.read(name, |_, place| Err(Refusal::at(place, why)))
    }

    /// The object that is forwarded, if every field was read.
    pub fn done(self) -> Result<Value> {
        match self.given.len() {
            0 => Ok(Value::Object(self.kept)),
            left => Err(Refusal::at(
                &self.place,
                &format!(
                    "has {left} field(s) that brr-gateway does not know and that may hold text \
                     (their names are not repeated here); leave them out"
                ),
            )),
        }
    }
}

/// A public value from a list.
pub fn one_of(value: Value, values: &[&str], place: &str) -> Result<Value> {
    match value.as_str() {
        Some(found) if values.contains(&found) => Ok(value),
        _ => Err(Refusal::at(
            place,
            &format!("has to be one of {}", values.join(", ")),
        )),
    }
}

/// The elements of an array, each read with its place.
pub fn each(
    value: Value,
    place: &str,
    mut read: impl FnMut(Value, &str) -> Result<Value>,
) -> Result<Value> {
    let Value::Array(elements) = value else {
        return Err(Refusal::at(place, "has to be an array"));
    };
    let elements = elements.into_iter().enumerate();
    let read = elements.map(|(i, element)| read(element, &format!("{place}[{i}]")));
    Ok(Value::Array(read.collect::<Result<_>>()?))
}

/// What a public string may look like.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// A model: letters, digits and `._:/@-`, at most 128.
    Model,
    /// A tool, a parameter of one, or an identifier that the upstream gave: letters, digits and `._-`,
    /// at most 64.
    Name,
}

impl Pattern {
    /// Whether a string has it.
    pub fn fits(self, text: &str) -> bool {
        let (marks, most) = match self {
            Pattern::Model => ("._:/@-", 128),
            Pattern::Name => ("._-", 64),
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
        !text.is_empty() && text.len() <= most && text.chars().all(fits)
    }

    /// The value, if it is a string that has the pattern.
    pub fn check(self, value: Value, place: &str) -> Result<Value> {
        if value.as_str().is_some_and(|text| self.fits(text)) {
            return Ok(value);
        }
        let what = match self {
            Pattern::Model => {
                "is sent as it is, so it has to be 1 to 128 of A-Z a-z 0-9 . _ : / @ -"
            }
            Pattern::Name => "is sent as it is, so it has to be 1 to 64 of A-Z a-z 0-9 . _ -",
        };
        Err(Refusal::at(place, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_not_read_is_not_forwarded_and_not_repeated() {
        let mut fields = Fields::new(json!({"n": 2, "qwxzv": "secret"}), "request").unwrap();
        fields.number("n", 1.0, 8.0).unwrap();
        let refused = fields.done().unwrap_err();
        assert!(refused.message.contains("request: has 1 field(s)"));
        assert!(!refused.message.contains("qwxzv") && !refused.message.contains("secret"));
    }

    #[test]
    fn public_values_have_their_pattern() {
        for good in ["gpt-4o", "openai/gpt-4o:free", "meta-llama/Llama-3.1-8B@q4"] {
            assert!(Pattern::Model.fits(good));
        }
        for bad in ["", "two words", "naïve", "a\nb", &"x".repeat(129)] {
            assert!(!Pattern::Model.fits(bad));
        }
        assert!(!Pattern::Name.fits("a/b") && !Pattern::Name.fits(&"x".repeat(65)));
        let mut fields = Fields::new(json!({"n": 9, "b": "yes"}), "request").unwrap();
        assert!(fields.number("n", 1.0, 8.0).is_err());
        assert!(fields.flag("b").is_err());
    }
}
