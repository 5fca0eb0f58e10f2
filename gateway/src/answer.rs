//! Answers, restored: whole ones, and streams event by event.
//!
//! What an answer holds came from the upstream, which knows all of it already: so fields that are not
//! known here are passed on as they are. Originals go into the fields that are known to be text, and
//! nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::refusal::{Api, Kind, Refusal, Result};
use crate::restore::{Originals, Part};
use crate::sse::Event;

/// Most parts of an answer that are restored side by side.
const MOST_PARTS: usize = 1024;

/// Texts of a message in OpenAI's interface.
const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

/// Restores a whole answer in place; how many originals were put back.
pub fn whole(api: Api, answer: &mut Value, originals: &Originals) -> u64 {
    let mut restored = 0;
    match api {
        Api::OpenAi => {
            for choice in elements(answer, "choices") {
                if let Some(found) = choice.get_mut("message") {
                    restored += message(found, originals);
                }
            }
        }
        Api::Anthropic => {
            let mut text = originals.text();
            for block in elements(answer, "content") {
                if block["type"] == "tool_use" {
                    restored += block
                        .get_mut("input")
                        .map_or(0, |input| originals.json(input));
                } else if block["type"] == "text" {
                    at(block, "text", &mut text);
                }
            }
            restored += text.restored();
        }
    }
    restored
}

fn message(message: &mut Value, originals: &Originals) -> u64 {
    let mut restored = 0;
    for name in TEXTS {
        restored += at(message, name, &mut text(name, originals));
    }
    for call in elements(message, "tool_calls") {
        if let Some(function) = call.get_mut("function") {
            restored += at(function, "arguments", &mut originals.json_text());
        }
    }
    restored
}

/// A text of a message: what it says may be JSON.
fn text(name: &str, originals: &Originals) -> Part {
    match name {
        "content" => originals.content(),
        _ => originals.text(),
    }
}

/// Restores the string that a field holds, as a block of a part; how many originals are in the part now.
fn at(object: &mut Value, name: &str, part: &mut Part) -> u64 {
    if let Some(Value::String(text)) = object.get_mut(name) {
        *text = part.block(text);
    }
    part.restored()
}

fn elements<'v>(value: &'v mut Value, name: &str) -> impl Iterator<Item = &'v mut Value> {
    let elements = value.get_mut(name).and_then(Value::as_array_mut);
    elements
        .into_iter()
        .flatten()
        .filter(|element| element.is_object())
}

/// Which part of a streamed answer: choice or block, and the field or the number of the call.
type Key = (u64, Field);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Text(&'static str),
    Call(u64),
}

/// The text of all blocks in Anthropic's interface is one part: clients put the blocks together.
const BLOCKS: Key = (0, Field::Text("text"));

/// Restores a streamed answer. A part is kept until the end, also if it was said to have ended: what an
/// address has begun in is remembered.
pub struct Stream {
    api: Api,
    originals: Originals,
    parts: BTreeMap<Key, Part>,
    /// The block that text came for last, in Anthropic's interface.
    block: u64,
    /// Choices that have begun and not said why they ended.
    open: BTreeSet<u64>,
    /// What the last event said of the answer as a whole, for events that are made here.
    about: Value,
    ended: bool,
    /// Whether a choice said why it ended. Some upstreams end with that.
    finished: bool,
}

impl Stream {
    /// A stream of this interface.
    pub fn new(api: Api, originals: Originals) -> Stream {
        Stream {
            api,
            originals,
            parts: BTreeMap::new(),
            block: 0,
            open: BTreeSet::new(),
            about: json!({}),
            ended: false,
            finished: false,
        }
    }

    /// Whether the answer came to its end.
    pub fn is_ended(&self) -> bool {
        self.ended || self.finished && self.open.is_empty()
    }

    /// How many originals were put back.
    pub fn restored(&self) -> u64 {
        self.parts.values().map(Part::restored).sum()
    }

