//! A JSON object per line: private strings are replaced where they stand.
//!
//! `serde_json` takes each line apart and checks all of it; the strings are found by where its
//! borrowed raw values lie in the line. So numbers, spaces, escapes and the order of fields stay
//! as they are. A key that occurs twice, or is written with escapes, is found each time.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use brr::Privatized;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chunks::{Framing, LineFraming};
use crate::edits::{Edits, RowFormat, Style};
use crate::error::{ColumnProblem, ColumnRole, Error, Result, RowProblem};
use crate::paths::{Known, keys};
use crate::units::trimmed;

/// Fields to look for: a tree of keys.
#[derive(Debug, Default)]
struct Node {
    wanted: bool,
    /// Whether a row had something here, be it null or empty.
    met: AtomicBool,
    fields: Vec<(String, Node)>,
}

impl Node {
    /// Asks for what lies at a path.
    fn want(&mut self, keys: &[&str]) {
        let mut node = self;
        for key in keys {
            let place = node.field(key).unwrap_or_else(|| {
                node.fields.push(((*key).to_owned(), Node::default()));
                node.fields.len() - 1
            });
            node = &mut node.fields[place].1;
        }
        node.wanted = true;
    }

    /// Most rows need not write here, where all threads look.
    fn meet(&self) {
        if !self.met.load(Ordering::Relaxed) {
            self.met.store(true, Ordering::Relaxed);
        }
    }

    fn field(&self, key: &str) -> Option<usize> {
        self.fields.iter().position(|(name, _)| name == key)
    }
}

/// JSON lines with known private fields.
pub struct Jsonl {
    root: Node,
    paths: Vec<String>,
    /// Where the unit of a row is named.
    unit: Option<(String, Node)>,
    /// Whether rows may lack a path, the first too.
    optional: bool,
}

impl Jsonl {
    /// Looks for what lies at these [paths](crate::paths).
    pub fn new(paths: &[String], optional: bool) -> Result<Jsonl> {
        let mut root = Node::default();
        for (number, path) in paths.iter().enumerate() {
            let keys = keys(path);
            if keys.iter().any(|key| key.is_empty()) {
                return Err(private(number, paths).error(ColumnProblem::EmptyKey));
            }
            root.want(&keys);
        }
        Ok(Jsonl {
            root,
            paths: paths.to_vec(),
            unit: None,
            optional,
        })
    }

    /// Rows belong to units that are named at a path.
    pub fn with_unit(mut self, path: &str) -> Result<Jsonl> {
        let wanted = keys(path);
        if wanted.iter().any(|key| key.is_empty()) {
            return Err(ColumnRole::Unit.error(ColumnProblem::EmptyKey));
        }
        if self.paths.iter().any(|path| keys(path) == wanted) {
            return Err(ColumnRole::Unit.error(ColumnProblem::Private));
        }
        let mut root = Node::default();
        root.want(&wanted);
        self.unit = Some((path.to_owned(), root));
        Ok(self)
    }

    /// Whether the first row has every path. A mistyped one would be found in no row, and all
    /// that was meant to be private would be copied.
    pub fn check_first(&self, row: &[u8]) -> Result {
        if let Some((path, _)) = &self.unit
            && has(row, path) == Some(false)
        {
            let known = string_paths(row);
            return Err(ColumnRole::Unit.error_among(ColumnProblem::NoSuchField, known));
        }
        let missing = |path: &String| has(row, path) != Some(true);
        let Some(number) = self
            .paths
            .iter()
            .position(missing)
            .filter(|_| !self.optional)
        else {
            return Ok(());
        };
        let problem = match has(row, &self.paths[number]) {
            None if row.trim_ascii_start().starts_with(b"[") => {
                return Err(Error::JsonArray);
            }
            None => ColumnProblem::NoObject,
            Some(_) => ColumnProblem::NoSuchField,
        };
        Err(private(number, &self.paths).error_among(problem, string_paths(row)))
    }
}

/// Whether a row has something at a path, in any element where there are arrays. Any other
/// reader of JSON would have its own idea of which rows are sound.
fn has(row: &[u8], path: &str) -> Option<bool> {
    let line = std::str::from_utf8(row).ok()?;
    let one = Jsonl::new(&[path.to_owned()], true).ok()?;
    let mut search = Search::new(line);
    search.fields(line.trim(), &one.root).ok()?;
    Some(one.unseen().is_empty())
}

