//! Laws that hold for every result, checked on generated ones.

use bytes::Bytes;
use countersign_inspect::config::OutputValidation;
use countersign_inspect::{
    ClientEra, Decision, Declaration, Inspected, Mode, Overrides, Policy, RawReply, Sanitisation,
    Screening, SkipReason, Source, ToolName, decide, examine,
};
use libtest_mimic::{Failed, Trial};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::answered::is_answered;
use crate::generate::{result, string_inside, value};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "laws::conforming results leave byte for byte",
            conforming_is_untouched,
        ),
        Trial::test("laws::warn and off never change a byte", warn_is_untouched),
        Trial::test(
            "laws::sentences repeat no value and no undeclared name",
            sentences_are_safe,
        ),
        Trial::test(
            "laws::one decision, the worst, with its sentence",
            one_decision,
        ),
        Trial::test(
            "laws::a legacy client gets the value's exact bytes as text",
            legacy_gets_text,
        ),
        Trial::test(
            "laws::a response carries the client's id and the same result",
            responses,
        ),
        Trial::test(
            "laws::arbitrary bytes are always answered",
            anything_is_answered,
        ),
    ]
}

fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    law: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), Failed> {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(strategy, law)
        .map_err(|error| error.to_string().into())
}

fn policy(mode: Mode) -> Policy {
    let output = OutputValidation {
        mode,
        ..OutputValidation::default()
    };
    // These laws are about contracts; what is in a text has laws of its own.
    Policy {
        output,
        sanitisation: Sanitisation::off(),
        ..Policy::default()
    }
}

fn inspect(schema: &str, result: &str, policy: &Policy) -> Inspected {
    let declaration = Declaration::new(ToolName::on_server("stub", "tool"));
    let contract = declaration
        .output_schema(schema.to_owned())
        .capture(&policy.output);
    assert!(
        contract.diagnostics().is_empty(),
        "{:?}",
        contract.diagnostics()
    );
    examine(
        RawReply::new(result.to_owned(), Source::default()),
        &contract,
        policy,
    )
    .conclude(Screening::skipped(SkipReason::NotConfigured))
}

/// A structured value, the schema it conforms to, and a result around it.
fn conforming() -> impl Strategy<Value = (String, String, String)> {
    value().prop_flat_map(|value| {
        let whole = result(value.text.clone());
        (Just(value.text), Just(value.schema), whole)
    })
}

fn conforming_is_untouched() -> Result<(), Failed> {
    check(512, &conforming(), |(structured, schema, result)| {
        for mode in [Mode::Off, Mode::Warn, Mode::Strict] {
            for client in [ClientEra::Modern, ClientEra::Unnegotiated] {
                let policy = Policy {
                    client,
                    ..policy(mode)
                };
                let inspected = inspect(&schema, &result, &policy);
                prop_assert_eq!(inspected.findings(), &[]);
                prop_assert_eq!(inspected.decision(), Decision::Allowed);
                prop_assert_eq!(inspected.emitted().into_bytes(), result.as_bytes());
                prop_assert_eq!(inspected.structured_text(), Some(structured.as_str()));
            }
        }
        Ok(())
    })
}

fn warn_is_untouched() -> Result<(), Failed> {
    let strategy = (conforming(), value());
    check(256, &strategy, |((_, _, result), other)| {
        for mode in [Mode::Off, Mode::Warn] {
            let inspected = inspect(&other.schema, &result, &policy(mode));
            prop_assert!(inspected.decision() <= Decision::Flagged);
            prop_assert_eq!(inspected.emitted().into_bytes(), result.as_bytes());
        }
        Ok(())
    })
}

/// Every value holds this, and every undeclared name the next; sentences may hold neither.
const VALUE: &str = "qXvalueXq";
const NAME: &str = "qXnameXq";

const STRICT_SCHEMAS: [&str; 6] = [
    r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
    r#"{"type":"object","additionalProperties":false}"#,
    r#"{"type":"object","propertyNames":{"maxLength":2}}"#,
    r#"{"type":"object","required":["a"],"unevaluatedProperties":false}"#,
    r#"{"type":"object","patternProperties":{"":{"enum":["x"]}}}"#,
    r#"{"anyOf":[{"additionalProperties":{"const":1}},{"maxProperties":0}]}"#,
];

