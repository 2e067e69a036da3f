//! The table, the types, the schema, the template and the page say the same.

use std::path::Path;

use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawInputValidation,
    RawOutputSanitisation, RawOutputValidation,
};
use countersign_schema::{Compiler, Fuel, Outcome, Schema};
use countersign_tape::{Limits, Tape};
use serde_json::Value;

use crate::document::Document;
use crate::keys::{Block, Form};
use crate::model::ROOT;
use crate::reader::Reader;
use crate::{Environment, page, schema, template};

fn block(name: &str) -> &'static Block {
    match ROOT.key(name).expect("the table has it").form {
        Form::Block(block) => block,
        other => panic!("{name} is {other:?}"),
    }
}

fn defaults(block: &Block) -> Value {
    let keys = block.keys.iter();
    keys.map(|key| {
        let default: Value = serde_json::from_str(&key.default()).expect("a default is JSON");
        (key.name.to_owned(), default)
    })
    .collect()
}

#[test]
fn the_table_lists_the_inspectors_keys_and_defaults() {
    let output = block("output_validation");
    assert_eq!(
        output.names().collect::<Vec<_>>(),
        RawOutputValidation::KEYS
    );
    let resolved = serde_json::to_value(OutputValidation::default()).expect("plain data");
    assert_eq!(defaults(output), resolved);
    let input = block("input_validation");
    assert_eq!(input.names().collect::<Vec<_>>(), RawInputValidation::KEYS);
    let resolved = serde_json::to_value(InputValidation::default()).expect("plain data");
    assert_eq!(defaults(input), resolved);
    let sanitisation = block("output_sanitisation");
    assert_eq!(
        sanitisation.names().collect::<Vec<_>>(),
        RawOutputSanitisation::KEYS
    );
    // What the mode chooses has no default of its own.
    let resolved = serde_json::to_value(OutputSanitisation::default()).expect("plain data");
    for key in sanitisation
        .keys
        .iter()
        .filter(|key| !key.default().is_empty())
    {
        let default: Value = serde_json::from_str(&key.default()).expect("a default is JSON");
        assert_eq!(resolved[key.name], default, "{}", key.name);
    }
}

fn compiled() -> Schema {
    let schema = schema().to_string();
    Compiler::new()
        .compile(schema.as_bytes())
        .expect("our own schema can be enforced")
}

fn is_valid(schema: &Schema, text: &str) -> bool {
    let tape = Tape::parse(text.as_bytes(), &Limits::default()).expect("JSON");
    match schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0)) {
        Outcome::Valid => true,
        Outcome::Invalid(_) => false,
        Outcome::Exhausted => panic!("fuel ran out on {text}"),
    }
}

fn is_checked(text: &str) -> bool {
    let document = Document::parse(text).expect("JSON without repeated keys");
    Reader::new(&document, &Environment::empty())
        .check()
        .is_ok()
}

#[test]
fn the_schema_accepts_the_template_and_every_example() {
    let schema = compiled();
    assert!(is_valid(&schema, &template()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/config");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("there are examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("an example can be read");
        assert!(is_valid(&schema, &text), "{}", path.display());
        super::accepted(&text);
        names.push(path);
    }
    assert!(!names.is_empty());
}

/// What one says of a single value, the other says too. (Except `1e3`: a whole number to JSON Schema,
/// and to us a number that should be written in digits.)
#[test]
fn the_schema_agrees_with_the_checker() {
    let schema = compiled();
    let values = [
        "null",
        "true",
        "0",
        "1",
        "-1",
        "1.5",
        "2000",
        "\"\"",
        "\"strict\"",
        "\"30s\"",
        "\"0s\"",
        "\"http\"",
        "[]",
        "[\"a\"]",
        "[1]",
        "[{}]",
        "{}",
        "{\"a\":\"b\"}",
        "{\"a\":1}",
        "{\"mode\":\"warn\"}",
        "{\"mode\":\"loud\"}",
        "99999999999999999999",
    ];
    let mut compared = 0;
    let mut compare = |text: &str| {
        assert_eq!(is_valid(&schema, text), is_checked(text), "{text}");
        compared += 1;
    };
    for value in values {
        for key in ROOT
            .names()
            .filter(|name| *name != "mcpServers")
            .chain(["telemetry", "unknown"])
        {
            compare(&format!("{{\"{key}\": {value}}}"));
        }
        for name in [
            "activity",
            "storage",
            "output_validation",
            "input_validation",
        ] {
            for key in block(name).names().chain(["unknown"]) {
                compare(&format!("{{\"{name}\": {{\"{key}\": {value}}}}}"));
            }
        }
        let Some(Form::Servers(server)) = ROOT.key("mcpServers").map(|key| key.form) else {
            panic!("the table has servers");
        };
        let reachability = ["name", "command", "url"];
        for key in server
            .names()
            .filter(|name| !reachability.contains(name))
            .chain(["created", "x"])
        {
            compare(&format!(
                "{{\"mcpServers\": {{\"a\": {{\"command\": \"c\", \"{key}\": {value}}}}}}}"
            ));
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn the_reference_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/configuration.md");
    if std::env::var_os("UPDATE").is_some() {
        let folder = path.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(&path, page::page()).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        kept == page::page(),
        "the table has changed; run: UPDATE=1 cargo test -p countersign-config reference_page"
    );
}