fn private(index: usize, paths: &[String]) -> ColumnRole {
    let of = paths.len();
    ColumnRole::Private { index, of }
}

/// The paths of a row's strings.
fn string_paths(row: &[u8]) -> Known {
    fn walk(value: &Value, path: &str, paths: &mut Vec<String>) {
        match value {
            Value::String(_) => paths.push(path.to_owned()),
            Value::Array(all) => all.iter().for_each(|value| walk(value, path, paths)),
            Value::Object(all) => all.iter().for_each(|(key, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                walk(value, &format!("{path}{dot}{key}"), paths);
            }),
            _ => {}
        }
    }
    let mut paths = Vec::new();
    let row = serde_json::from_slice(row).unwrap_or_default();
    walk(&row, "", &mut paths);
    Known::new(paths)
}

/// A value that was looked for.
struct Found<'c> {
    /// Its place in its line.
    range: Range<usize>,
    /// Its text if it is one.
    text: Option<Cow<'c, str>>,
    /// Whether it lies at the end of a path, and not where the path should go on.
    wanted: bool,
}

struct Search<'c> {
    line: &'c str,
    found: Vec<Found<'c>>,
    /// Objects and arrays around the value at hand.
    depth: usize,
}

/// As deep as `serde_json` goes by itself. Raw values have no such limit of their own.
const DEEPEST: usize = 127;

impl<'c> Search<'c> {
    fn new(line: &'c str) -> Search<'c> {
        Search {
            line,
            found: Vec::new(),
            depth: 0,
        }
    }

    /// What a node wants of a value.
    fn value(&mut self, raw: &'c str, node: &Node) -> serde_json::Result<()> {
        node.meet();
        if self.depth > DEEPEST {
            return Err(serde::de::Error::custom("too deep"));
        }
        match raw.as_bytes().first() {
            Some(b'{') if !node.wanted => self.inside(|search| search.fields(raw, node)),
            Some(b'[') => self.inside(|search| search.elements(raw, node)),
            Some(b'n') => Ok(()),
            Some(b'"') if node.wanted => {
                let text = string(raw)?;
                self.push(raw, Some(text), true);
                Ok(())
            }
            _ => {
                self.push(raw, None, node.wanted);
                Ok(())
            }
        }
    }

    fn inside(
        &mut self,
        search: impl FnOnce(&mut Self) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        self.depth += 1;
        let done = search(self);
        self.depth -= 1;
        done
    }

    fn push(&mut self, raw: &str, text: Option<Cow<'c, str>>, wanted: bool) {
        let start = raw.as_ptr() as usize - self.line.as_ptr() as usize;
        self.found.push(Found {
            range: start..start + raw.len(),
            text,
            wanted,
        });
    }

    fn fields(&mut self, raw: &'c str, node: &Node) -> serde_json::Result<()> {
        let mut values: Vec<(usize, &'c RawValue)> = Vec::new();
        let mut json = serde_json::Deserializer::from_str(raw);
        let visitor = Fields {
            node,
            values: &mut values,
        };
        json.deserialize_map(visitor)?;
        json.end()?;
        for (field, value) in values {
            self.value(value.get(), &node.fields[field].1)?;
        }
        Ok(())
    }

    fn elements(&mut self, raw: &'c str, node: &Node) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_str(raw);
        let values = json.deserialize_seq(Elements)?;
        json.end()?;
        for value in values {
            match value.get() {
                raw if node.wanted && raw.starts_with('{') => self.part(raw)?,
                raw => self.value(raw, node)?,
            }
        }
        Ok(())
    }

    /// A part of a message whose text is a list of parts. Anything but text is a bad cell, as is a
    /// part with further fields: nobody said that they may be copied.
    fn part(&mut self, raw: &'c str) -> serde_json::Result<()> {
        const TEXT: [&str; 3] = [r#""text""#, r#""input_text""#, r#""output_text""#];
        let part = serde_json::from_str::<Part<'c>>(raw).ok();
        match part.filter(|part| TEXT.contains(&part.kind.get())) {
            Some(part) if part.text.get().starts_with('"') => {
                let text = string(part.text.get())?;
                self.push(part.text.get(), Some(text), true);
            }
            _ => self.push(raw, None, true),
        }
        Ok(())
    }
}

/// A text among the parts of a message, as the interfaces of chat models have them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part<'c> {
    #[serde(borrow, rename = "type")]
    kind: &'c RawValue,
    #[serde(borrow)]
    text: &'c RawValue,
}

/// The text of a JSON string; borrowed if it has no escapes.
fn string(raw: &str) -> serde_json::Result<Cow<'_, str>> {
    let inner = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).map(Cow::Owned)
}

