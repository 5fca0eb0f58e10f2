//! Whether an answer that is JSON, without having been asked to be, has a string where an original goes: there it
//! is escaped, so that it cannot end the string.

/// How far it is known that an answer is JSON.
#[derive(Clone, Copy)]
enum Kind {
    /// So many characters of [`FENCE`] were read.
    Begins(usize),
    Json,
    Plain,
}

/// How a block of JSON begins in Markdown.
const FENCE: &[u8] = b"```json";

/// Reads an answer chunk by chunk.
#[derive(Clone, Copy)]
pub struct Quoting {
    kind: Kind,
    string: bool,
    escaped: bool,
}

impl Quoting {
    pub fn new() -> Quoting {
        Quoting {
            kind: Kind::Begins(0),
            string: false,
            escaped: false,
        }
    }

    /// Reads on; no white space stands in `text`.
    pub fn read(&mut self, text: &str) {
        for b in text.bytes() {
            self.kind = match self.kind {
                Kind::Begins(0) if matches!(b, b'{' | b'[') => Kind::Json,
                Kind::Begins(read) if b.eq_ignore_ascii_case(&FENCE[read]) => {
                    match read + 1 == FENCE.len() {
                        true => Kind::Json,
                        false => Kind::Begins(read + 1),
                    }
                }
                Kind::Begins(_) => Kind::Plain,
                kind => kind,
            };
            match self.kind {
                Kind::Plain => return,
                Kind::Begins(_) => {}
                Kind::Json => {
                    let escaped = std::mem::take(&mut self.escaped);
                    self.string ^= b == b'"' && !escaped;
                    self.escaped = b == b'\\' && self.string && !escaped;
                }
            }
        }
    }

    /// An original as it is written here.
    pub fn write(&self, original: &str, out: &mut String) {
        if !self.string {
            return out.push_str(original);
        }
        for c in original.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
    }
}
