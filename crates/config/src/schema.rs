//! The JSON Schema of the file, made from the table of keys: for editors, and for our own engine
//! to check examples with. It says what `check` says; what takes more than one place to see
//! (names twice, references, addresses) stays with `resolve`.

use serde_json::{Map, Value, json};

use super::duration;
use super::keys::{Block, Form, Key};
use super::model::ROOT;

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = block(ROOT, &mut definitions);
    insert(
        &mut schema,
        "$schema",
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    insert(&mut schema, "title", json!("Countersign: mcp_config.json"));
    insert(&mut schema, "$defs", Value::Object(definitions));
    schema
}

fn block(block: &Block, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for key in block.keys {
        properties.insert(key.name.to_owned(), property(key, definitions));
    }
    for (key, meaning) in block.foreign.iter() {
        let separator = if meaning.is_empty() { "" } else { ": " };
        let description =
            format!("Not implemented in this version and ignored{separator}{meaning}.");
        let ignored = match properties.remove(key) {
            // Ours is not an object.
            Some(ours) => json!({"anyOf": [ours, {"description": description, "type": "object"}]}),
            None => json!({"description": description, "deprecated": true}),
        };
        properties.insert(key.to_owned(), ignored);
    }
    json!({
        "type": "object",
        "description": block.help,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(key: &Key, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = form(key.form, definitions);
    insert(&mut schema, "description", json!(key.help));
    if let Ok(default) = serde_json::from_str::<Value>(&key.default()) {
        insert(&mut schema, "default", default);
    }
    schema
}

fn form(form: Form, definitions: &mut Map<String, Value>) -> Value {
    match form {
        Form::Flag => json!({"type": "boolean"}),
        Form::Text => json!({"type": "string"}),
        Form::Name => json!({"type": "string", "minLength": 1}),
        Form::OptionalText => json!({"type": ["string", "null"]}),
        Form::Number(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Form::Factor => json!({"type": "number", "exclusiveMinimum": 0}),
        Form::Duration => json!({
            "type": "string",
            "pattern": duration::PATTERN,
            "allOf": [{"pattern": duration::NOT_ZERO}],
        }),
        Form::Choice(words) => json!({"enum": words}),
        Form::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Form::TextOrTexts => json!({
            "type": ["string", "array"],
            "items": {"type": "string"},
        }),
        Form::TextMap => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Form::TextsMap => json!({
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        }),
        Form::Block(inner) => reference(inner, definitions),
        Form::Blocks(inner) => json!({"type": "array", "items": reference(inner, definitions)}),
        Form::Named(inner) => {
            json!({"type": "object", "additionalProperties": reference(inner, definitions)})
        }
        Form::Servers(inner) => servers(&reference(inner, definitions)),
    }
}

fn servers(server: &Value) -> Value {
    let reachable = json!({"oneOf": [{"required": ["command"]}, {"required": ["url"]}]});
    json!({"anyOf": [
        {
            "type": "array",
            "items": {"allOf": [server, reachable, {"required": ["name"]}]},
        },
        {
            "type": "object",
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"allOf": [server, reachable]},
        },
    ]})
}

fn reference(inner: &'static Block, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(inner.name) {
        let schema = block(inner, definitions);
        definitions.insert(inner.name.to_owned(), schema);
    }
    json!({"$ref": format!("#/$defs/{}", inner.name)})
}

fn insert(schema: &mut Value, keyword: &str, value: Value) {
    if let Value::Object(members) = schema {
        members.insert(keyword.to_owned(), value);
    }
}
