//! JSON that is not cut into lines: an array of objects, or objects one after another.
//!
//! A record is an object with the brackets, commas and spaces before it, so everything between
//! objects is copied. The objects themselves are rows as in [JSON lines](crate::jsonl).

use std::ops::Range;

use brr::Privatized;

use crate::chunks::Framing;
use crate::edits::{Edits, RowFormat, Style};
use crate::error::{ColumnRole, RowProblem};
use crate::jsonl::Jsonl;

/// Objects with known private fields.
pub struct Json(pub Jsonl);

/// Where among objects a place is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Nothing was seen yet: a file begins, or a run goes on after an object.
    #[default]
    Start,
    /// After the array's opening bracket.
    Open,
    /// After an object, or what stands in its place.
    Value,
    Comma,
    /// After the array.
    End,
}

/// Follows brackets and strings, over any cut of the stream into pieces.
#[derive(Default)]
pub struct Frame {
    place: Place,
    /// What stands between objects is not what JSON has there.
    broken: bool,
    /// Whether the objects are elements of an array.
    array: bool,
    /// Brackets that are open, the array's own included.
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Frame {
    /// Whether an object ends with this byte, which follows all those seen before.
    fn ends(&mut self, byte: u8) -> bool {
        if self.string {
            self.string = self.escaped || byte != b'"';
            self.escaped = byte == b'\\' && !self.escaped;
            return false;
        }
        if self.depth <= usize::from(self.array) && !byte.is_ascii_whitespace() {
            self.step(byte);
        }
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => {
                self.array |= self.depth == 0 && byte == b'[';
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return byte == b'}' && self.depth == usize::from(self.array);
            }
            _ => {}
        }
        false
    }
}

impl Frame {
    /// Goes on among objects.
    fn step(&mut self, byte: u8) {
        use Place::{Comma, End, Open, Start, Value};
        let inside = self.array && self.depth > 0;
        self.place = match (byte, self.place) {
            // A run that goes on begins after an object of the array.
            (b',', Start) => {
                (self.array, self.depth) = (true, 1);
                Comma
            }
            (b',', Value) if inside => Comma,
            (b']', Start) => End,
            (b']', Open | Value) if inside => End,
            (b'[', Start) => Open,
            (b',' | b']', _) => return self.broken = true,
            (_, End) => return self.broken = true,
            // Objects without an array stand one after another.
            (b'{' | b'[', Value) if inside => return self.broken = true,
            _ => Value,
        };
    }

    /// Whether a file may begin as these bytes do.
    pub fn can_begin(bytes: &[u8]) -> bool {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        !matches!(first, Some(b',' | b']'))
    }
}

/// What is said of a file whose objects are not in an array, or not separated by commas.
pub const BROKEN: &str =
    "this is no JSON: between its objects, a comma or a bracket is missing or too many";

impl Framing for Frame {
    fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|b| self.ends(*b)).map(|at| at + 1)
    }

    fn problem(&self) -> Option<&'static str> {
        self.broken.then_some(BROKEN)
    }

    fn inside(&self) -> Option<&'static str> {
        let open = self.depth > usize::from(self.array) || self.string;
        match (open, self.array && self.depth > 0) {
            (true, _) => Some("inside an object"),
            (false, true) => Some("inside an array"),
            (false, false) => None,
        }
    }
}

/// What may stand between objects.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b',')
}

/// Where the first object is, or what stands in its place; `None` if there is nothing but what
/// stands between objects.
pub fn first_object(bytes: &[u8]) -> Option<Range<usize>> {
    let start = bytes.iter().position(|b| !is_between(*b))?;
    let mut frame = Frame::default();
    let object = bytes[start] == b'{';
    let ends = |byte: &u8| {
        let outside = !frame.string;
        frame.ends(*byte) || !object && outside && matches!(byte, b',' | b']' | b'{')
    };
    let end = bytes[start..].iter().position(ends);
    let end = end.map_or(bytes.len(), |at| start + at + usize::from(object));
    Some(start..end)
}

impl RowFormat for Json {
    fn framing(&self) -> Box<dyn Framing> {
        Box::new(Frame::default())
    }

    fn edit<'c>(&self, bytes: &'c [u8], edits: &mut Edits<'c>) {
        let mut from = 0;
        while let Some(object) = first_object(&bytes[from..]) {
            let object = from + object.start..from + object.end;
            if bytes[object.start] == b'{' {
                self.0.row(&bytes[object.clone()], object.start, edits);
            } else {
                edits.bad_row(RowProblem::NoObject);
            }
            from = object.end;
            if !edits.end_row(object, || self.null_row()) {
                return;
            }
        }
    }

    fn null_row(&self) -> Vec<u8> {
        b"null".to_vec()
    }

    fn write(&self, text: &Privatized, style: Style, out: &mut Vec<u8>) {
        self.0.write(text, style, out);
    }

    fn unseen(&self) -> Vec<ColumnRole> {
        self.0.unseen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn objects_end_where_they_end(
            objects in prop::collection::vec("[{]\"[a\\\\\\\\\"{}\\[\\],]{0,8}\":[0-9]{1,3}[}]", 0..6),
            cut in 1usize..7,
        ) {
            let sound = |o: &&String| serde_json::from_str::<serde_json::Value>(o).is_ok();
            let objects: Vec<&String> = objects.iter().filter(sound).collect();
            let joined: Vec<&str> = objects.iter().map(|o| o.as_str()).collect();
            let text = format!("[ {} ]\n", joined.join(" ,\n"));
            let mut frame = Frame::default();
            let (mut ends, mut at) = (Vec::new(), 0);
            for piece in text.as_bytes().chunks(cut) {
                let mut from = 0;
                while let Some(end) = frame.next_end(&piece[from..]) {
                    from += end;
                    ends.push(at + from);
                }
                at += piece.len();
            }
            prop_assert_eq!(frame.inside(), None);
            prop_assert_eq!(ends.len(), objects.len());
            let mut from = 0;
            for (end, object) in ends.into_iter().zip(objects) {
                let range = first_object(&text.as_bytes()[from..end]).unwrap();
                prop_assert_eq!(&text[from..end][range], object.as_str());
                from = end;
            }
        }
    }

    #[test]
    fn what_is_no_object_ends_before_the_next() {
        let text = br#"[ "a, {" , 5]"#;
        assert_eq!(first_object(text), Some(2..9));
        assert_eq!(first_object(&text[9..]), Some(2..3));
        assert_eq!(first_object(b" ]\n"), None);
    }

    #[test]
    fn an_end_in_the_middle_is_seen() {
        for text in ["[", "[{\"a\":1}", "{\"a\"", "[{\"a\":\"]}"] {
            let mut frame = Frame::default();
            frame.last_end(text.as_bytes());
            assert!(frame.inside().is_some(), "{text}");
        }
    }
}
