//! Just enough JSON to answer in: a writer, no reader.

/// Text of JSON values in the order in which they are written.
#[derive(Default)]
pub struct Json(String);

impl Json {
    /// The text of an object, its members written by `members`.
    pub fn text(members: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::default();
        json.object(members);
        json.0
    }

    fn separate(&mut self) {
        if !matches!(self.0.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.0.push(',');
        }
    }

    /// `{ ... }`
    pub fn object(&mut self, members: impl FnOnce(&mut Json)) {
        self.separate();
        self.0.push('{');
        members(self);
        self.0.push('}');
    }

    /// `[ ... ]`
    pub fn array(&mut self, elements: impl FnOnce(&mut Json)) {
        self.separate();
        self.0.push('[');
        elements(self);
        self.0.push(']');
    }

    /// The name of the member that is written next.
    pub fn key(&mut self, name: &str) -> &mut Json {
        self.string(name);
        self.0.push(':');
        self
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.separate();
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                c if c < ' ' => self.0.push_str(&format!("\\u{:04x}", c as u32)),
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }

    /// A number; the string `"infinite"` if it has no limit, for which JSON has no number.
    pub fn number(&mut self, x: f64) {
        if x.is_finite() {
            self.separate();
            self.0.push_str(&x.to_string());
        } else {
            self.string("infinite");
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, b: bool) {
        self.separate();
        self.0.push_str(if b { "true" } else { "false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.separate();
        self.0.push_str("null");
    }
}
