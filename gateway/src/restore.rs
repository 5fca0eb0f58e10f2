//! Originals back into an answer: into its text, and into the strings of JSON.
//!
//! The session's own restorer knows where originals may go: never into addresses, targets and labels of
//! links and tags. JSON is restored string by string, each escaped again, so that an original with a
//! quotation mark cannot end the string that it stands in; a string that begins as an address is left
//! alone as a whole, spaces or not. Names of fields are left as they are.

use std::sync::{Arc, Mutex, PoisonError};

use brr::{Restorer, Session};
use serde_json::Value;

use crate::conversations::Share;

/// Levels of JSON that are followed; what lies deeper is left as it is.
const DEEPEST: usize = 256;

/// A session that an answer is restored by.
#[derive(Clone)]
pub struct Originals {
    session: Arc<Mutex<Session>>,
    json: bool,
    /// What the session takes, for as long as it is needed.
    _share: Option<Arc<Share>>,
}

impl Originals {
    /// Of this session, for an answer that is JSON or is not.
    pub fn new(session: Arc<Mutex<Session>>, json: bool) -> Originals {
        let _share = None;
        Originals {
            session,
            json,
            _share,
        }
    }

    /// With what the session takes, which is given back behind the answer.
    pub fn with_share(mut self, share: Share) -> Originals {
        self._share = Some(Arc::new(share));
        self
    }

    fn restorer(&self) -> Restorer {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .restorer()
    }

    /// A part of an answer that is text.
    pub fn text(&self) -> Part {
        Part(Form::Text(self.restorer()))
    }

    /// What the answer says: text, or JSON if that was asked for.
    pub fn content(&self) -> Part {
        match self.json {
            true => self.json_text(),
            false => self.text(),
        }
    }

    /// Text that comes in blocks, which clients put together.
    pub fn blocks(&self) -> Restorer {
        self.restorer()
    }

    /// A part of an answer that is JSON, in a string.
    pub fn json_text(&self) -> Part {
        Part(Form::Json(JsonText::new(self.restorer())))
    }

    /// JSON that is not in a string: all strings in it. Counts what was restored.
    pub fn json(&self, value: &mut Value) -> u64 {
        let mut restorer = self.restorer();
        leaves(value, &mut restorer);
        restorer.restored()
    }
}

fn leaves(value: &mut Value, restorer: &mut Restorer) {
    match value {
        Value::String(text) => *text = string(restorer, text),
        Value::Array(elements) => elements.iter_mut().for_each(|e| leaves(e, restorer)),
        Value::Object(fields) => fields.values_mut().for_each(|e| leaves(e, restorer)),
        _ => {}
    }
}

/// A part of an answer, which may come in pieces that are cut anywhere.
pub struct Part(Form);

enum Form {
    Text(Restorer),
    Json(JsonText),
}

impl Part {
    /// The next piece; what can be told of the part now.
    pub fn push(&mut self, piece: &str) -> String {
        match &mut self.0 {
            Form::Text(restorer) => restorer.push(piece),
            Form::Json(json) => json.push(piece),
        }
    }

    /// The part has ended: what is held back.
    pub fn finish(&mut self) -> String {
        match &mut self.0 {
            Form::Text(restorer) => restorer.finish(),
            Form::Json(json) => std::mem::take(&mut json.held),
        }
    }

    /// A whole part at once.
    pub fn whole(&mut self, text: &str) -> String {
        let mut restored = self.push(text);
        restored.push_str(&self.finish());
        restored
    }

    /// How many originals were put back.
    pub fn restored(&self) -> u64 {
        match &self.0 {
            Form::Text(restorer) => restorer.restored(),
            Form::Json(json) => json.restorer.restored(),
        }
    }
}

/// Where in JSON the next character stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Outside,
    Key,
    Value,
    /// Not JSON, or too deep: the rest is left as it is.
    Lost,
}

/// JSON that comes in pieces.
struct JsonText {
    restorer: Restorer,
    at: At,
    /// Whether a backslash came just before.
    escaped: bool,
    /// A value's string, from its opening quotation mark on.
    held: String,
    /// For each open bracket, whether it is an object's.
    open: Vec<bool>,
    /// Whether a string that begins now is a field's name.
    name_next: bool,
}

impl JsonText {
    fn new(restorer: Restorer) -> JsonText {
        JsonText {
            restorer,
            at: At::Outside,
            escaped: false,
            held: String::new(),
            open: Vec::new(),
            name_next: false,
        }
    }

    fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            match self.at {
                At::Outside => {
                    self.outside(c);
                    if self.at == At::Value {
                        self.held.push(c);
                        continue;
                    }
                }
                At::Key => {
                    if self.closes(c) {
                        self.at = At::Outside;
                    }
                }
                At::Value => {
                    self.held.push(c);
                    if self.closes(c) {
                        let held = std::mem::take(&mut self.held);
                        out.push_str(&self.value(&held));
                    }
                    continue;
                }
                At::Lost => {}
            }
            out.push(c);
        }
        out
    }

    /// Whether this is the quotation mark that ends a string.
    fn closes(&mut self, c: char) -> bool {
        let escaped = std::mem::take(&mut self.escaped);
        self.escaped = c == '\\' && !escaped;
        c == '"' && !escaped
    }

    fn outside(&mut self, c: char) {
        match c {
            '"' if self.name_next => self.at = At::Key,
            '"' => self.at = At::Value,
            '{' | '[' => {
                self.open.push(c == '{');
                self.name_next = c == '{';
                if self.open.len() > DEEPEST {
                    self.at = At::Lost;
                }
            }
            '}' | ']' => {
                self.open.pop();
                self.name_next = false;
            }
            ',' => self.name_next = self.open.last() == Some(&true),
            ':' => self.name_next = false,
            _ => {}
        }
    }

    /// A whole string with its quotation marks, restored and escaped again.
    fn value(&mut self, quoted: &str) -> String {
        let text: Option<String> = serde_json::from_str(quoted).ok();
        self.at = if text.is_some() {
            At::Outside
        } else {
            At::Lost
        };
        let restored =
            text.map(|text| Value::String(string(&mut self.restorer, &text)).to_string());
        restored.unwrap_or_else(|| quoted.to_owned())
    }
}

