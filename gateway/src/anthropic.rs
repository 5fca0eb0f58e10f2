//! The requests of Anthropic's messages, field by field.

use serde_json::Value;

use crate::definitions::schema;
use crate::fields::{Fields, Pattern, each};
use crate::policy::Role;
use crate::reader::{NOT_TEXT, Reader};
use crate::refusal::{Refusal, Result};

/// A whole request.
pub fn request(value: Value, reader: &mut Reader<'_>) -> Result<Value> {
    let mut fields = Fields::new(value, "request")?;
    fields.public("model", Pattern::Model)?;
    fields.flag("stream")?;
    for (name, least, most) in [
        ("max_tokens", 0.0, 1e7),
        ("temperature", 0.0, 1.0),
        ("top_p", 0.0, 1.0),
        ("top_k", 0.0, 1e6),
    ] {
        fields.number(name, least, most)?;
    }
    fields.one_of("service_tier", &["auto", "standard_only"])?;
    // Tools come first: the names that they declare stay in the JSON of calls and results.
    fields.read("tools", |v, place| {
        each(v, place, |v, place| tool(v, reader, place))
    })?;
    fields.read("tool_choice", tool_choice)?;
    fields.read("system", |v, place| content(Role::System, v, reader, place))?;
    fields.read("messages", |v, place| {
        each(v, place, |v, place| message(v, reader, place))
    })?;
    fields.read("stop_sequences", |v, place| {
        each(v, place, |v, place| reader.string(Role::System, v, place))
    })?;
    fields.read("metadata", |value, place| {
        let mut fields = Fields::new(value, place)?;
        fields.read("user_id", |v, place| reader.identifier(v, place))?;
        fields.done()
    })?;
    fields.read("thinking", |value, place| {
        let mut fields = Fields::new(value, place)?;
        if fields.peek("type") != Some("disabled") {
            let why = "has to be disabled: signed thoughts have to come back unchanged, and what comes back is privatized";
            return Err(Refusal::at(place, why));
        }
        fields.one_of("type", &["disabled"])?;
        fields.done()
    })?;
    fields.done()
}

fn message(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    let role = match fields.peek("role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Refusal::at(place, "needs the role user or assistant")),
    };
    fields.one_of("role", &["user", "assistant"])?;
    fields.read("content", |v, place| content(role, v, reader, place))?;
    fields.done()
}

fn content(role: Role, value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    match value.is_array() {
        true => each(value, place, |v, place| block(role, v, reader, place)),
        false => reader.string(role, value, place),
    }
}

fn block(role: Role, value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    match (fields.peek("type"), role) {
        (Some("text"), _) => {
            fields.read("text", |v, place| reader.string(role, v, place))?;
            fields.refused("citations", "cannot be privatized; leave it out")?;
        }
        (Some("tool_use"), Role::Assistant) => {
            fields.public("id", Pattern::Name)?;
            fields.public("name", Pattern::Name)?;
            fields.read("input", |v, place| reader.leaves(Role::Assistant, v, place))?;
            fields.read("caller", caller)?;
        }
        (Some("tool_result"), Role::User) => {
            fields.public("tool_use_id", Pattern::Name)?;
            fields.flag("is_error")?;
            fields.read("content", |v, place| result(v, reader, place))?;
        }
        _ => return Err(Refusal::at(place, NOT_TEXT)),
    }
    fields.one_of("type", &["text", "tool_use", "tool_result"])?;
    fields.read("cache_control", cache_control)?;
    fields.done()
}

/// Who called a tool: only the model itself is known here.
fn caller(value: Value, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.one_of("type", &["direct"])?;
    fields.done()
}

/// What a tool returned: a string, or blocks of text.
fn result(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    if !value.is_array() {
        return reader.json_text(Role::Tool, value, place);
    }
    each(value, place, |value, place| {
        let mut fields = Fields::new(value, place)?;
        if fields.peek("type") != Some("text") {
            return Err(Refusal::at(place, NOT_TEXT));
        }
        fields.one_of("type", &["text"])?;
        fields.read("text", |v, place| reader.json_text(Role::Tool, v, place))?;
        fields.read("cache_control", cache_control)?;
        fields.done()
    })
}

fn cache_control(value: Value, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.one_of("type", &["ephemeral"])?;
    fields.one_of("ttl", &["5m", "1h"])?;
    fields.done()
}

fn tool(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    if !matches!(fields.peek("type"), None | Some("custom")) {
        return Err(Refusal::at(
            place,
            "is a tool that the upstream runs itself; only custom tools are passed on",
        ));
    }
    fields.one_of("type", &["custom"])?;
    fields.public("name", Pattern::Name)?;
    fields.read("description", |v, place| {
        reader.string(Role::Definitions, v, place)
    })?;
    fields.read("input_schema", |v, place| schema(v, reader, place))?;
    fields.read("cache_control", cache_control)?;
    fields.flag("strict")?;
    fields.done()
}

fn tool_choice(value: Value, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.one_of("type", &["auto", "any", "tool", "none"])?;
    fields.public("name", Pattern::Name)?;
    fields.flag("disable_parallel_tool_use")?;
    fields.done()
}
