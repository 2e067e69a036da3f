//! Runs `corpus/inspection` through the library.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawOutputValidation,
};
use countersign_inspect::{
    ClientEra, Contract, Decision, Declaration, Finding, Framing, Inspected, Mode, Policy,
    RawReply, Report, Sanitisation, Screening, SkipReason, Source, ToolName, corpus_case, examine,
    examine_arguments,
};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::case::{Case, Client, Expect, File, ModeKey};

/// One trial per case and mode, named `file::case::mode`.
pub(crate) fn trials() -> Vec<Trial> {
    paths().iter().flat_map(|path| trials_of(path)).collect()
}

/// One trial per case about a result, named `shared::file::case`: the file that [`corpus_case`] makes of the case is
/// accepted, and every mode in it holds.
pub(crate) fn shared_trials() -> Vec<Trial> {
    let files = paths().into_iter().map(|path| (topic(&path), read(&path)));
    let cases = files.flat_map(|(topic, file)| {
        let cases = file.cases.into_iter();
        cases.map(move |case| (format!("shared::{topic}::{}", case.name), case))
    });
    // A message with an id of its own is not something that a person pastes.
    let cases = cases.filter(|(_, case)| case.arguments.is_none() && case.id.is_none());
    let trial = |(name, case)| Trial::test(name, move || run_shared(&case));
    cases.map(trial).collect()
}

fn run_shared(case: &Case) -> Result<(), Failed> {
    let policy = policy(case, Mode::Warn);
    if case
        .upstream
        .is_some_and(|era| ClientEra::from(era) != policy.client)
    {
        return Ok(());
    }
    let tool = case.tool.as_ref().map(|tool| tool.get().as_bytes());
    let text = corpus_case(&case.name, tool, &received(case), &policy)?;
    let file: File = serde_json::from_str(&text).map_err(|error| format!("{error}\n{text}"))?;
    let [shared] = &file.cases[..] else {
        return Err("one case".into());
    };
    same("modes", &shared.expect.len(), &Mode::ALL.len())?;
    for (ModeKey(mode), expect) in &shared.expect {
        run(shared, *mode, expect)?;
    }
    // What the author of the case wrote by hand, as far as it is about the same era.
    for (mode, expect) in &case.expect {
        same("decision", &shared.expect[mode].decision, &expect.decision)?;
    }
    Ok(())
}

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/inspection");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is part of the repository")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    paths
}

fn topic(path: &Path) -> String {
    let stem = path.file_stem().expect("a name");
    stem.to_string_lossy().into_owned()
}

fn read(path: &Path) -> File {
    let text = std::fs::read_to_string(path).expect("a readable file");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn trials_of(path: &Path) -> Vec<Trial> {
    let topic = topic(path);
    let mut trials = Vec::new();
    for case in read(path).cases {
        let case = std::sync::Arc::new(case);
        for (ModeKey(mode), expect) in case.expect.clone() {
            let name = format!("{topic}::{}::{mode}", case.name);
            let case = std::sync::Arc::clone(&case);
            trials.push(Trial::test(name, move || run(&case, mode, &expect)));
        }
    }
    trials
}

fn run(case: &Case, mode: Mode, expect: &Expect) -> Result<(), Failed> {
    let policy = policy(case, mode);
    let contract = contract(case, &policy.output);
    if case.arguments.is_some() {
        return run_arguments(case, &contract, &policy, expect);
    }
    let bytes = received(case);
    let inspected = inspect(case, bytes.clone(), &contract, &policy);
    let seen = ActualVerdict {
        decision: inspected.decision(),
        reason: inspected.reason(),
        findings: inspected.findings(),
    };
    seen.check(expect)?;
    check_emitted(case, &bytes, &inspected, &policy, expect)?;
    let again = inspect(case, bytes, &contract, &policy);
    same(
        "a second report",
        &Report::from(&again),
        &Report::from(&inspected),
    )
}

fn run_arguments(
    case: &Case,
    contract: &Contract,
    policy: &Policy,
    expect: &Expect,
) -> Result<(), Failed> {
    let arguments = case.arguments.as_ref().map(|raw| raw.get().as_bytes());
    let verdict = examine_arguments(arguments, contract, policy);
    let seen = ActualVerdict {
        decision: verdict.decision,
        reason: verdict.reason.as_deref(),
        findings: &verdict.findings,
    };
    seen.check(expect)?;
    let refusal = verdict.refusal();
    same(
        "refused",
        &refusal.is_some(),
        &(expect.decision == Decision::Blocked),
    )?;
    let Some(refusal) = refusal else {
        return Ok(());
    };
    let text = verdict.reason.as_deref().unwrap_or_default();
    same(
        "refusal",
        &value(&refusal.emitted().into_bytes())?,
        &error_result(text, policy.client),
    )
}

fn policy(case: &Case, mode: Mode) -> Policy {
    let defaults = Policy::default();
    let mode_block = RawOutputValidation {
        mode: Some(mode),
        ..RawOutputValidation::default()
    };
    Policy {
        output: OutputValidation::resolve([&case.config, &mode_block]),
        input: InputValidation { mode },
        free_text: None,
        client: match case.client {
            Some(Client::Legacy) => ClientEra::Legacy,
            Some(Client::Modern) => ClientEra::Modern,
            Some(Client::Unnegotiated) => ClientEra::Unnegotiated,
            None => case.era.into(),
        },
        max_message_bytes: case.max_message_bytes.unwrap_or(defaults.max_message_bytes),
        max_message_depth: case.max_message_depth.unwrap_or(defaults.max_message_depth),
        sanitisation: Sanitisation::compile(&OutputSanitisation::resolve([&case.sanitisation]))
            .expect("settings that compile"),
    }
}

fn contract(case: &Case, config: &OutputValidation) -> Contract {
    let Some(tool) = &case.tool else {
        return Contract::undeclared(ToolName::on_server("stub", "plain"));
    };
    let declaration = Declaration::read(tool.get().as_bytes()).expect("a tool");
    declaration.server("stub").capture(config)
}

fn received(case: &Case) -> Vec<u8> {
    match (&case.result, &case.text, &case.hex) {
        (Some(raw), None, None) => raw.get().as_bytes().to_vec(),
        (None, Some(text), None) => text.clone().into_bytes(),
        (None, None, Some(hex)) => hex
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).expect("ASCII"))
            .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
            .collect(),
        _ => panic!("{}: one of result, text, hex", case.name),
    }
}

