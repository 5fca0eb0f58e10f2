//! Answers, restored: whole ones, and streams event by event.
//!
//! What an answer holds came from the upstream, which knows all of it already: so fields that are not
//! known here are passed on as they are. Originals go into the fields that are known to be text, and
//! nowhere else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use brr::Restorer;
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
            let mut text = originals.blocks();
            let mut pieces: BTreeMap<u64, String> = BTreeMap::new();
            let mut keep = |told: Vec<(u64, String)>| {
                for (number, piece) in told {
                    pieces.entry(number).or_default().push_str(&piece);
                }
            };
            for (number, block) in (0..).zip(elements(answer, "content")) {
                if block["type"] == "tool_use" {
                    restored += block
                        .get_mut("input")
                        .map_or(0, |input| originals.json(input));
                } else if let Some(piece) = text_of(block) {
                    keep(text.push_block(number, piece));
                }
            }
            keep(text.finish_blocks());
            for (number, block) in (0..).zip(elements(answer, "content")) {
                if let Some(piece) = text_of(block) {
                    *piece = pieces.remove(&number).unwrap_or_default();
                }
            }
            restored += text.restored();
        }
    }
    restored
}

/// The text of a block that is text.
fn text_of(block: &mut Value) -> Option<&mut String> {
    let is_text = block["type"] == "text";
    match block.get_mut("text") {
        Some(Value::String(text)) if is_text => Some(text),
        _ => None,
    }
}

fn message(message: &mut Value, originals: &Originals) -> u64 {
    let mut restored = 0;
    for name in TEXTS {
        restored += at(message, name, text(name, originals));
    }
    for call in elements(message, "tool_calls") {
        if let Some(function) = call.get_mut("function") {
            restored += at(function, "arguments", originals.json_text());
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

/// Restores the string that a field holds; how many originals were put back.
fn at(object: &mut Value, name: &str, mut part: Part) -> u64 {
    if let Some(Value::String(text)) = object.get_mut(name) {
        *text = part.whole(text);
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

/// Restores a streamed answer. A part that was said to have ended may not go on: its last word was told.
///
/// Clients put the text blocks of Anthropic's interface together, so what becomes of the end of a block may take the
/// beginning of the next. Where it does, the end of the block waits, and with it whatever comes behind.
pub struct Stream {
    api: Api,
    originals: Originals,
    parts: BTreeMap<Key, Part>,
    /// Parts that have ended.
    closed: BTreeSet<Key>,
    /// The text of all blocks in Anthropic's interface.
    blocks: Restorer,
    /// The block that text came for last.
    block: u64,
    /// What waits, and of which block an event is the end.
    waiting: VecDeque<(Option<u64>, Event)>,
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
            blocks: originals.blocks(),
            originals,
            parts: BTreeMap::new(),
            closed: BTreeSet::new(),
            block: 0,
            waiting: VecDeque::new(),
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
        let parts: u64 = self.parts.values().map(Part::restored).sum();
        parts + self.blocks.restored()
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
                let rests = self.close(|_| true).into_iter();
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
        if !piece.is_empty() && self.closed.contains(&key) {
            return Err(out_of_order());
        }
        if let Some(part) = self.parts.get_mut(&key) {
            *piece = part.push(piece);
        }
        Ok(())
    }

    /// These parts have ended: what they held back.
    fn close(&mut self, of: impl Fn(Key) -> bool) -> Vec<(Key, String)> {
        let parts = self.parts.iter_mut().filter(|(key, _)| of(**key));
        let closed = &mut self.closed;
        let rests = parts.filter(|(key, _)| closed.insert(**key));
        let rests = rests.map(|(key, part)| (*key, part.finish()));
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
            // Some upstreams write an empty reason until there is one.
            let reason = choice.get("finish_reason");
            if reason.is_some_and(|reason| !reason.is_null() && reason != "") {
                self.finished = true;
                self.open.remove(&number);
                for (key, rest) in self.close(|key| key.0 == number) {
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
        let mut end = None;
        match data["type"].as_str().unwrap_or_default() {
            "content_block_delta" => {
                if let Some(delta) = data.get_mut("delta") {
                    if let Some(Value::String(piece)) = delta.get_mut("text") {
                        self.text_of_block(number, piece)?;
                    }
                    if let Some(Value::String(piece)) = delta.get_mut("partial_json") {
                        self.push((number, Field::Call(0)), piece)?;
                    }
                }
            }
            "content_block_start" => {
                if let Some(text) = data.get_mut("content_block").and_then(text_of) {
                    self.text_of_block(number, text)?;
                }
            }
            "content_block_stop" => {
                if number == self.block {
                    let told = self.blocks.end_block();
                    self.tell(told);
                    end = Some(number);
                }
                self.close_calls(|key| key.0 == number);
            }
            "message_stop" | "error" => {
                self.ended = true;
                let told = self.blocks.finish_blocks();
                self.tell(told);
                self.close_calls(|_| true);
            }
            _ => {}
        }
        event.data = data.to_string();
        self.waiting.push_back((end, event));
        Ok(self.ready())
    }

    /// A piece of a block's text: what can be told of this block now. What can be told of those before it goes to their ends.
    fn text_of_block(&mut self, number: u64, piece: &mut String) -> Result<()> {
        if self.ended || number < self.block {
            return Err(out_of_order());
        }
        self.block = number;
        let mut told = self.blocks.push_block(number, piece);
        let own = told.pop_if(|(block, _)| *block == number);
        *piece = own.map_or(String::new(), |(_, text)| text);
        self.tell(told);
        Ok(())
    }

    /// Puts what is told of blocks before their ends, if these wait.
    fn tell(&mut self, told: Vec<(u64, String)>) {
        for (number, text) in told {
            let ends = |(end, _): &(Option<u64>, Event)| *end == Some(number);
            let end = self.waiting.iter().position(ends);
            let text = delta(number, json!({"type": "text_delta", "text": text}));
            self.waiting
                .insert(end.unwrap_or(self.waiting.len()), (None, text));
        }
    }

    /// These calls of tools have ended.
    fn close_calls(&mut self, of: impl Fn(Key) -> bool) {
        for ((number, _), rest) in self.close(of) {
            let rest = json!({"type": "input_json_delta", "partial_json": rest});
            self.waiting.push_back((None, delta(number, rest)));
        }
    }

    /// What waits for nothing any more.
    fn ready(&mut self) -> Vec<Event> {
        let held = self.blocks.held();
        let waits =
            |(end, _): &(Option<u64>, Event)| end.is_some() && held.is_some() && *end >= held;
        let first = self.waiting.iter().position(waits);
        let ready = self.waiting.drain(..first.unwrap_or(self.waiting.len()));
        ready.map(|(_, event)| event).collect()
    }
}

/// An event of Anthropic's interface that brings this of a block.
fn delta(number: u64, delta: Value) -> Event {
    let name = "content_block_delta";
    Event {
        name: Some(name.into()),
        data: json!({"type": name, "index": number, "delta": delta}).to_string(),
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

fn out_of_order() -> Refusal {
    let message = "the upstream's stream goes on with something that it said had ended";
    Refusal::new(Kind::Upstream, message)
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
