//! The REST interface: what the `OpenAPI` document says is what the handlers answer, and whatever is
//! not understood is refused with the words that would have been.

use countersign_schema::{Fuel, Limits, Outcome, compile};
use countersign_tape::Tape;
use serde_json::{Value, json};

use crate::support::{Rig, preset, strict, text};

/// A gateway that has something to tell: calls that ended in every way the demo knows.
async fn told() -> Rig {
    let rig = Rig::over(vec![strict(preset("stub", "demo")), preset("warn", "demo")]).await;
    for server in ["stub", "warn"] {
        let client = rig.client(&format!("/mcp/s/{server}"));
        for tool in ["conforming", "bad_output", "text_only", "error", "nothing"] {
            client.call(tool, "{}").await.expect("an answer");
        }
    }
    rig
}

/// The schema of an answer, standing alone and strict: a member the document does not name is an error.
fn standalone(document: &Value, schema: &Value) -> Vec<u8> {
    let whole = json!({"$defs": document["components"]["schemas"], "allOf": [schema]});
    let whole = whole
        .to_string()
        .replace("#/components/schemas/", "#/$defs/");
    let mut whole: Value = serde_json::from_str(&whole).expect("JSON");
    let mut open: Vec<&mut Value> = vec![&mut whole];
    while let Some(value) = open.pop() {
        if let Some(object) = value.as_object_mut()
            && object.contains_key("properties")
            && object.get("type") == Some(&json!("object"))
            && !object.contains_key("additionalProperties")
        {
            object.insert("additionalProperties".to_owned(), false.into());
        }
        match value {
            Value::Object(members) => open.extend(members.values_mut()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    whole.to_string().into_bytes()
}

fn hold(document: &Value, response: &Value, answer: &[u8], path: &str) {
    let schema = &response["content"]["application/json"]["schema"];
    let schema = standalone(document, schema);
    let schema = compile(&schema, &Limits::default()).expect("an enforceable schema");
    let tape = Tape::parse(answer, &countersign_tape::Limits::default()).expect("JSON");
    let mut fuel = Fuel::for_instance(&tape, 10.0);
    match schema.validate(&tape, &mut fuel) {
        Outcome::Valid => {}
        Outcome::Invalid(why) => panic!("{path}: {}: {}", why.first(), text(answer)),
        Outcome::Exhausted => panic!("{path}: out of fuel"),
    }
}

fn response<'a>(document: &'a Value, path: &str, status: &str) -> &'a Value {
    let response = &document["paths"][path]["get"]["responses"][status];
    match response["$ref"].as_str() {
        Some(target) => document.pointer(&target[1..]).expect("the target is there"),
        None => response,
    }
}

#[tokio::test]
async fn every_answer_is_as_the_document_says() {
    let rig = told().await;
    let document = rig.get("/api/v1/openapi.json").await;
    let blocked = rig.activity("status=blocked").await;
    let id = blocked["id"].as_str().expect("an id");
    let shown = format!("/api/v1/activity/{id}");
    for (path, asked) in [
        ("/api/v1/activity", "/api/v1/activity?total=true&limit=1000"),
        ("/api/v1/activity", "/api/v1/activity?limit=1"),
        ("/api/v1/activity/{id}", shown.as_str()),
        ("/api/v1/activity/summary", "/api/v1/activity/summary"),
        (
            "/api/v1/activity/summary",
            "/api/v1/activity/summary?by=tool",
        ),
        (
            "/api/v1/activity/summary",
            "/api/v1/activity/summary?by=rule&period=7d",
        ),
        ("/api/v1/config", "/api/v1/config"),
        ("/api/v1/servers", "/api/v1/servers"),
        ("/api/v1/servers/{name}/logs", "/api/v1/servers/stub/logs"),
        ("/api/v1/status", "/api/v1/status"),
        ("/api/v1/tools", "/api/v1/tools"),
        ("/api/v1/tools/{name}", "/api/v1/tools/stub:bad_output"),
        ("/api/v1/tools/{name}", "/api/v1/tools/stub%3Ahidden_text"),
    ] {
        let answer = rig.client(asked).send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, 200, "{asked}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        hold(
            &document,
            response(&document, path, "200"),
            &answer.body,
            asked,
        );
    }
    for (path, asked, status) in [
        ("/api/v1/activity", "/api/v1/activity?status=warning", 400),
        ("/api/v1/activity/{id}", "/api/v1/activity/xyz", 400),
        (
            "/api/v1/activity/{id}",
            "/api/v1/activity/01ARZ3NDEKTSV4RRFFQ69G5FAV",
            404,
        ),
        ("/api/v1/tools/{name}", "/api/v1/tools/stub:nothing", 404),
        ("/api/v1/tools/{name}", "/api/v1/tools/nothing", 404),
        (
            "/api/v1/activity/summary",
            "/api/v1/activity/summary?by=client",
            400,
        ),
        (
            "/api/v1/activity/export",
            "/api/v1/activity/export?format=xml",
            400,
        ),
        (
            "/api/v1/servers/{name}/logs",
            "/api/v1/servers/nobody/logs",
            404,
        ),
        ("/events", "/events?limit=5", 400),
    ] {
        let answer = rig.client(asked).send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, status, "{asked}");
        let promised = response(&document, path, &status.to_string());
        hold(&document, promised, &answer.body, asked);
    }
}