fn inspect(case: &Case, bytes: Vec<u8>, contract: &Contract, policy: &Policy) -> Inspected {
    let mut source = Source::new(case.upstream.unwrap_or(case.era));
    if let Some(id) = &case.id {
        source = source.with_request_id(id.get().as_bytes().to_vec());
        assert_eq!(source.framing, Framing::Message);
    }
    let examined = examine(RawReply::new(bytes, source), contract, policy);
    examined.conclude(Screening::skipped(SkipReason::NotConfigured))
}

struct ActualVerdict<'a> {
    decision: Decision,
    reason: Option<&'a str>,
    findings: &'a [Finding],
}

impl ActualVerdict<'_> {
    fn check(&self, expect: &Expect) -> Result<(), Failed> {
        let rules: Vec<&str> = self.findings.iter().map(|finding| &*finding.rule).collect();
        same(
            "findings",
            &rules,
            &expect.findings.iter().map(String::as_str).collect(),
        )?;
        same("decision", &self.decision, &expect.decision)?;
        if let Some(reason) = &expect.reason {
            same("reason", &self.reason, &Some(reason.as_str()))?;
        }
        if let Some(pointer) = &expect.pointer {
            let seen = self
                .findings
                .first()
                .and_then(|first| first.instance_pointer.as_deref());
            same("pointer", &seen, &Some(pointer.as_str()))?;
        }
        // A decision has a sentence, and only a decision has one.
        same(
            "has a reason",
            &self.reason.is_some(),
            &(self.decision != Decision::Allowed),
        )
    }
}

fn check_emitted(
    case: &Case,
    received: &[u8],
    inspected: &Inspected,
    policy: &Policy,
    expect: &Expect,
) -> Result<(), Failed> {
    let emitted = inspected.emitted().into_bytes();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(exact) = &expect.emitted {
        same("emitted", &text(&emitted), &exact.get().to_owned())?;
    } else if let Some(said) = &expect.last_text {
        let value = value(&emitted)?;
        let blocks = value["content"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let last = blocks.last().and_then(|block| block["text"].as_str());
        same("last text", &last, &Some(said.as_str()))?;
    } else if inspected.decision() == Decision::Blocked {
        let answer = inspected.answer().unwrap_or_default();
        let reason = inspected.reason().unwrap_or_default();
        same("answer begins with", &answer.starts_with(reason), &true)?;
        let error = error_result(answer, policy.client);
        let value = value(&emitted)?;
        let result = if value.get("jsonrpc").is_some() {
            &value["result"]
        } else {
            &value
        };
        same("blocked result", result, &error)?;
    } else {
        same("emitted", &text(&emitted), &text(received))?;
    }
    same(
        "is changed",
        &inspected.is_changed(),
        &(emitted != received),
    )?;
    if inspected.decision() == Decision::Blocked {
        same("leaks", &inspected.structured_text(), &None)?;
    }
    check_message(case, inspected, &emitted)
}

/// The response a client gets carries its own id and the same result.
fn check_message(case: &Case, inspected: &Inspected, emitted: &[u8]) -> Result<(), Failed> {
    let _ = case;
    let message = inspected
        .message(&Bytes::from_static(b"\"client-7\""))
        .into_bytes();
    let Ok(message) = serde_json::from_slice::<Value>(&message) else {
        // Values serde_json cannot hold (huge exponents, lone surrogates) are the corpus's business.
        return Ok(());
    };
    same("id", &message["id"], &json!("client-7"))?;
    let emitted = value(emitted)?;
    let result = emitted
        .get("jsonrpc")
        .map_or(Some(&emitted), |_| emitted.get("result"));
    same("result", &message.get("result"), &result)
}

fn error_result(text: &str, client: ClientEra) -> Value {
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if client == ClientEra::Modern {
        result["resultType"] = json!("complete");
    }
    result
}

fn value(bytes: &[u8]) -> Result<Value, Failed> {
    Ok(serde_json::from_slice(bytes)?)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, seen: &T, expected: &T) -> Result<(), Failed> {
    if seen == expected {
        return Ok(());
    }
    Err(format!("{what}\n     seen: {seen:?}\n expected: {expected:?}").into())
}
