//! Definitions: JSON Schema, by which tools declare their parameters and clients the form of an answer.
//!
//! Descriptions, titles and the strings of `enum`, `const`, `default` and `examples` are text.
//! Names of properties are public and have to have a pattern; from here on they are declared, and
//! stay in the JSON of calls. Numbers of a definition are public. What else a schema may say, such as
//! regular expressions, cannot be privatized and is refused.

use serde_json::{Map, Value};

use crate::fields::{Fields, Pattern, each, one_of};
use crate::policy::Role;
use crate::reader::Reader;
use crate::refusal::{Refusal, Result};

const TYPES: &[&str] = &[
    "string", "number", "integer", "boolean", "object", "array", "null",
];
const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uuid",
    "binary",
    "byte",
    "int32",
    "int64",
    "float",
    "double",
    "password",
];
const DIALECTS: &[&str] = &[
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];
const NUMBERS: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];
const FLAGS: [&str; 5] = [
    "uniqueItems",
    "nullable",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// A schema.
pub fn schema(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    if value.is_boolean() {
        return Ok(value);
    }
    let mut fields = Fields::new(value, place)?;
    for name in ["description", "title", "$comment"] {
        fields.read(name, |v, place| reader.string(Role::Definitions, v, place))?;
    }
    for name in ["properties", "$defs", "definitions"] {
        fields.read(name, |v, place| named(v, reader, place))?;
    }
    for name in ["additionalProperties", "not", "contains", "propertyNames"] {
        fields.read(name, |v, place| schema(v, reader, place))?;
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        fields.read(name, |v, place| {
            each(v, place, |v, place| schema(v, reader, place))
        })?;
    }
    fields.read("items", |value, place| match value.is_array() {
        true => each(value, place, |v, place| schema(v, reader, place)),
        false => schema(value, reader, place),
    })?;
    for name in ["enum", "const", "default", "examples"] {
        fields.read(name, |v, place| values(v, reader, place))?;
    }
    fields.read("required", |v, place| {
        each(v, place, |v, place| Pattern::Name.check(v, place))
    })?;
    fields.read("type", |value, place| match value.is_array() {
        true => each(value, place, |v, place| one_of(v, TYPES, place)),
        false => one_of(value, TYPES, place),
    })?;
    fields.read("$ref", reference)?;
    fields.one_of("format", FORMATS)?;
    fields.one_of("$schema", DIALECTS)?;
    for name in NUMBERS {
        fields.number(name, f64::MIN, f64::MAX)?;
    }
    for name in FLAGS {
        fields.flag(name)?;
    }
    fields.refused(
        "pattern",
        "is a regular expression, which cannot be privatized",
    )?;
    fields.done()
}

/// Schemas by their names, which are declared.
fn named(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    let Value::Object(schemas) = value else {
        return Err(Refusal::at(place, "has to be an object"));
    };
    let mut kept = Map::new();
    for (i, (name, value)) in schemas.into_iter().enumerate() {
        let place = format!("{place}[{i}]");
        reader.declare(&name, &place)?;
        let value = schema(value, reader, &place)?;
        kept.insert(name, value);
    }
    Ok(Value::Object(kept))
}

/// Values that a definition names: numbers are public here, strings are text.
fn values(value: Value, reader: &mut Reader<'_>, place: &str) -> Result<Value> {
    match value {
        Value::Array(_) => each(value, place, |v, place| values(v, reader, place)),
        Value::Number(_) => Ok(value),
        other => reader.leaves(Role::Definitions, other, place),
    }
}

/// A reference within the schema.
fn reference(value: Value, place: &str) -> Result<Value> {
    let to = value.as_str().unwrap_or_default();
    let name = to
        .strip_prefix("#/$defs/")
        .or(to.strip_prefix("#/definitions/"));
    match to == "#" || name.is_some_and(|name| Pattern::Name.fits(name)) {
        true => Ok(value),
        false => Err(Refusal::at(
            place,
            "has to refer to $defs or definitions of this schema",
        )),
    }
}
