//! Why this crate exists: what a good validator that trusts its schemas does with three of the attacks.
//!
//! `jsonschema` gets them in a child process under limits on CPU time and memory, since it cannot be interrupted. Ours
//! gets them here.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use countersign_schema::{Limits, Verdict};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;

use crate::attacks::Attack;
use crate::attacks::chains::{Shape, doubling};
use crate::attacks::deep::{applicator_chain, objects};
use crate::support::{on_small_stack, say};

/// Names the attack that the child process is to run.
const VARIABLE: &str = "COUNTERSIGN_PEER_ATTACK";
const CPU_SECONDS: u64 = 3;
const MEMORY: u64 = 1024 * 1024 * 1024;

fn attacks() -> [Attack; 3] {
    let integer = r#"{"type":"integer"}"#;
    let last = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/r0"}}}"##;
    [
        Attack::new(
            "allOf doubled over 40 levels",
            doubling(Shape::AllOf, 40, r#"{"minimum":0}"#, "", ""),
            "1",
            Verdict::Valid,
        ),
        Attack::new(
            "100 references in a row, each under unevaluatedProperties",
            applicator_chain(100, r#","unevaluatedProperties":false"#, last),
            objects(120, "{}"),
            Verdict::Valid,
        ),
        Attack::new(
            "anyOf doubled over 24 levels, all failing",
            doubling(Shape::AnyOf, 24, integer, "", ""),
            "\"x\"",
            Verdict::Invalid,
        ),
    ]
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child() {
    let name = std::env::var(VARIABLE).expect("started by the test below");
    let attack = attacks()
        .into_iter()
        .find(|attack| attack.name == name)
        .expect("an attack of the list");
    let limit = |resource, most| {
        let bound = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, bound).expect("a limit can be lowered");
    };
    limit(Resource::Core, 0);
    limit(Resource::Cpu, CPU_SECONDS);
    limit(Resource::As, MEMORY);
    let schema: Value =
        serde_json::from_str(&attack.schema).expect("within serde_json's own depth");
    let instance: Value =
        serde_json::from_str(&attack.instance).expect("within serde_json's depth");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    match attack.verdict {
        Verdict::Valid => assert!(validator.is_valid(&instance)),
        _ => assert!(validator.validate(&instance).is_err()),
    }
}

#[test]
fn jsonschema_dies_where_this_engine_answers() {
    for attack in attacks() {
        let ours = attack.clone();
        let verdict = on_small_stack(&attack.name, move || ours.verdict_of(&Limits::lifted()));
        let by_default = countersign_schema::compile(attack.schema.as_bytes(), &Limits::default())
            .expect_err("the default limits refuse it");
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["--ignored", "--exact", "peers::child", "--nocapture"])
            .env(VARIABLE, &attack.name)
            .output()
            .expect("the test can start itself");
        say(format_args!(
            "{} ({} bytes of schema): jsonschema {}; ours: {by_default}, or {verdict:?} with limits lifted",
            attack.name,
            attack.schema.len(),
            end(output.status, &output.stderr)
        ));
        assert!(
            output.status.signal().is_some(),
            "{}: jsonschema survives now: {}",
            attack.name,
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// How the child ended, in words.
fn end(status: std::process::ExitStatus, stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    let died_of = if stderr.contains("overflowed its stack") {
        "overflowed its stack and took the process with it"
    } else if stderr.contains("memory allocation") {
        "wanted more than 1 GiB and took the process with it"
    } else {
        "was still busy after 3 s of CPU time"
    };
    match status.signal() {
        Some(signal) => format!("{died_of} (signal {signal})"),
        None => format!("ended by itself ({status})"),
    }
}