    /// What is sent on for an event: the event with originals in it, and before it what was held
    /// back, if that ends with it.
    pub fn event(&mut self, event: Event) -> Result<Vec<Event>> {
        if event.data.is_empty() {
            return Ok(vec![event]);
        }
        match self.api {
            Api::OpenAi if event.data.trim() == "[DONE]" => {
                self.ended = true;
                let rests = self.flush(|_| true).into_iter();
                let mut events: Vec<Event> = rests
                    .map(|(key, rest)| self.rest_of_choice(key, rest))
                    .collect();
                events.push(event);
                Ok(events)
            }
            Api::OpenAi => self.chunk(event),
            Api::Anthropic => self.step(event),
        }
    }

    /// The part of this key, and what a piece of it becomes.
    fn push(&mut self, key: Key, piece: &mut String) -> Result<()> {
        if !self.parts.contains_key(&key) {
            if self.parts.len() >= MOST_PARTS {
                return Err(too_many());
            }
            let part = match key.1 {
                Field::Text(name) => text(name, &self.originals),
                Field::Call(_) => self.originals.json_text(),
            };
            self.parts.insert(key, part);
        }
        if let Some(part) = self.parts.get_mut(&key) {
            *piece = part.push(piece);
        }
        Ok(())
    }

    /// What these parts held back.
    fn flush(&mut self, of: impl Fn(Key) -> bool) -> Vec<(Key, String)> {
        let parts = self.parts.iter_mut().filter(|(key, _)| of(**key));
        let rests = parts.map(|(key, part)| (*key, part.flush()));
        rests.filter(|(_, rest)| !rest.is_empty()).collect()
    }

    /// A chunk of OpenAI's interface.
    fn chunk(&mut self, mut event: Event) -> Result<Vec<Event>> {
        let mut chunk = parse(&event)?;
        let mut events = Vec::new();
        self.about = about(&chunk);
        self.ended |= chunk.get("error").is_some();
        for choice in elements(&mut chunk, "choices") {
            let number = choice["index"].as_u64().unwrap_or(0);
            self.open.insert(number);
            if self.open.len() > MOST_PARTS {
                return Err(too_many());
            }
            if let Some(delta) = choice.get_mut("delta") {
                self.delta(number, delta)?;
            }
            if choice
                .get("finish_reason")
                .is_some_and(|reason| !reason.is_null())
            {
                self.finished = true;
                self.open.remove(&number);
                for (key, rest) in self.flush(|key| key.0 == number) {
                    // The end of a part stands behind what this very chunk brings of it.
                    match choice.get_mut("delta").and_then(|d| piece_of(d, key.1)) {
                        Some(piece) => piece.push_str(&rest),
                        None => events.push(self.rest_of_choice(key, rest)),
                    }
                }
            }
        }
        event.data = chunk.to_string();
        events.push(event);
        Ok(events)
    }

    /// What a chunk brings of a choice.
    fn delta(&mut self, number: u64, delta: &mut Value) -> Result<()> {
        for name in TEXTS {
            if let Some(piece) = piece_of(delta, Field::Text(name)) {
                self.push((number, Field::Text(name)), piece)?;
            }
        }
        for call in elements(delta, "tool_calls") {
            let key = (number, Field::Call(call["index"].as_u64().unwrap_or(0)));
            let function = call.get_mut("function");
            if let Some(Value::String(piece)) = function.and_then(|f| f.get_mut("arguments")) {
                self.push(key, piece)?;
            }
        }
        Ok(())
    }

    /// A chunk with what was held back of a part.
    fn rest_of_choice(&self, (number, field): Key, rest: String) -> Event {
        let delta = match field {
            Field::Text(name) => json!({name: rest}),
            Field::Call(call) => {
                json!({"tool_calls": [{"index": call, "function": {"arguments": rest}}]})
            }
        };
        let mut chunk = self.about.clone();
        chunk["choices"] = json!([{"index": number, "delta": delta, "finish_reason": null}]);
        Event {
            name: None,
            data: chunk.to_string(),
        }
    }

