//! What readers of requests share: text goes through the session, by the treatment of its role.

use std::collections::{BTreeSet, HashMap};

use brr::{ErrorKind, Session};
use serde_json::{Map, Value};

use crate::fields::Pattern;
use crate::policy::{Policy, Role, Treatment};
use crate::refusal::{Api, Kind, Refusal, Result};
use crate::{anthropic, openai};

/// What is told of content that is no text.
pub const NOT_TEXT: &str = "is not text (images, audio and files cannot be privatized)";

/// A request that may leave.
#[derive(Debug)]
pub struct Prepared {
    /// Its body.
    pub body: Vec<u8>,
    /// Whether the answer should be streamed.
    pub stream: bool,
    /// Whether the answer should be JSON.
    pub json: bool,
    /// Private words in it, each occurrence counted.
    pub words: u64,
}

/// Reads the body of a request, and privatizes it in a session. Nothing of the body is in what
/// comes back but what [`crate::fields`] lets through.
pub fn read(api: Api, body: &[u8], policy: &Policy, session: &mut Session) -> Result<Prepared> {
    let request: Value =
        serde_json::from_slice(body).map_err(|_| Refusal::at("request", "is not JSON"))?;
    let stream = request.get("stream") == Some(&Value::Bool(true));
    let form = request.pointer("/response_format/type");
    let json = form.is_some_and(|form| form == "json_object" || form == "json_schema");
    let mut reader = Reader {
        policy,
        session,
        words: 0,
        keys: policy.keys().iter().cloned().collect(),
    };
    let kept = match api {
        Api::OpenAi => openai::request(request, &mut reader)?,
        Api::Anthropic => anthropic::request(request, &mut reader)?,
    };
    let words = reader.words;
    let limits = policy.limits();
    if limits.loss > 0.0 && session.loss() > limits.loss || session.remembered() > limits.words {
        return Err(Refusal::new(
            Kind::Forbidden,
            "a limit of the policy (limits.loss, limits.words) is reached; begin another conversation, which is another release",
        ));
    }
    Ok(Prepared {
        body: kept.to_string().into_bytes(),
        stream,
        json,
        words,
    })
}

/// A request that is being read.
pub struct Reader<'a> {
    policy: &'a Policy,
    session: &'a mut Session,
    words: u64,
    keys: BTreeSet<String>,
}

impl Reader<'_> {
    /// A text, by what the policy says of its role.
    pub fn text(&mut self, role: Role, text: &str, place: &str) -> Result<String> {
        match self.policy.treatment(role) {
            Treatment::Privatize => self.privatize(text),
            Treatment::Public => {
                // Without a span nothing is drawn; the session learns which words stand in public text.
                let public = self.session.privatize_spans(text, &[]).map_err(told)?;
                Ok(public.text)
            }
            Treatment::Refuse => Err(Refusal::at(place, "is refused by the policy")),
        }
    }

    fn privatize(&mut self, text: &str) -> Result<String> {
        let private = self.session.privatize(text).map_err(told)?;
        self.words += private.private();
        Ok(private.text)
    }

    /// A value that has to be a string, as text.
    pub fn string(&mut self, role: Role, value: Value, place: &str) -> Result<Value> {
        match value {
            Value::String(text) => self.text(role, &text, place).map(Value::String),
            _ => Err(Refusal::at(place, "has to be a string")),
        }
    }

    /// A name that the client gave somebody: privatized whatever the policy says, and written so
    /// that it is still a name.
    pub fn identifier(&mut self, value: Value, place: &str) -> Result<Value> {
        let Value::String(text) = value else {
            return Err(Refusal::at(place, "has to be a string"));
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = self.privatize(&text)?.chars().map(plain).take(64).collect();
        Ok(Value::String(name))
    }

    /// Lets a name of a JSON field through from here on. Tools declare their parameters so.
    pub fn declare(&mut self, key: &str, place: &str) -> Result<()> {
        Pattern::Name.check(Value::from(key), place)?;
        self.keys.insert(key.to_owned());
        Ok(())
    }

    /// The leaves of JSON: strings and numbers are text, names of fields too unless they were
    /// declared; `true`, `false` and `null` are structure, which is public.
    pub fn leaves(&mut self, role: Role, value: Value, place: &str) -> Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(role, &text, place)?),
            Value::Number(number) => self.number(role, &number.to_string(), place)?,
            Value::Array(elements) => {
                let read = elements.into_iter().map(|e| self.leaves(role, e, place));
                Value::Array(read.collect::<Result<_>>()?)
            }
            Value::Object(fields) => self.object(role, fields, place)?,
            structure => structure,
        })
    }

    /// A number as it is drawn: a number if that is what comes out, else a string.
    fn number(&mut self, role: Role, number: &str, place: &str) -> Result<Value> {
        let drawn = self.text(role, number, place)?;
        let number: std::result::Result<serde_json::Number, _> = serde_json::from_str(&drawn);
        Ok(number.map_or(Value::String(drawn), Value::Number))
    }

    fn object(&mut self, role: Role, fields: Map<String, Value>, place: &str) -> Result<Value> {
        // How often a name was met is remembered, so that many fields take no longer than that.
        let (mut kept, mut met) = (Map::new(), HashMap::new());
        for (key, value) in fields {
            let mut key = match self.keys.contains(&key) {
                true => key,
                false => self.text(role, &key, place)?,
            };
            // Two names may become one: no field is lost for that.
            if kept.contains_key(&key) {
                let number = met.entry(key.clone()).or_insert(1_u64);
                let mut others = std::iter::repeat_with(|| {
                    *number += 1;
                    format!("{key}_{number}")
                });
                key = others
                    .find(|other| !kept.contains_key(other))
                    .unwrap_or_default();
            }
            let value = self.leaves(role, value, place)?;
            kept.insert(key, value);
        }
        Ok(Value::Object(kept))
    }

    /// A string that holds JSON, by its leaves; any other string as text. Which of the two it is
    /// depends on its characters alone.
    pub fn json_text(&mut self, role: Role, value: Value, place: &str) -> Result<Value> {
        let Value::String(text) = value else {
            return Err(Refusal::at(place, "has to be a string"));
        };
        let json: Option<Value> = serde_json::from_str(&text).ok();
        match json.filter(|json| json.is_object() || json.is_array()) {
            Some(json) => Ok(Value::String(self.leaves(role, json, place)?.to_string())),
            None => self.text(role, &text, place).map(Value::String),
        }
    }
}

fn told(error: brr::Error) -> Refusal {
    let kind = match error.kind() {
        ErrorKind::Input => Kind::Request,
        _ => Kind::Unready,
    };
    Refusal::new(kind, format!("{error}; nothing was sent upstream"))
}
