//! Judging: remembered verdicts, and what happens when there is no room.

use std::time::Duration;

use super::*;
use crate::judge::Judge;
use crate::load::sample::CallTimes;
use crate::policy::{CallOutcome, Site, Validation};

fn validator(tool: &str) -> Validator {
    let mut judge = Judge::new(countersign_inspect::Era::Modern);
    judge.declare(tool.as_bytes()).expect("a tool");
    let rules = ValidationRules {
        judge,
        validation: Validation {
            strict: true,
            ..Validation::default()
        },
        today: "2026-01-01".parse().expect("a day"),
        server: "s".to_owned(),
        tools: vec!["t".to_owned()],
        warm_up: Duration::ZERO,
        stretch: Duration::from_secs(1),
    };
    Validator::start(rules).expect("a thread")
}

fn sample(result: &[u8]) -> Sample {
    let start = br#"{"jsonrpc":"2.0","id":1,"result":"#;
    let message = Bytes::from([&start[..], result, b"}"].concat());
    let result = message.slice(start.len()..message.len() - 1);
    Sample {
        tool: 0,
        expect: Expect::Ok,
        answer: Ok(message),
        result: Some(result),
        arguments: None,
        times: CallTimes {
            intended: Duration::ZERO,
            ended: Duration::ZERO,
            response: Duration::ZERO,
            service: Duration::ZERO,
            first_event: None,
        },
    }
}

const TOOL: &str = r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}"#;

fn structured(value: &str) -> Vec<u8> {
    let text = serde_json::Value::from(value);
    format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":{text}}}],"structuredContent":{value}}}"#).into_bytes()
}

#[tokio::test]
async fn the_same_bytes_get_the_same_verdict_and_others_their_own() {
    let validator = validator(TOOL);
    let values = [r#"{"n":1}"#, r#"{"n":1}"#, "{}", "{}", r#"{"n":1}"#];
    validator.offer(values.map(|value| sample(&structured(value))).to_vec());
    validator.finish().await;
    let verdicts = validator.verdicts();
    let counts = &verdicts.tools[0].counts;
    assert_eq!(counts[&CallOutcome::Success], 3);
    assert_eq!(counts[&CallOutcome::violation(Site::Result)], 2);
    assert_eq!(verdicts.violations.counts.fail, 2, "each time is counted");
}

#[tokio::test]
async fn what_does_not_fit_into_the_queue_is_counted_unjudged() {
    let validator = validator(TOOL);
    let mut too_much = sample(&structured("{}"));
    too_much.arguments = Some(Bytes::from(vec![b' '; MOST_BYTES]));
    validator.offer(vec![too_much]);
    validator.offer(vec![sample(&structured("{}"))]);
    validator.finish().await;
    let verdicts = validator.verdicts();
    assert_eq!(verdicts.unvalidated, 1);
    assert_eq!(
        verdicts.tools[0].counts[&CallOutcome::Success],
        1,
        "its outcome is known"
    );
    assert_eq!(
        verdicts.violations.counts.fail, 1,
        "the other one was judged"
    );
}
