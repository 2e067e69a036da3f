//! What `policy preview` counts in `warn` is what `strict` then blocks: the same calls are made of the same server twice,
//! by real gateways, and the numbers are compared tool by tool.

use std::collections::BTreeMap;
use std::path::Path;

use countersign_fixture::{Answer, Body, Script, Step, Tool};
use countersign_gateway::inspect::config::Posture;
use countersign_gateway::inspect::{Decision, Finding, Mode, Overrides, Severity, Stage, decide};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::Folder;
use crate::support::gateway::RunningGateway;
use crate::support::home::fixture;

const SCHEMA: &str = r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#;
/// A placeholder is longer than this allows, so that a cleaned value no longer conforms.
const SHORT: &str = r#"{"type":"object","properties":{"a":{"type":"string","maxLength":12}}}"#;

/// Every way in which a result can be treated differently in the two modes, and some in which it is not.
fn script() -> Script {
    let declared = |name: &str, result: &str| Tool::with_output_schema(name, SCHEMA).result(result);
    let nested = |levels| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let structured = |value: &str| format!(r#"{{"content":[],"structuredContent":{value}}}"#);
    let token = r#"{"type":"text","text":"x<|im_end|>"}"#;
    // More hits than a record lists, of which only the member's name is blocked in strict mode.
    let crowd = vec![token; 30].join(",");
    let crowded_key =
        format!(r#"{{"content":[{crowd}],"structuredContent":{{"a":1,"<|im_end|>":2}}}}"#);
    let broken_token = format!(r#"{{"content":[{token}],"structuredContent":{{"a":"x"}}}}"#);
    let text_token = format!(r#"{{"content":[{token}],"structuredContent":{{"a":1}}}}"#);
    let mut script = Script::new("mixed")
        .tool(declared("conforming", &structured(r#"{"a":1}"#)))
        .tool(declared("breaking", &structured(r#"{"a":"x"}"#)))
        .tool(declared("repeated_key", &structured(r#"{"a":1,"a":2}"#)))
        .tool(declared(
            "text_only",
            r#"{"content":[{"type":"text","text":"x"}]}"#,
        ))
        .tool(declared(
            "too_large",
            &structured(&format!(r#"{{"a":"{}"}}"#, "x".repeat(600))),
        ))
        .tool(declared("too_deep", &structured(&nested(20))))
        .tool(declared("buried", &structured(&nested(200))))
        .tool(declared(
            "many_blocks",
            &format!(
                r#"{{"content":[{}],"structuredContent":{{"a":1}}}}"#,
                vec![r#"{"type":"text","text":"x"}"#; 60].join(",")
            ),
        ))
        .tool(declared(
            "failed",
            r#"{"content":[],"isError":true,"structuredContent":{"a":"x"}}"#,
        ))
        .tool(declared("token_in_text", &text_token))
        .tool(declared("token_and_broken", &broken_token))
        .tool(declared("token_in_key", &crowded_key))
        .tool(
            Tool::with_output_schema("token_in_value", SHORT)
                .result(structured(r#"{"a":"<|im_end|>"}"#)),
        )
        .tool(
            Tool::with_output_schema("uncompilable", r#"{"type":"obejct"}"#)
                .result(structured("{}")),
        )
        .tool(
            Tool::with_output_schema("elsewhere", r#"{"$ref":"https://example.com/x"}"#)
                .result(structured("{}")),
        )
        .tool(Tool::named("no_schema").result(structured(r#"{"a":"x"}"#)))
        .tool(Tool::named("misshapen").result(r#"{"content":[{"type":"text"}]}"#));
    script.capabilities = serde_json::from_str(r#"{"tools":{},"prompts":{}}"#).expect("JSON");
    let prompt = r#"{"messages":[],"description":"\ud800"}"#;
    let prompt = vec![vec![Step::Answer(Answer::result(Body::new(prompt)))]];
    script.methods.insert("prompts/get".to_owned(), prompt);
    script
}

/// A folder with a configuration in which nothing but the mode depends on the argument.
struct Setup {
    folder: Folder,
    posture: &'static str,
}

impl Setup {
    fn new(posture: &'static str) -> Self {
        let script = serde_json::to_string(&script()).expect("JSON");
        let folder = Folder::with(&[("mixed.json", &script)]);
        Self { folder, posture }
    }

    fn start(&self, mode: &str) -> RunningGateway {
        let server = |mode: &str| {
            json!({
                "command": fixture(), "args": ["stdio", "--script", self.folder.path().join("mixed.json")],
                "output_validation": {"mode": mode},
            })
        };
        let config = json!({
            "mcpServers": {"mixed": server(mode), "unchecked": server("off")},
            "output_validation": {
                "max_bytes": 500, "max_depth": 10, "max_blocks": 50,
                "missing_structured_content": self.posture, "uncompilable_schema": self.posture,
            },
        });
        let file = self.folder.path().join("c.json");
        std::fs::write(file, config.to_string()).expect("written");
        let gateway = RunningGateway::start(&self.folder, "serve --config c.json");
        gateway.all_up(2);
        gateway
    }
}

/// Calls every tool, the first once, the second twice and the third three times, and so on in turn.
fn make_calls(gateway: &RunningGateway) {
    let key = gateway.key();
    let call = |server: &str, method: &str, name: &str| {
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": name}});
        let answer = gateway.curl(
            "POST",
            &format!("/mcp/s/{server}"),
            &key,
            &message.to_string(),
        );
        assert!(answer.starts_with("HTTP/1.1 200"), "{name}: {answer}");
    };
    for (index, tool) in script().tools.iter().enumerate() {
        for _ in 0..=index % 3 {
            call("mixed", "tools/call", &tool.name);
        }
        call("unchecked", "tools/call", &tool.name);
    }
    call("mixed", "prompts/get", "p");
    // Names nothing, so that nothing is called and nothing can be blocked.
    call("mixed", "tools/call", "no_such_tool");
}

/// What was blocked, by name.
fn blocked(gateway: &RunningGateway) -> BTreeMap<String, u64> {
    let page = gateway.json("/api/v1/activity?decision=blocked&server=mixed&limit=1000");
    let mut blocked = BTreeMap::new();
    for record in page["activities"].as_array().expect("a page") {
        let name = record["tool"].as_str().expect("a name").to_owned();
        *blocked.entry(name).or_default() += 1;
    }
    blocked
}

/// What a preview says would be blocked, by name.
fn previewed(preview: &Value) -> BTreeMap<String, u64> {
    let rows = preview["rows"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row["server"] == "mixed" && row["would_be_blocked"] != 0);
    let named = rows.map(|row| {
        let name = row["tool"].as_str().unwrap_or("p").to_owned();
        (name, row["would_be_blocked"].as_u64().expect("a number"))
    });
    named.collect()
}

#[test]
fn what_the_preview_counts_is_what_strict_then_blocks() {
    for (posture, by_choice) in [("allow", false), ("block", true)] {
        let setup = Setup::new(posture);
        let gateway = setup.start("warn");
        make_calls(&gateway);
        let line = "policy preview --mode strict --since 1h --config c.json --data-dir data";
        let asked = setup.folder.countersign(&format!("{line} -o json"));
        let shown = setup.folder.countersign(line);
        assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
        let read = setup.folder.countersign(&format!("{line} -o json"));
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let (asked, mut read) = (json(&asked.stdout), json(&read.stdout));
        // The hour ends a moment later.
        read["since"] = asked["since"].clone();
        assert_eq!(asked, read, "a gateway and its store say the same");

        let data = |name: &str| setup.folder.path().join(name);
        std::fs::rename(data("data"), data("warned")).expect("renamed");
        let gateway = setup.start("strict");
        make_calls(&gateway);
        let strict = blocked(&gateway);
        assert_eq!(previewed(&asked), strict);
        for tool in ["text_only", "uncompilable"] {
            assert_eq!(strict.contains_key(tool), by_choice, "{tool}");
        }
        for tool in [
            "token_in_key",
            "token_in_value",
            "token_and_broken",
            "elsewhere",
            "p",
        ] {
            assert!(strict.contains_key(tool), "{tool}");
        }
        let tools = script().tools.len();
        assert_eq!(asked["unknown"], tools, "every call in mode off");
        assert!(shown.stdout.contains("Not known, because"), "{shown}");
        assert!(
            shown.stdout.contains("\n  unchecked:breaking: 1 calls\n"),
            "{shown}"
        );
        // Strict mode, looked at from itself, would block the same once more.
        let again = setup
            .folder
            .countersign(&format!("{line} --server mixed -o json"));
        let again = json(&again.stdout);
        assert_eq!(previewed(&again), strict);
        assert_eq!(again["already_blocked"], again["would_be_blocked"]);
    }
}

/// The decision table of the documentation, cell by cell, is what the code decides.
#[test]
fn the_decision_table_of_the_documentation_is_that_of_the_code() {
    let page = "../../docs/reference/decision-table.md";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, table) = page.split_once("| what was found |").expect("a table");
    let (table, _) = table.split_once("\n\n").expect("the end of the table");
    let mut rules = Vec::new();
    for row in table.lines().skip(2) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, rule, off, warn, strict] = cells[..] else {
            panic!("five cells: {row}");
        };
        let rule = rule.trim_matches('`');
        for (mode, cell) in [(Mode::Off, off), (Mode::Warn, warn), (Mode::Strict, strict)] {
            assert_eq!(cell, expected(rule, mode), "{rule} in {mode}");
        }
        rules.push(rule.to_owned());
    }
    for prefix in [
        "transport.",
        "shape.",
        "guard.",
        "contract.",
        "schema.",
        "input.",
        "access.",
    ] {
        assert!(
            rules.iter().any(|rule| rule.starts_with(prefix)),
            "{prefix}"
        );
    }
}

/// What the code does about a finding of a rule, in the words of the page.
fn expected(rule: &str, mode: Mode) -> String {
    let stage = match rule.split('.').next() {
        Some("transport") => Stage::Transport,
        Some("shape") => Stage::Shape,
        Some("guard") => Stage::Guard,
        Some("input") => Stage::Input,
        Some("access") => Stage::Access,
        _ => Stage::Contract,
    };
    let finding = Finding::new(stage, rule.to_owned(), Severity::Violation);
    let decided = |missing, uncompilable| {
        let overrides = Overrides {
            missing,
            uncompilable,
            classifier: Posture::Allow,
        };
        match decide(&finding, mode, &overrides) {
            Decision::Allowed => "forwarded",
            Decision::Flagged => "recorded",
            Decision::Rewritten => "changed",
            Decision::Blocked => "blocked",
        }
    };
    let word = decided(Posture::Allow, Posture::Allow);
    let choices = [
        (
            "missing_structured_content",
            decided(Posture::Block, Posture::Allow),
        ),
        (
            "uncompilable_schema",
            decided(Posture::Allow, Posture::Block),
        ),
    ];
    match choices.iter().find(|(_, chosen)| *chosen != word) {
        Some((key, chosen)) => format!("{word}, or {chosen} if `{key}` is `block`"),
        None => word.to_owned(),
    }
}
