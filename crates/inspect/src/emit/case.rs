//! A result and its verdicts as a case of `corpus/inspection`, so that a person can hand on what was tried. The case is
//! complete: settings that are not the defaults are part of it.

use countersign_tape::{Limits, Tape};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::{OutputSanitisation, OutputValidation};
use crate::emit::inspected::Inspected;
use crate::era::{ClientEra, Era};
use crate::error::Error;
use crate::examine::examine;
use crate::hex::encode_hex;
use crate::judge::contract::{Contract, Declaration};
use crate::open::reply::{RawReply, Source};
use crate::policy::Policy;
use crate::screen::screening::{Screening, SkipReason};
use crate::tool::ToolName;
use crate::verdict::{Decision, Mode};

const ABOUT: &str = "A result that was tried with the console or with `countersign inspect`.";
/// The server of every case.
const SERVER: &str = "stub";

/// The JSON of a file with one case: what becomes of `result` in each mode, under `policy` for everything but the mode.
/// `tool` is an element of a tool list; without one, the tool declares nothing.
///
/// ```
/// use countersign_inspect::{Policy, corpus_case};
///
/// let result = br#"{"content":[{"type":"text","text":7}]}"#;
/// let file = corpus_case("a number", None, result, &Policy::default())?;
/// assert!(file.contains(r#""strict": {"decision":"blocked","findings":["shape.block"]"#));
/// # Ok::<(), countersign_inspect::Error>(())
/// ```
pub fn corpus_case(
    name: &str,
    tool: Option<&[u8]>,
    result: &[u8],
    policy: &Policy,
) -> Result<String, Error> {
    let mut members = vec![("name", json_text(name))];
    let declaration = tool.map(Declaration::read).transpose()?;
    if let Some(tool) = tool {
        // A tool that can be read is JSON, and so UTF-8.
        let tool = String::from_utf8_lossy(tool);
        members.push(("tool", tool.trim().to_owned()));
    }
    let is_json = is_json(result);
    let result = if is_json { result.trim_ascii() } else { result };
    members.push(match std::str::from_utf8(result) {
        Ok(text) if is_json => ("result", text.to_owned()),
        Ok(text) => ("text", json_text(text)),
        Err(_) => ("hex", json_text(&encode_hex(result))),
    });
    members.extend(settings(policy));
    let mut expected = Vec::new();
    for mode in Mode::ALL {
        let mut policy = policy.clone();
        policy.output.mode = *mode;
        policy.free_text = None;
        let contract = contract(declaration.clone(), &policy);
        let raw = RawReply::new(result.to_vec(), Source::new(server_era(policy.client)));
        let examined = examine(raw, &contract, &policy);
        let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
        expected.push(format!(
            "        {:?}: {}",
            mode.as_str(),
            expect(&inspected)
        ));
    }
    members.push(("expect", format!("{{\n{}\n      }}", expected.join(",\n"))));
    let members = members.into_iter();
    let members: Vec<String> = members
        .map(|(key, value)| format!("      {key:?}: {value}"))
        .collect();
    Ok(format!(
        "{{\n  \"about\": {},\n  \"cases\": [\n    {{\n{}\n    }}\n  ]\n}}\n",
        json_text(ABOUT),
        members.join(",\n")
    ))
}

fn contract(declaration: Option<Declaration>, policy: &Policy) -> Contract {
    match declaration {
        Some(declaration) => declaration.server(SERVER).capture(&policy.output),
        None => Contract::undeclared(ToolName::on_server(SERVER, "plain")),
    }
}

fn server_era(client: ClientEra) -> Era {
    match client {
        ClientEra::Legacy => Era::Legacy,
        ClientEra::Modern | ClientEra::Unnegotiated => Era::Modern,
    }
}

/// What the policy has that the defaults have not.
fn settings(policy: &Policy) -> Vec<(&'static str, String)> {
    let defaults = Policy::default();
    let output = OutputValidation {
        mode: defaults.output.mode,
        ..policy.output
    };
    let output = difference(&output, &defaults.output);
    let sanitisation = match policy.sanitisation.config() {
        Some(config) => difference(config, &OutputSanitisation::default()),
        None => [("mode".to_owned(), json!("off"))].into_iter().collect(),
    };
    let mut settings = Vec::new();
    for (key, block) in [("config", output), ("sanitisation", sanitisation)] {
        if !block.is_empty() {
            settings.push((key, Value::Object(block).to_string()));
        }
    }
    match policy.client {
        ClientEra::Modern => {}
        ClientEra::Legacy => settings.push(("era", json_text("legacy"))),
        ClientEra::Unnegotiated => settings.push(("client", json_text("unnegotiated"))),
    }
    if policy.max_message_bytes != defaults.max_message_bytes {
        settings.push(("max_message_bytes", policy.max_message_bytes.to_string()));
    }
    if policy.max_message_depth != defaults.max_message_depth {
        settings.push(("max_message_depth", policy.max_message_depth.to_string()));
    }
    settings
}

/// The keys of a block that differ from those of another. A mode brings defaults of its own, so with another mode every
/// key is given.
fn difference(block: &impl Serialize, defaults: &impl Serialize) -> Map<String, Value> {
    let object = |value: Result<Value, serde_json::Error>| match value {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let defaults = object(serde_json::to_value(defaults));
    let mut block = object(serde_json::to_value(block));
    if block.get("mode") == defaults.get("mode") {
        block.retain(|key, value| defaults.get(key) != Some(value));
    }
    block
}

/// What a mode makes of the result, as the cases write it.
fn expect(inspected: &Inspected) -> String {
    let findings = inspected.findings();
    let mut expect = format!("{{\"decision\":{:?}", inspected.decision().as_str());
    let mut add = |key: &str, value: &str| {
        expect.extend([",\"", key, "\":", value]);
    };
    if !findings.is_empty() {
        let rules: Vec<&str> = findings.iter().map(|finding| &*finding.rule).collect();
        add("findings", &json!(rules).to_string());
    }
    let first = findings.first();
    if let Some(pointer) = first.and_then(|first| first.instance_pointer.as_deref()) {
        add("pointer", &json_text(pointer));
    }
    if let Some(reason) = inspected.reason() {
        add("reason", &json_text(reason));
    }
    let emitted = inspected.emitted().into_bytes();
    let is_our_error = inspected.decision() == Decision::Blocked;
    if inspected.is_changed() && !is_our_error && is_json(&emitted) {
        add("emitted", String::from_utf8_lossy(&emitted).trim());
    }
    expect.push('}');
    expect
}

fn is_json(bytes: &[u8]) -> bool {
    Tape::parse(bytes, &Limits::LIFTED).is_ok()
}

/// A JSON string.
fn json_text(text: &str) -> String {
    Value::from(text).to_string()
}