/// A string of JSON. One that begins as an address is one as a whole for many programs that fetch it.
fn string(restorer: &mut Restorer, text: &str) -> String {
    if begins_as_address(text) {
        return text.to_owned();
    }
    let mut restored = restorer.push(text);
    restored.push_str(&restorer.finish());
    restored
}

/// Schemes that stand for addresses also where white space follows, which programs that fetch addresses take out.
const SCHEMES: [&str; 13] = [
    "http",
    "https",
    "ws",
    "wss",
    "ftp",
    "file",
    "data",
    "blob",
    "javascript",
    "mailto",
    "tel",
    "sms",
    "view-source",
];

/// `scheme:...`, `//...`, `www....`, `host.example/...`, as programs that fetch addresses read them: without tabs and
/// line ends, wherever they stand, and with a slash for each backslash.
fn begins_as_address(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
    let read = |text: &str| text.replace(['\t', '\n', '\r'], "").replace('\\', "/");
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme = text.split_once(':').is_some_and(|(scheme, rest)| {
        let name = read(scheme);
        let known = SCHEMES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&name));
        let touches = !rest.starts_with(char::is_whitespace) || read(rest).starts_with('/');
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(in_scheme)
            && (touches || known)
    });
    let text = read(text);
    let www = text
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("www."));
    let host = text
        .split_once(['/', '?', '#', ':'])
        .is_some_and(|(host, _)| {
            let label = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
            host.contains('.') && host.chars().all(label)
        });
    scheme || www || host || text.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DEFAULT, Policy};
    use serde_json::json;

    /// A session that has drawn a surrogate for a word, and the surrogate.
    fn session(original: &str) -> (Originals, String) {
        let privatizer = Policy::parse(DEFAULT).unwrap().load().unwrap();
        let mut session = Session::new(privatizer).unwrap();
        let surrogate = session.privatize(original).unwrap().text;
        (
            Originals::new(Arc::new(Mutex::new(session)), false),
            surrogate,
        )
    }

    /// Pieces of every length, which cut surrogates and escapes apart.
    fn cut(part: impl Fn() -> Part, text: &str) -> Vec<String> {
        let lengths = 1..=text.chars().count().max(1);
        let restored = lengths.map(|length| {
            let mut part = part();
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars
                .chunks(length)
                .map(|piece| piece.iter().collect::<String>());
            let mut restored: String = pieces.map(|piece| part.push(&piece)).collect();
            restored.push_str(&part.finish());
            restored
        });
        restored.collect()
    }

    #[test]
    fn originals_are_escaped_again_wherever_the_pieces_are_cut() {
        // One token for the cutter, with all that JSON has to escape in it.
        let original = ":\"\\D";
        let (originals, surrogate) = session(original);
        let given = format!(
            r#"{{"{surrogate}": ["\u00e9 {surrogate} \n", 5, {{"a": "{surrogate}"}}], "b\"{surrogate}": null}}"#
        );
        for restored in cut(|| originals.json_text(), &given) {
            let restored: Value = serde_json::from_str(&restored).unwrap();
            let text = format!("é {original} \n");
            let expected =
                json!({&surrogate: [text, 5, {"a": original}], format!("b\"{surrogate}"): null});
            assert_eq!(restored, expected);
        }
        let mut value = json!({&surrogate: [&surrogate, true]});
        assert_eq!(originals.json(&mut value), 1);
        assert_eq!(value, json!({&surrogate: [original, true]}));
    }

    #[test]
    fn nothing_goes_into_strings_that_begin_as_addresses() {
        let (originals, surrogate) = session("qwxzv");
        for begin in [
            "https://evil.example/?q= ",
            " //evil.example/ ",
            "WWW.evil.example ",
            "mailto:a ",
            "x:y ",
            "evil.example/?q= ",
            "192.0.2.1:80/ ",
            "\\\\host ",
            "ht\ntps://evil.example/?q=\n",
            "https:\n/\n/evil.example/?q=\n",
            "HTTPS:\r\nevil.example/?q= ",
            "x:\n/\t/evil.example/ ",
            "/\\evil.example/?q= ",
            "\t/\n/evil.example/ ",
            "w\nww.evil.example ",
            "evil.\nexample/?q= ",
        ] {
            let mut value = json!(format!("{begin}{surrogate}"));
            let before = value.clone();
            originals.json(&mut value);
            assert_eq!(value, before, "{begin}");
        }
        for note in ["note: ", "Note:\n"] {
            let mut value = json!(format!("{note}{surrogate}"));
            originals.json(&mut value);
            assert_eq!(value, format!("{note}qwxzv"));
        }
    }

    #[test]
    fn what_is_not_json_is_left_as_it_is() {
        let (originals, surrogate) = session("qwxzv");
        for given in [
            format!("{{\"a\": \"\\x {surrogate}\", \"b\": \"{surrogate}\"}}"),
            format!("{}\"{surrogate}\"", "[".repeat(300)),
            format!("[\"{surrogate}"),
            surrogate.clone(),
        ] {
            for restored in cut(|| originals.json_text(), &given) {
                assert_eq!(restored, given);
            }
        }
    }
}
