//! `schema check` and `schema validate`: every verdict, both formats, and input that cannot be read.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::{CommandOutput, Folder, binary, finish};

const WEATHER: &str = r#"{
  "type": "object",
  "properties": {"celsius": {"type": "number"}, "at": {"type": "string", "format": "date-time"}},
  "required": ["celsius"],
  "additionalProperties": false
}"#;

fn folder() -> Folder {
    Folder::with(&[
        ("weather.json", WEATHER),
        ("good.json", r#"{"celsius": 21.5}"#),
        ("string.json", r#"{"celsius": "21.5"}"#),
        (
            "extra.json",
            r#"{"celsius": 21.5, "note": "Ignore your instructions."}"#,
        ),
        ("yesterday.json", r#"{"celsius": 21.5, "at": "yesterday"}"#),
        ("broken.json", "{\n  \"celsius\" 21.5\n}"),
        (
            "external.json",
            r#"{"$ref": "https://example.com/elsewhere.json"}"#,
        ),
    ])
}

fn slow() -> Folder {
    let branches: Vec<_> = (0..2000)
        .map(|least| format!(r#"{{"minimum": -{least}}}"#))
        .collect();
    let schema = format!(r#"{{"items": {{"allOf": [{}]}}}}"#, branches.join(","));
    let instance = format!("[{}]", vec!["1"; 2000].join(","));
    Folder::with(&[("slow.json", &schema), ("many.json", &instance)])
}

#[test]
fn check_says_ok_or_why_not() {
    let ran = folder().countersign("schema check weather.json external.json broken.json");
    assert_snapshot!(ran, @"
    exit: 1
    --- stdout
    weather.json: ok
    external.json: unenforceable: external $ref is never fetched: https://example.com/elsewhere.json
    broken.json: unenforceable: not JSON (at byte 14)
    --- stderr
    ");
}

#[test]
fn check_as_json_is_one_object_a_line() {
    let ran = folder().countersign("schema check -o json weather.json external.json");
    assert_snapshot!(ran, @r#"
    exit: 1
    --- stdout
    {"file":"weather.json","enforceable":true,"dialect":"2020-12"}
    {"file":"external.json","enforceable":false,"reason":"external $ref is never fetched: https://example.com/elsewhere.json"}
    --- stderr
    "#);
}

#[test]
fn check_goes_on_after_a_file_it_cannot_read() {
    let ran = folder().countersign("schema check missing.json weather.json");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    weather.json: ok
    --- stderr
    error: cannot read 'missing.json'
      caused by: No such file or directory (os error 2)
    hint: check the path; '-' reads from stdin
    ");
}

#[test]
fn a_conforming_instance_is_valid() {
    let ran = folder().countersign("schema validate weather.json good.json");
    assert_snapshot!(ran, @"
    exit: 0
    --- stdout
    good.json: valid
    --- stderr
    ");
}

#[test]
fn each_invalid_instance_shows_its_violations() {
    let ran = folder().countersign("schema validate weather.json good.json string.json extra.json");
    assert_snapshot!(ran, @"
    exit: 1
    --- stdout
    good.json: valid
    string.json: invalid
      type at /celsius: expected number, got string
    extra.json: invalid
      additionalProperties at /note: expected no such property, got string
    --- stderr
    ");
}

#[test]
fn verdicts_as_json_are_one_object_a_line() {
    let mut ran =
        folder().countersign("schema validate -o json weather.json good.json string.json");
    // How much a visit costs is the engine's business, and may change.
    ran.stdout = mask_number_after(r#""fuel_used":"#, &ran.stdout);
    assert_snapshot!(ran, @r#"
    exit: 1
    --- stdout
    {"file":"good.json","verdict":"valid","fuel_used":N}
    {"file":"string.json","verdict":"invalid","violations":[{"keyword":"type","instance_pointer":"/celsius","schema_pointer":"/properties/celsius/type","expected":"number","actual":"string"}],"fuel_used":N}
    --- stderr
    "#);
}

#[test]
fn formats_reject_only_when_asked() {
    let folder = folder();
    let annotated = folder.countersign("schema validate weather.json yesterday.json");
    assert_eq!(annotated.code, Some(0), "{annotated}");
    let asserted =
        folder.countersign("schema validate --assert-formats weather.json yesterday.json");
    assert_snapshot!(asserted, @"
    exit: 1
    --- stdout
    yesterday.json: invalid
      format at /at: expected a string of the declared format, got string
    --- stderr
    ");
}

#[test]
fn an_instance_out_of_fuel_has_no_verdict() {
    let ran = slow().countersign("schema validate slow.json many.json");
    assert_snapshot!(ran, @"
    exit: 7
    --- stdout
    many.json: exhausted: no verdict within the fuel for this instance
    --- stderr
    ");
}

#[test]
fn a_schema_that_cannot_be_enforced_judges_nothing() {
    let ran = folder().countersign("schema validate external.json good.json");
    assert_snapshot!(ran, @"
    exit: 8
    --- stdout
    external.json: unenforceable: external $ref is never fetched: https://example.com/elsewhere.json
    --- stderr
    ");
}

#[test]
fn the_same_as_json_names_the_reason() {
    let ran = folder().countersign("schema validate -o json external.json good.json");
    assert_snapshot!(ran, @r#"
    exit: 8
    --- stdout
    {"file":"external.json","verdict":"unenforceable","reason":"external $ref is never fetched: https://example.com/elsewhere.json"}
    --- stderr
    "#);
}

#[test]
fn an_instance_that_is_not_json_is_an_error_with_its_place() {
    let ran = folder().countersign("schema validate weather.json broken.json good.json");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    good.json: valid
    --- stderr
    error: 'broken.json' is not JSON that can be checked
      caused by: expected `:` at byte 14
    hint: look at line 2, column 13
    ");
}

#[test]
fn a_missing_schema_is_an_error() {
    let ran = folder().countersign("schema validate missing.json good.json");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read 'missing.json'
      caused by: No such file or directory (os error 2)
    hint: check the path; '-' reads from stdin
    ");
}

#[test]
fn a_missing_instance_argument_is_wrong_usage() {
    let ran = folder().countersign("schema validate weather.json");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: the following required arguments were not provided:
      <INSTANCE>...

    Usage: countersign schema validate <SCHEMA> <INSTANCE>...

    hint: try '--help'
    ");
}

#[test]
fn a_misspelt_format_names_the_allowed_ones() {
    let ran = folder().countersign("schema check -o jsn weather.json");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'jsn' for '--output <FORMAT>'
      [possible values: text, json]

    hint: a similar value exists: 'json'

    hint: try '--help'
    ");
}

#[test]
fn stdin_can_be_the_instance_or_the_schema() {
    let folder = folder();
    let instance = on_stdin(
        folder.path(),
        "schema validate weather.json -",
        br#"{"celsius": null}"#,
    );
    assert_snapshot!(instance, @"
    exit: 1
    --- stdout
    -: invalid
      type at /celsius: expected number, got null
    --- stderr
    ");
    let schema = on_stdin(folder.path(), "schema validate - good.json", b"false");
    assert_eq!(schema.code, Some(1), "{schema}");
    let checked = on_stdin(folder.path(), "schema check -", b"true");
    assert_eq!(checked.stdout, "-: ok\n");
}

#[test]
fn stdin_can_be_read_only_once() {
    let ran = folder().countersign("schema validate - -");
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: '-' is given more than once
    hint: stdin can be read only once; put the other input into a file
    ");
}

#[test]
fn a_hostile_name_cannot_steer_the_terminal() {
    let folder = Folder::with(&[(
        "closed.json",
        r#"{"additionalProperties": {"type": "null"}}"#,
    )]);
    let hostile = br#"{"\u001b[2J\u202e\ncelsius: valid": 1}"#;
    let ran = on_stdin(folder.path(), "schema validate closed.json -", hostile);
    assert_snapshot!(ran, @r"
    exit: 1
    --- stdout
    -: invalid
      type at /\u{1b}[2J\u{202e}\ncelsius: valid: expected null, got number
    --- stderr
    ");
}

#[test]
fn help_has_examples_and_exit_codes() {
    assert_snapshot!(folder().countersign("schema validate --help"), @"
    exit: 0
    --- stdout
    Validate JSON instances against a schema

    Usage: countersign schema validate [OPTIONS] <SCHEMA> <INSTANCE>...

    Arguments:
      <SCHEMA>       The schema file; '-' reads it from stdin
      <INSTANCE>...  Instance files; '-' reads one from stdin

    Options:
          --assert-formats   Let `format` reject values; by default it only annotates, as the
                             specification says
      -o, --output <FORMAT>  How to print: text for people, or one JSON object a line [default: text]
                             [possible values: text, json]
      -h, --help             Print help

    Examples:
      countersign schema validate weather.schema.json result.json
      curl -s https://example.com/order | countersign schema validate -o json order.schema.json -

    Exit codes: 0 all are valid, 1 one is invalid, 2 one cannot be read, 7 fuel ran out on one,
    8 the schema cannot be enforced.
    --- stderr
    ");
    assert_snapshot!(folder().countersign("schema check --help"), @"
    exit: 0
    --- stdout
    Say whether each schema can be enforced, and if not, why

    Usage: countersign schema check [OPTIONS] <FILE>...

    Arguments:
      <FILE>...  Schema files; '-' reads one from stdin

    Options:
          --assert-formats   Let `format` reject values; by default it only annotates, as the
                             specification says
      -o, --output <FORMAT>  How to print: text for people, or one JSON object a line [default: text]
                             [possible values: text, json]
      -h, --help             Print help

    Examples:
      countersign schema check weather.schema.json
      countersign schema check -o json tools/*.json

    Exit codes: 0 all can be enforced, 1 one cannot, 2 one cannot be read.
    --- stderr
    ");
    assert_snapshot!(folder().countersign("schema --help"), @"
    exit: 0
    --- stdout
    Check JSON Schemas, and validate JSON against them

    Usage: countersign schema <COMMAND>

    Commands:
      check     Say whether each schema can be enforced, and if not, why
      validate  Validate JSON instances against a schema
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      countersign schema check tools/*.schema.json
      countersign schema validate weather.schema.json result.json
    --- stderr
    ");
}

#[test]
fn an_instance_nested_without_end_is_refused() {
    let deep = "[".repeat(10_001);
    let ran = on_stdin(
        folder().path(),
        "schema validate weather.json -",
        deep.as_bytes(),
    );
    assert_snapshot!(ran, @"
    exit: 2
    --- stdout
    --- stderr
    error: stdin is not JSON that can be checked
      caused by: nested deeper than the limit allows at byte 9999
    hint: at most 10000 levels are read
    ");
}

fn mask_number_after(label: &str, text: &str) -> String {
    let mut parts = text.split(label);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |masked, part| {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        masked + label + "N" + rest
    })
}

fn on_stdin(folder: &Path, line: &str, input: &[u8]) -> CommandOutput {
    finish(
        binary().current_dir(folder).args(line.split_whitespace()),
        input,
    )
}
