//! The requests of OpenAI's chat completions, field by field.

use serde_json::{Map, Value};

use crate::definitions::schema;
use crate::fields::{Fields, Pattern, each, one_of};
use crate::policy::Role;
use crate::reader::{NOT_TEXT, Reader};
use crate::refusal::{Refusal, Result};

/// A whole request.
pub fn request(value: Value, reader: &mut Reader<'_>) -> Result<Value> {
    let mut fields = Fields::new(value, "request")?;
    settings(&mut fields)?;
    // Tools come first: the names that they declare stay in the JSON of calls and results.
    fields.read("tools", |v, place| {
        each(v, place, |v, place| tool(v, reader, place))
    })?;
    fields.read("response_format", |v, place| {
        response_format(v, reader, place)
    })?;
    fields.read("messages", |v, place| {
        each(v, place, |v, place| message(v, reader, place))
    })?;
    fields.read("tool_choice", tool_choice)?;
    fields.read("stop", |value, place| match value.is_array() {
        true => each(value, place, |v, place| {
            reader.string(Role::System, v, place)
        }),
        false => reader.string(Role::System, value, place),
    })?;
    for name in ["user", "safety_identifier", "prompt_cache_key"] {
        fields.read(name, |v, place| reader.identifier(v, place))?;
    }
    for name in [
        "audio",
        "prediction",
        "web_search_options",
        "metadata",
        "logit_bias",
        "functions",
        "function_call",
    ] {
        fields.refused(name, "cannot be privatized; leave it out")?;
    }
    fields.done()
}

/// What is public by a list or a range.
fn settings(fields: &mut Fields) -> Result<()> {
    fields.public("model", Pattern::Model)?;
    for name in ["stream", "logprobs", "parallel_tool_calls", "store"] {
        fields.flag(name)?;
    }
    for (name, least, most) in [
        ("temperature", 0.0, 2.0),
        ("top_p", 0.0, 1.0),
        ("n", 1.0, 128.0),
        ("max_tokens", 1.0, 1e7),
        ("max_completion_tokens", 1.0, 1e7),
        ("presence_penalty", -2.0, 2.0),
        ("frequency_penalty", -2.0, 2.0),
        ("top_logprobs", 0.0, 20.0),
        ("seed", -2147483648.0, 4294967295.0),
    ] {
        fields.number(name, least, most)?;
    }
    fields.one_of(
        "reasoning_effort",
        &["none", "minimal", "low", "medium", "high", "xhigh"],
    )?;
    fields.one_of("verbosity", &["low", "medium", "high"])?;
    fields.one_of(
        "service_tier",
        &["auto", "default", "flex", "priority", "scale"],
    )?;
    fields.read("modalities", |v, place| {
        each(v, place, |v, place| one_of(v, &["text"], place))
    })?;
    fields.read("stream_options", |value, place| {
        let mut fields = Fields::new(value, place)?;
        fields.flag("include_usage")?;
        fields.flag("include_obfuscation")?;
        fields.done()
    })
}

fn message(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    let role = match fields.peek("role") {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => {
            return Err(Refusal::at(
                place,
                "needs the role system, developer, user, assistant or tool",
            ));
        }
    };
    fields.one_of(
        "role",
        &["system", "developer", "user", "assistant", "tool"],
    )?;
    fields.read("content", |v, place| content(role, v, reader, place))?;
    match role {
        Role::Assistant => {
            for name in ["refusal", "reasoning_content", "reasoning"] {
                fields.read(name, |v, place| reader.string(role, v, place))?;
            }
            fields.read("tool_calls", |v, place| {
                each(v, place, |v, place| call(v, reader, place))
            })?;
            for name in ["audio", "function_call"] {
                fields.refused(name, "cannot be privatized; leave it out")?;
            }
            fields.read("annotations", empty)?;
            // LiteLLM's own, which is no use to an upstream: what holds nothing is left out.
            let place = fields.under("provider_specific_fields");
            if let Some(extra) = fields.take("provider_specific_fields") {
                let nothing = |extra: &Map<String, Value>| extra.values().all(Value::is_null);
                if !extra.as_object().is_some_and(nothing) {
                    return Err(Refusal::at(&place, "cannot be privatized; leave it out"));
                }
            }
        }
        Role::Tool => fields.public("tool_call_id", Pattern::Name)?,
        _ => {}
    }
    // Of a tool it is the tool's name, which is public; of a person it is not.
    match role {
        Role::Tool => fields.public("name", Pattern::Name)?,
        _ => fields.read("name", |v, place| reader.identifier(v, place))?,
    }
    fields.done()
}

fn empty(value: Value, place: &str) -> Result<Value> {
    match value.as_array().is_some_and(Vec::is_empty) {
        true => Ok(value),
        false => Err(Refusal::at(place, "cannot be privatized; leave it out")),
    }
}

fn content(role: Role, value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    match value {
        Value::Array(_) => each(value, place, |v, place| part(role, v, reader, place)),
        text if role == Role::Tool => reader.json_text(role, text, place),
        text => reader.string(role, text, place),
    }
}

fn part(role: Role, value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    let text = match fields.peek("type") {
        Some("text") => "text",
        Some("refusal") => "refusal",
        _ => return Err(Refusal::at(place, NOT_TEXT)),
    };
    fields.one_of("type", &["text", "refusal"])?;
    fields.read(text, |value, place| match role {
        Role::Tool => reader.json_text(role, value, place),
        _ => reader.string(role, value, place),
    })?;
    fields.done()
}

/// A call of a tool, in an earlier answer.
fn call(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.public("id", Pattern::Name)?;
    fields.one_of("type", &["function"])?;
    fields.number("index", 0.0, 1000.0)?;
    fields.read("function", |value, place| {
        let mut fields = Fields::new(value, place)?;
        fields.public("name", Pattern::Name)?;
        fields.read("arguments", |v, place| {
            reader.json_text(Role::Assistant, v, place)
        })?;
        fields.done()
    })?;
    fields.done()
}

fn tool(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    if fields.peek("type") != Some("function") {
        return Err(Refusal::at(
            place,
            "is a tool that the upstream runs itself; only functions are passed on",
        ));
    }
    fields.one_of("type", &["function"])?;
    fields.read("function", |value, place| {
        form(value, "parameters", reader, place)
    })?;
    fields.done()
}

/// A name, a description and a schema: of a tool, or of the answer.
fn form(value: Value, shape: &'static str, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.public("name", Pattern::Name)?;
    fields.flag("strict")?;
    fields.read("description", |v, place| {
        reader.string(Role::Definitions, v, place)
    })?;
    fields.read(shape, |v, place| schema(v, reader, place))?;
    fields.done()
}

fn tool_choice(value: Value, place: &str) -> Result<Value> {
    if value.is_string() {
        return one_of(value, &["none", "auto", "required"], place);
    }
    let mut fields = Fields::new(value, place)?;
    fields.one_of("type", &["function"])?;
    fields.read("function", |value, place| {
        let mut fields = Fields::new(value, place)?;
        fields.public("name", Pattern::Name)?;
        fields.done()
    })?;
    fields.done()
}

fn response_format(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let mut fields = Fields::new(value, place)?;
    fields.one_of("type", &["text", "json_object", "json_schema"])?;
    fields.read("json_schema", |value, place| {
        form(value, "schema", reader, place)
    })?;
    fields.done()
}