/// Collects the values of the fields that a node knows.
struct Fields<'n, 'f, 'c> {
    node: &'n Node,
    values: &'f mut Vec<(usize, &'c RawValue)>,
}

impl<'c> Visitor<'c> for Fields<'_, '_, 'c> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'c>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key_seed(Key(self.node))? {
            match field {
                Some(field) => self.values.push((field, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Which of a node's fields a key is.
struct Key<'n>(&'n Node);

impl<'c> DeserializeSeed<'c> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'c>>(self, key: D) -> Result<Option<usize>, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.0.field(key))
    }
}

struct Elements;

impl<'c> Visitor<'c> for Elements {
    type Value = Vec<&'c RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'c>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(values)
    }
}

impl Jsonl {
    /// Names the private cells of one object, which begins at `start`.
    pub fn row<'c>(&self, line: &'c [u8], start: usize, edits: &mut Edits<'c>) {
        let Ok(line) = std::str::from_utf8(line) else {
            return edits.bad_row(RowProblem::NotUtf8);
        };
        let object = line.trim_matches([' ', '\t', '\r', '\n']);
        if !object.starts_with('{') {
            return edits.bad_row(RowProblem::NoObject);
        }
        let mut search = Search::new(line);
        if search.fields(object, &self.root).is_err() {
            return edits.bad_row(RowProblem::NotJson);
        }
        search.found.sort_unstable_by_key(|found| found.range.start);
        for Found { range, text, .. } in search.found {
            let range = start + range.start..start + range.end;
            match text {
                Some(text) => edits.cell(range, text, Style::default()),
                None => edits.bad_cell(range, RowProblem::NotAString, b"null"),
            }
        }
        if let Some((_, root)) = &self.unit
            && !name_unit(line, object, root, edits)
        {
            edits.no_unit(b"null");
        }
    }
}

/// Whether a row names its unit: by a string or a number, and only one.
fn name_unit<'c>(line: &'c str, object: &'c str, root: &Node, edits: &mut Edits<'c>) -> bool {
    let mut search = Search::new(line);
    if search.fields(object, root).is_err() {
        return false;
    }
    let mut found = search.found.into_iter();
    let (Some(value), None) = (found.next(), found.next()) else {
        return false;
    };
    let raw = &line[value.range];
    let number = value.wanted && raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let name = match &value.text {
        Some(text) => trimmed(text.as_bytes()),
        None => trimmed(raw.as_bytes()).filter(|_| number),
    };
    if let Some(name) = name {
        edits.unit(name);
    }
    name.is_some()
}

impl RowFormat for Jsonl {
    fn framing(&self) -> Box<dyn Framing> {
        Box::new(LineFraming)
    }

    fn edit<'c>(&self, bytes: &'c [u8], edits: &mut Edits<'c>) {
        let mut from = 0;
        while from < bytes.len() {
            let line = memchr::memchr(b'\n', &bytes[from..]);
            let end = line.map_or(bytes.len(), |i| from + i + 1);
            let line = &bytes[from..end];
            if !line.trim_ascii().is_empty() {
                self.row(line, from, edits);
                if !edits.end_row(from..end, || self.null_row()) {
                    return;
                }
            }
            from = end;
        }
    }

    fn null_row(&self) -> Vec<u8> {
        b"null\n".to_vec()
    }

    fn write(&self, text: &Privatized, _: Style, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, &text.text);
    }

    fn unseen(&self) -> Vec<ColumnRole> {
        let met = |path: &str| {
            let mut node = &self.root;
            for key in keys(path) {
                match node.field(key) {
                    Some(field) => node = &node.fields[field].1,
                    None => return false,
                }
            }
            node.met.load(Ordering::Relaxed)
        };
        let paths = self.paths.iter().enumerate();
        let unseen = paths.filter(|(_, path)| !met(path));
        let role = |(number, _)| private(number, &self.paths);
        unseen.map(role).collect()
    }
}
