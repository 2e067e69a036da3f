//! One failing result is one decision, linked to its call; everything else leaves no trace of the
//! checks that did not apply.

use countersign_fixture::{Answer, Body, Script, Tool};
use countersign_inspect::Mode;
use serde_json::Value;

use crate::support::{Rig, refusal, scripted};

const SCHEMA: &str = r#"{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;

/// A tool for every row of the quickstart's table.
fn script() -> Script {
    let with = |name: &str, result: &str| Tool::with_output_schema(name, SCHEMA).result(result);
    let deep = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    let plain = r#"{"name":"no_schema","inputSchema":{"type":"object"}}"#;
    Script::new("rows")
        .tool(Tool::new(plain).result(r#"{"content":[],"structuredContent":{"a":"x"}}"#))
        .tool(with(
            "text_only",
            r#"{"content":[{"type":"text","text":"x"}]}"#,
        ))
        .tool(with(
            "conforming",
            r#"{"content":[],"structuredContent":{"a":1,"b":2}}"#,
        ))
        .tool(with(
            "many",
            r#"{"content":[],"structuredContent":{"a":"x","b":"y"}}"#,
        ))
        .tool(with("empty", r#"{"content":[],"structuredContent":{}}"#))
        .tool(with(
            "deep",
            &format!(r#"{{"content":[],"structuredContent":{deep}}}"#),
        ))
        .tool(with(
            "failed",
            r#"{"content":[],"isError":true,"structuredContent":{"a":"x"}}"#,
        ))
}

struct Row {
    tool: &'static str,
    /// The stage whose finding makes a decision in warn and strict mode.
    fails: Option<&'static str>,
    validated: bool,
}

const ROWS: [Row; 7] = [
    Row {
        tool: "no_schema",
        fails: None,
        validated: false,
    },
    Row {
        tool: "text_only",
        fails: None,
        validated: false,
    },
    Row {
        tool: "conforming",
        fails: None,
        validated: true,
    },
    Row {
        tool: "many",
        fails: Some("contract"),
        validated: true,
    },
    Row {
        tool: "empty",
        fails: Some("contract"),
        validated: true,
    },
    Row {
        tool: "deep",
        fails: Some("guard"),
        validated: true,
    },
    Row {
        tool: "failed",
        fails: None,
        validated: false,
    },
];

#[tokio::test]
async fn every_row_of_the_table_in_every_mode() {
    let (server, _folder) = scripted("x", &script());
    let in_mode = |name: &str, mode| {
        let mut server = server.clone();
        name.clone_into(&mut server.name);
        server.output.mode = Some(mode);
        server
    };
    let servers = vec![
        in_mode("off", Mode::Off),
        in_mode("warn", Mode::Warn),
        in_mode("strict", Mode::Strict),
    ];
    let rig = Rig::over(servers).await;
    for (mode, decision) in [
        ("off", None),
        ("warn", Some("flagged")),
        ("strict", Some("blocked")),
    ] {
        for row in &ROWS {
            rig.client(&format!("/mcp/s/{mode}"))
                .call(row.tool, "{}")
                .await
                .expect("an answer");
            let about = format!("server={mode}&tool={}", row.tool);
            let [call] = &rig.activities(&format!("{about}&type=tool_call")).await[..] else {
                panic!("one call: {about}");
            };
            let decisions = rig
                .activities(&format!("{about}&type=policy_decision"))
                .await;
            held(row, mode, decision, call, &decisions);
        }
    }
    // Nothing but the failures has a finding of these stages, whichever record one looks at.
    for stage in ["guard", "contract"] {
        let failing = ROWS.iter().filter(|row| row.fails == Some(stage)).count();
        let found = rig.activities(&format!("stage={stage}")).await;
        assert_eq!(found.len(), 2 * failing, "{stage}");
        assert!(
            found
                .iter()
                .all(|record| record["type"] == "policy_decision")
        );
    }
}

fn held(row: &Row, mode: &str, decision: Option<&str>, call: &Value, decisions: &[Value]) {
    let about = format!("{} in mode {mode}", row.tool);
    assert_eq!(call["mode"], mode, "{about}");
    let validated = row.validated && mode != "off";
    assert_eq!(call["validated"] == true, validated, "{about}");
    assert!(call.get("findings").is_none(), "{about}: {call}");
    let (Some(stage), Some(decision)) = (row.fails, decision) else {
        assert!(decisions.is_empty(), "{about}: {decisions:?}");
        return;
    };
    let [one] = decisions else {
        panic!("exactly one decision about {about}: {decisions:?}");
    };
    assert_eq!(one["parent_id"], call["id"], "{about}");
    assert_eq!(
        (&one["decision"], &one["status"]),
        (&decision.into(), &decision.into())
    );
    assert_eq!(one["mode"], mode);
    assert!(
        one["reason"]
            .as_str()
            .is_some_and(|reason| reason.starts_with("output schema validation failed: "))
    );
    let findings = one["findings"].as_array().expect("findings");
    assert!(
        findings.iter().all(|finding| finding["stage"] == stage),
        "{findings:?}"
    );
    assert_eq!(one["schema_digest"], call["schema_digest"]);
    assert!(one["schema_digest"].is_string(), "{about}");
    if stage == "contract" {
        assert_eq!(
            findings.len(),
            2,
            "each violation, in one decision: {about}"
        );
        assert!(
            findings
                .iter()
                .all(|finding| finding["schema_pointer"].is_string())
        );
    }
}

/// The server under suspicion chooses its schema: one that does not compile must not lift the bounds on size and depth.
#[tokio::test]
async fn a_schema_that_does_not_compile_does_not_switch_the_guards_off() {
    let broken =
        |name: &str, body| Tool::with_output_schema(name, r#"{"type":"obejct"}"#).answer(body);
    let large = Body::new(r#"{"content":[],"structuredContent":{"a":""#)
        .repeat("x", 6_000_000)
        .then(r#""}}"#);
    let deep = Body::new(r#"{"content":[],"structuredContent":"#)
        .repeat(r#"{"a":"#, 101)
        .then("1")
        .repeat("}", 101)
        .then("}");
    let script = Script::new("x")
        .tool(broken("large", Answer::result(large)))
        .tool(broken("deep", Answer::result(deep)));
    let (server, _folder) = scripted("x", &script);
    let rig = Rig::over(vec![crate::support::strict(server)]).await;
    for (tool, bound) in [("large", "max_bytes"), ("deep", "max_depth")] {
        let answer = rig.client("/mcp/s/x").call(tool, "{}").await;
        let said = refusal(&answer.expect("an answer"));
        assert!(said.contains(bound), "{said}");
        let query = format!("tool={tool}&type=policy_decision&decision=blocked");
        let decision = rig.activity(&query).await;
        assert_eq!(decision["findings"][0]["stage"], "guard", "{decision}");
    }
}