    /// An event of Anthropic's interface.
    fn step(&mut self, mut event: Event) -> Result<Vec<Event>> {
        let mut data = parse(&event)?;
        let number = data["index"].as_u64().unwrap_or(0);
        let mut events = Vec::new();
        match data["type"].as_str().unwrap_or_default() {
            "content_block_delta" => {
                if let Some(delta) = data.get_mut("delta") {
                    if let Some(Value::String(piece)) = delta.get_mut("text") {
                        events.extend(self.text_of_block(number, piece)?);
                    }
                    if let Some(Value::String(piece)) = delta.get_mut("partial_json") {
                        self.push((number, Field::Call(0)), piece)?;
                    }
                }
            }
            "content_block_start" => {
                let is_text = data["content_block"]["type"] == "text";
                let block = data.get_mut("content_block").filter(|_| is_text);
                if let Some(Value::String(text)) = block.and_then(|block| block.get_mut("text")) {
                    events.extend(self.text_of_block(number, text)?);
                }
            }
            "content_block_stop" => {
                let text = number == self.block;
                events.extend(self.flush_blocks(|key| match key {
                    BLOCKS => text,
                    (of, _) => of == number,
                }));
            }
            "message_stop" | "error" => {
                self.ended = true;
                events.extend(self.flush_blocks(|_| true));
            }
            _ => {}
        }
        event.data = data.to_string();
        events.push(event);
        Ok(events)
    }

    /// A piece of a block's text, and before it what was held back of another block.
    fn text_of_block(&mut self, number: u64, piece: &mut String) -> Result<Vec<Event>> {
        let before = match number == self.block {
            true => Vec::new(),
            false => self.flush_blocks(|key| key == BLOCKS),
        };
        self.block = number;
        self.push(BLOCKS, piece)?;
        Ok(before)
    }

    fn flush_blocks(&mut self, of: impl Fn(Key) -> bool) -> Vec<Event> {
        let block = self.block;
        let rests = self.flush(of).into_iter();
        let event = |((number, field), rest): (Key, String)| {
            let (number, delta) = match field {
                Field::Text(_) => (block, json!({"type": "text_delta", "text": rest})),
                Field::Call(_) => (
                    number,
                    json!({"type": "input_json_delta", "partial_json": rest}),
                ),
            };
            let name = "content_block_delta";
            Event {
                name: Some(name.into()),
                data: json!({"type": name, "index": number, "delta": delta}).to_string(),
            }
        };
        rests.map(event).collect()
    }
}

/// What a chunk brings of a field: the piece of it, if there is one.
fn piece_of(delta: &mut Value, field: Field) -> Option<&mut String> {
    let found = match field {
        Field::Text(name) => delta.get_mut(name),
        Field::Call(number) => elements(delta, "tool_calls")
            .find(|call| call["index"].as_u64().unwrap_or(0) == number)
            .and_then(|call| call.get_mut("function"))
            .and_then(|function| function.get_mut("arguments")),
    };
    match found {
        Some(Value::String(piece)) => Some(piece),
        _ => None,
    }
}

fn too_many() -> Refusal {
    Refusal::new(Kind::Upstream, "the answer has too many parts")
}

/// What a chunk says of the whole answer.
fn about(chunk: &Value) -> Value {
    let kept = ["id", "object", "created", "model"];
    let fields = kept
        .iter()
        .filter_map(|name| Some((name.to_string(), chunk.get(*name)?.clone())));
    Value::Object(fields.collect())
}

fn parse(event: &Event) -> Result<Value> {
    let parsed: Option<Value> = serde_json::from_str(&event.data).ok();
    let object = parsed.filter(Value::is_object);
    object.ok_or_else(|| {
        Refusal::new(
            Kind::Upstream,
            "the upstream's stream has an event that is not JSON",
        )
    })
}
