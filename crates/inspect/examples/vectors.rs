//! Prints `corpus/inspection` as flat test vectors, one JSON object a line, with what the library says of each. Programs
//! in other languages run them without reading the corpus themselves; bytes are hexadecimal.

#![expect(clippy::print_stdout, reason = "an example prints its outcome")]

#[path = "../tests/it/case.rs"]
#[expect(dead_code, reason = "the test binary uses the rest")]
mod case;

use std::path::Path;

use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawOutputValidation,
};
use countersign_inspect::{
    ClientEra, Contract, Declaration, Era, Finding, Mode, Policy, RawReply, Sanitisation,
    Screening, SkipReason, Source, ToolName, encode_hex, examine, examine_arguments,
};
use serde_json::{Value, json};

use case::{Case, Client, File, ModeKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/inspection");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    for path in paths {
        let topic = path.file_stem().unwrap_or_default().to_string_lossy();
        let file: File = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        for case in &file.cases {
            for ModeKey(mode) in case.expect.keys() {
                let name = format!("{topic}::{}::{mode}", case.name);
                println!("{}", vector(&name, case, *mode));
            }
        }
    }
    Ok(())
}

fn vector(name: &str, case: &Case, mode: Mode) -> Value {
    let policy = policy(case, mode);
    let contract = match &case.tool {
        None => Contract::undeclared(ToolName::on_server("stub", "plain")),
        Some(tool) => {
            let declaration = Declaration::read(tool.get().as_bytes()).expect("a tool");
            declaration.server("stub").capture(&policy.output)
        }
    };
    let mut vector = json!({
        "name": name,
        "settings": settings(case, mode),
        "tool": case.tool.as_ref().map(|tool| encode_hex(tool.get().as_bytes())),
        "era": case.upstream.unwrap_or(case.era),
        "client": match policy.client {
            ClientEra::Legacy => Some("legacy"),
            ClientEra::Modern => Some("modern"),
            ClientEra::Unnegotiated => None,
        },
        "id": case.id.as_ref().map(|id| id.get()),
    });
    if let Some(arguments) = &case.arguments {
        let verdict = examine_arguments(Some(arguments.get().as_bytes()), &contract, &policy);
        vector["arguments"] = json!(encode_hex(arguments.get().as_bytes()));
        vector["decision"] = json!(verdict.decision);
        vector["reason"] = json!(verdict.reason);
        vector["findings"] = rules(&verdict.findings);
        return vector;
    }
    let mut source = Source::new(case.upstream.unwrap_or(case.era));
    if let Some(id) = &case.id {
        source = source.with_request_id(id.get().as_bytes().to_vec());
    }
    let bytes = received(case);
    vector["reply"] = json!(encode_hex(&bytes));
    let skipped = Screening::skipped(SkipReason::NotConfigured);
    let inspected = examine(RawReply::new(bytes, source), &contract, &policy).conclude(skipped);
    vector["decision"] = json!(inspected.decision());
    vector["reason"] = json!(inspected.reason());
    vector["findings"] = rules(inspected.findings());
    vector["emitted"] = json!(encode_hex(&inspected.emitted().into_bytes()));
    vector
}

fn settings(case: &Case, mode: Mode) -> Value {
    let mut output = json!(case.config);
    output["mode"] = json!(mode);
    let mut settings = json!({
        "output_validation": output,
        "input_validation": {"mode": mode},
        "output_sanitisation": case.sanitisation,
    });
    if let Some(bytes) = case.max_message_bytes {
        settings["max_message_bytes"] = json!(bytes);
    }
    if let Some(depth) = case.max_message_depth {
        settings["max_message_depth"] = json!(depth);
    }
    settings
}

fn policy(case: &Case, mode: Mode) -> Policy {
    let defaults = Policy::default();
    let mode_block = RawOutputValidation {
        mode: Some(mode),
        ..RawOutputValidation::default()
    };
    let output = OutputValidation::resolve([&case.config, &mode_block]);
    let sanitisation = OutputSanitisation::resolve([&case.sanitisation]);
    Policy {
        input: InputValidation { mode },
        client: match case.client {
            Some(Client::Legacy) => ClientEra::Legacy,
            Some(Client::Modern) => ClientEra::Modern,
            Some(Client::Unnegotiated) => ClientEra::Unnegotiated,
            None => Era::into(case.era),
        },
        max_message_bytes: case.max_message_bytes.unwrap_or(defaults.max_message_bytes),
        max_message_depth: case.max_message_depth.unwrap_or(
            defaults
                .max_message_depth
                .max(output.max_depth.saturating_add(2)),
        ),
        sanitisation: Sanitisation::compile(&sanitisation).expect("settings that compile"),
        output,
        ..defaults
    }
}

fn received(case: &Case) -> Vec<u8> {
    match (&case.result, &case.text, &case.hex) {
        (Some(raw), ..) => raw.get().as_bytes().to_vec(),
        (None, Some(text), _) => text.clone().into_bytes(),
        (None, None, Some(hex)) => {
            let digits = |at: usize| {
                hex.get(at..at + 2)
                    .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            };
            (0..hex.len()).step_by(2).filter_map(digits).collect()
        }
        (None, None, None) => Vec::new(),
    }
}

fn rules(findings: &[Finding]) -> Value {
    findings
        .iter()
        .map(|finding| finding.rule.to_string())
        .collect()
}