fn hostile() -> impl Strategy<Value = (usize, String)> {
    let member = (string_inside(), string_inside(), 0..3_u8).prop_map(|(name, value, form)| {
        let text = format!("\"{VALUE}{value}\"");
        let value = match form {
            0 => text,
            1 => format!("[{text}]"),
            _ => format!("{{\"{NAME}inner{name}\":{text}}}"),
        };
        (name, value)
    });
    (0..STRICT_SCHEMAS.len(), vec(member, 1..6)).prop_map(|(schema, members)| {
        let members: Vec<String> = members
            .iter()
            .enumerate()
            .map(|(index, (name, value))| format!("\"{NAME}{name}{index}\":{value}"))
            .collect();
        let members = members.join(",");
        (
            schema,
            format!(r#"{{"content":[],"structuredContent":{{{members}}}}}"#),
        )
    })
}

fn sentences_are_safe() -> Result<(), Failed> {
    check(512, &hostile(), |(schema, result)| {
        let schema = STRICT_SCHEMAS.get(schema).copied().unwrap_or_default();
        let inspected = inspect(schema, &result, &policy(Mode::Strict));
        prop_assert_eq!(inspected.decision(), Decision::Blocked);
        let emitted = String::from_utf8(inspected.emitted().into_bytes().to_vec());
        let emitted = emitted.expect("our own text is UTF-8");
        prop_assert!(
            !emitted.contains(VALUE) && !emitted.contains(NAME),
            "{emitted}"
        );
        prop_assert!(
            emitted.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
            "{emitted}"
        );
        prop_assert!(
            emitted.contains("output schema validation failed: "),
            "{emitted}"
        );
        let records = serde_json::to_string(inspected.findings()).expect("findings serialise");
        prop_assert!(!records.contains(VALUE), "{records}");
        prop_assert!(!records.contains("\\u00"), "{records}");
        Ok(())
    })
}

fn one_decision() -> Result<(), Failed> {
    let strategy = (conforming(), value(), 0..3_u8);
    check(256, &strategy, |((_, _, result), other, mode)| {
        let mode = [Mode::Off, Mode::Warn, Mode::Strict][usize::from(mode)];
        let policy = policy(mode);
        let inspected = inspect(&other.schema, &result, &policy);
        let overrides = Overrides::from(&policy.output);
        let worst = inspected
            .findings()
            .iter()
            .map(|finding| decide(finding, mode, &overrides));
        prop_assert_eq!(inspected.decision(), worst.max().unwrap_or_default());
        let decided = inspected.decision() != Decision::Allowed;
        prop_assert_eq!(inspected.reason().is_some(), decided);
        Ok(())
    })
}

fn legacy_gets_text() -> Result<(), Failed> {
    check(256, &conforming(), |(structured, schema, result)| {
        let policy = Policy {
            client: ClientEra::Legacy,
            ..policy(Mode::Strict)
        };
        let inspected = inspect(&schema, &result, &policy);
        prop_assert_eq!(inspected.decision(), Decision::Allowed);
        let emitted = inspected.emitted().into_bytes();
        if structured.starts_with('{') {
            prop_assert_eq!(emitted, result.as_bytes());
            return Ok(());
        }
        let emitted: serde_json::Value = serde_json::from_slice(&emitted).expect("it is JSON");
        prop_assert!(emitted.get("structuredContent").is_none());
        let blocks = emitted["content"].as_array().expect("there is content");
        let last = blocks.last().and_then(|block| block["text"].as_str());
        prop_assert_eq!(last, Some(structured.as_str()));
        Ok(())
    })
}

fn responses() -> Result<(), Failed> {
    let strategy = (conforming(), any::<bool>());
    check(256, &strategy, |((_, schema, result), id_first)| {
        let message = if id_first {
            format!(r#"{{"jsonrpc":"2.0","id":41,"result":{result}}}"#)
        } else {
            format!(r#" {{"result":{result},"id" : 41,"jsonrpc":"2.0"}} "#)
        };
        for client in [ClientEra::Unnegotiated, ClientEra::Legacy] {
            let policy = Policy {
                client,
                ..policy(Mode::Strict)
            };
            let inspected = inspect(&schema, &message, &policy);
            let answer = String::from_utf8(
                inspected
                    .message(&Bytes::from_static(b"\"!c!\""))
                    .into_bytes()
                    .to_vec(),
            );
            let answer = answer.expect("it is UTF-8");
            let only = inspected.result().expect("there is a result").into_bytes();
            let only = std::str::from_utf8(&only).expect("it is UTF-8");
            let emitted = String::from_utf8(inspected.emitted().into_bytes().to_vec());
            let emitted = emitted.expect("it is UTF-8");
            prop_assert!(answer.contains(only));
            prop_assert_eq!(answer.replace("\"!c!\"", "41"), emitted.trim());
        }
        Ok(())
    })
}

fn anything_is_answered() -> Result<(), Failed> {
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..64),
        "[\\[\\]{}\":,0-9a-z\\\\ ]{0,64}".prop_map(String::into_bytes),
        conforming().prop_map(|(_, _, result)| result.into_bytes()),
        conforming().prop_map(|(_, schema, _)| schema.into_bytes()),
    ]
    .boxed();
    let strategy = (any::<u8>(), bytes.clone(), bytes.clone(), bytes);
    check(1024, &strategy, |(choice, tool, schema, reply)| {
        is_answered(choice, &tool, &schema, &reply);
        Ok(())
    })
}