#[tokio::test]
async fn every_path_asks_for_the_key_unless_the_document_says_otherwise() {
    let rig = told().await;
    let document = rig.get("/api/v1/openapi.json").await;
    let blocked = rig.activity("status=blocked").await;
    let id = blocked["id"].as_str().expect("an id");
    let all = document["paths"].as_object().expect("paths");
    for (path, operation) in all {
        let name = if path.contains("/servers/") {
            "stub"
        } else {
            "stub:conforming"
        };
        let asked = path.replace("{id}", id).replace("{name}", name);
        if operation["get"].is_null() {
            let keyless = rig.stranger(&asked).send("POST", b"").await;
            assert_eq!(keyless.expect("an answer").status, 401, "{asked}");
            let get = rig.client(&asked).send("GET", b"").await;
            assert_eq!(get.expect("an answer").status, 405, "{asked}");
            continue;
        }
        let status = match path.rsplit('/').next() {
            // The server of this test needs no token.
            Some("auth") => 409,
            // No head of the log is signed yet.
            Some("receipt") => 404,
            _ => 200,
        };
        let media = operation["get"]["responses"][status.to_string()]["content"]
            .as_object()
            .expect("content");
        let mut exchange = rig
            .client(&asked)
            .open("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(exchange.status, status, "{asked}");
        let kind = exchange.header("content-type").expect("a type").to_owned();
        assert!(media.contains_key(&kind), "{asked}: {kind}");
        let keyless = rig
            .stranger(&asked)
            .open("GET", b"")
            .await
            .expect("an answer")
            .status;
        let open = operation["get"]["security"].is_array();
        assert_eq!(keyless, if open { 200 } else { 401 }, "{asked}");
        assert!(exchange.bytes().await.expect("a body").is_some());
        // A method that the path does not have.
        let other = if operation["post"].is_null() {
            "POST"
        } else {
            "PUT"
        };
        let other = rig.admin(&asked).send(other, b"").await;
        let other = other.expect("an answer");
        assert_eq!(other.status, 405, "{asked}");
        assert!(other.header("allow").is_some(), "{asked}");
    }
}

#[tokio::test]
async fn a_tool_says_its_declaration_its_mode_and_which_key_set_it() {
    let rig = Rig::over(vec![strict(preset("stub", "demo")), preset("warn", "demo")]).await;
    let tool = rig.get("/api/v1/tools/stub:bad_output").await;
    assert_eq!(
        tool["output_validation"],
        json!({
            "mode": "strict",
            "source": "server",
            "key": "mcpServers.stub.output_validation.mode",
            "enforceable": true,
            "reason": "results that break it are blocked",
        })
    );
    assert_eq!(tool["declaration"]["name"], "bad_output");
    assert!(tool["declaration"]["description"].is_string(), "{tool}");
    assert!(tool["declaration"]["inputSchema"].is_object(), "{tool}");
    assert!(tool["declaration"]["outputSchema"].is_object(), "{tool}");
    let listed = rig.get("/api/v1/tools").await;
    let listed = listed["tools"].as_array().expect("tools");
    let one = listed
        .iter()
        .find(|one| one["server"] == "warn" && one["tool"] == "hidden_text");
    assert_eq!(
        one.expect("the tool")["output_validation"],
        json!({
            "mode": "warn",
            "source": "default",
            "key": null,
            "enforceable": false,
            "reason": "it declares no output schema",
        })
    );
}

#[tokio::test]
async fn unknown_words_are_refused_with_the_known_ones() {
    let rig = Rig::over(Vec::new()).await;
    for resource in ["/api/v1/activity", "/api/v1/activity/export", "/events"] {
        for (query, expected) in [
            (
                "type=call",
                "unknown type `call`; allowed: tool_call, prompt_get",
            ),
            (
                "status=warning",
                "unknown status `warning`; allowed: success, error, rejected, flagged, rewritten, blocked",
            ),
            (
                "decision=block",
                "unknown decision `block`; allowed: allowed, flagged, rewritten, blocked",
            ),
            (
                "stage=schema",
                "unknown stage `schema`; allowed: transport, shape, guard, contract",
            ),
            (
                "rule=type",
                "unknown rule `type`; allowed: transport.<rule>",
            ),
            ("since=soon", "since: not a time: `soon`"),
            ("until=never", "until: not a time: `never`"),
            ("parent_id=7", "parent_id: "),
            (
                "colour=red",
                "unknown parameter `colour`; allowed: type, status",
            ),
            ("status=blocked,warning", "unknown status `warning`"),
        ] {
            let path = format!("{resource}?{query}");
            let answer = rig.client(&path).send("GET", b"").await.expect("an answer");
            let said = text(&answer.body);
            assert_eq!(answer.status, 400, "{path}: {said}");
            let said: Value = serde_json::from_str(&said).expect("JSON");
            let said = said["error"].as_str().expect("a reason");
            assert!(said.starts_with(expected), "{path}: {said}");
        }
    }
}

#[tokio::test]
async fn an_export_has_every_record_in_every_format() {
    let rig = told().await;
    let export = async |query: &str| {
        let path = format!("/api/v1/activity/export?{query}");
        let answer = rig.client(&path).send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, 200);
        text(&answer.body)
    };
    let listed = rig.activities("limit=1000").await;
    let lines = export("").await;
    let mut exported: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    exported.reverse();
    assert_eq!(exported, listed);
    let blocked = export("status=blocked&format=csv").await;
    let rows: Vec<&str> = blocked.lines().collect();
    assert_eq!(rows.len(), 2, "{blocked}");
    assert!(rows[0].starts_with("id,timestamp,type,status,server,tool,decision,reason"));
    assert!(rows[1].contains("output schema validation failed: type at /id"));
    let sarif: Value = serde_json::from_str(&export("format=sarif").await).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let rules: Vec<&Value> = results.iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(rules, ["schema.type", "schema.type"]);
}

#[tokio::test]
async fn a_summary_counts_what_the_list_shows() {
    let rig = told().await;
    let summary = rig.get("/api/v1/activity/summary").await;
    let listed = rig.activities("limit=1000").await;
    assert_eq!(summary["total"], listed.len());
    for (status, count) in summary["statuses"].as_object().expect("statuses") {
        let found = listed.iter().filter(|record| record["status"] == **status);
        assert_eq!(*count, found.count(), "{status}");
    }
    let row = |server: &str| {
        let rows = summary["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["server"] == server);
        row.expect("a row").clone()
    };
    for (server, status) in [("stub", "blocked"), ("warn", "flagged")] {
        let row = row(server);
        assert_eq!(
            (&row["validated"], &row["contract_rejections"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(
            (&row["rejection_rate"], &row["statuses"][status]),
            (&json!(0.5), &json!(1))
        );
    }
}
