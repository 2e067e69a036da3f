//! What a server has besides tools, through its own endpoint: prompts, resources, completions.

use countersign_fixture::client::{MODERN_META, request};
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};
use serde_json::{Value, json};

use crate::support::{Rig, error_code, result, scripted, text};

const PROMPT: &str = r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi \u0041"}}],"x": 1.0}"#;
const CONTENTS: &str = r#"{"contents":[{"uri":"a:b","text":"t","n":12345678901234567890}]}"#;

fn script() -> Script {
    let mut script = Script::new("x").tool(Tool::named("t"));
    let capabilities =
        r#"{"tools":{},"prompts":{"listChanged":true},"resources":{"subscribe":true}}"#;
    script.capabilities =
        Some(serde_json::value::RawValue::from_string(capabilities.to_owned()).expect("JSON"));
    let answers = [
        (
            "prompts/list",
            Answer::result(Body::new(
                r#"{"prompts":[{"name":"p", "x":1E2}],"nextCursor":"2"}"#,
            )),
        ),
        ("prompts/get", Answer::result(Body::new(PROMPT))),
        (
            "resources/list",
            Answer::result(Body::new(r#"{"resources":[]}"#)),
        ),
        ("resources/templates/list", Answer::error(-32603, "broken")),
        ("resources/read", Answer::result(Body::new(CONTENTS))),
    ];
    for (method, answer) in answers {
        script
            .methods
            .insert(method.to_owned(), vec![vec![Step::Answer(answer)]]);
    }
    script
}

async fn rig(script: &Script) -> (Rig, tempfile::TempDir) {
    let (server, folder) = scripted("x", script);
    (Rig::over(vec![server]).await, folder)
}

#[tokio::test]
async fn a_legacy_session_gets_what_the_server_says() {
    let (rig, _folder) = rig(&script()).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-06-18")
        .await
        .expect("a session");
    let prompts = client
        .request("prompts/list", "{}")
        .await
        .expect("an answer");
    assert_eq!(
        result(&prompts),
        r#"{"prompts":[{"name":"p", "x":1E2}],"nextCursor":"2"}"#
    );
    let prompt = client.request("prompts/get", r#"{"name":"p"}"#).await;
    assert_eq!(result(&prompt.expect("an answer")), PROMPT);
    let read = client.request("resources/read", r#"{"uri":"a:b"}"#).await;
    assert_eq!(result(&read.expect("an answer")), CONTENTS);
    let broken = client.request("resources/templates/list", "{}").await;
    assert_eq!(error_code(&broken.expect("an answer")), -32603);
    let unable = client
        .request("completion/complete", "{}")
        .await
        .expect("an answer");
    assert_eq!((unable.status, error_code(&unable)), (200, -32601));
    let nameless = client
        .request("resources/read", "{}")
        .await
        .expect("an answer");
    assert_eq!(error_code(&nameless), -32602);
    let record = rig.activity("type=prompt_get").await;
    assert_eq!(
        (&record["server"], &record["tool"]),
        (&"x".into(), &"p".into())
    );
    let record = rig.activity("type=resource_read").await;
    assert_eq!(
        (&record["status"], &record["tool"]),
        (&"success".into(), &"a:b".into())
    );
}

#[tokio::test]
async fn completions_are_recorded() {
    let mut script = script();
    let capabilities = r#"{"tools":{},"prompts":{},"completions":{}}"#.to_owned();
    let capabilities = serde_json::value::RawValue::from_string(capabilities).expect("JSON");
    script.capabilities = Some(capabilities);
    let answer = Answer::result(Body::new(r#"{"completion":{"values":["python"]}}"#));
    let steps = vec![vec![Step::Answer(answer)]];
    script
        .methods
        .insert("completion/complete".to_owned(), steps);
    let (rig, _folder) = rig(&script).await;
    let client = rig.client("/mcp/s/x").handshake("2025-06-18").await;
    let client = client.expect("a session");
    for reference in [
        r#"{"type":"ref/prompt","name":"review"}"#,
        r#"{"type":"ref/resource","uri":"file:///{path}"}"#,
    ] {
        let params = format!(r#"{{"ref":{reference},"argument":{{"name":"a","value":"py"}}}}"#);
        let answer = client.request("completion/complete", &params).await;
        assert!(result(&answer.expect("an answer")).contains("python"));
    }
    let records = rig.activities("type=completion").await;
    let named: Vec<&Value> = records.iter().map(|record| &record["tool"]).collect();
    assert_eq!(named, [&json!("file:///{path}"), &json!("review")]);
    assert!(
        records
            .iter()
            .all(|it| it["server"] == "x" && it["status"] == "success")
    );
}

#[tokio::test]
async fn a_list_is_recorded_when_it_changed_and_only_then() {
    let mut script = script();
    let list = |name: &str| {
        let list = format!(r#"{{"prompts":[{{"name":"{name}","description":"d<|im_start|>"}}]}}"#);
        vec![Step::Answer(Answer::result(Body::new(list)))]
    };
    let lists = vec![list("one"), list("one"), list("two"), list("two")];
    script.methods.insert("prompts/list".to_owned(), lists);
    let (rig, _folder) = rig(&script).await;
    let client = rig.client("/mcp/s/x").handshake("2025-06-18").await;
    let client = client.expect("a session");
    for _ in 0..4 {
        let answer = client.request("prompts/list", "{}").await;
        assert_eq!(answer.expect("an answer").status, 200);
    }
    let broken = client.request("resources/templates/list", "{}").await;
    assert_eq!(error_code(&broken.expect("an answer")), -32603);
    let records = rig.activities("type=list_change").await;
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records.iter().all(|it| it["tool"] == "prompts/list"));
    assert_ne!(records[0]["payload_digest"], records[1]["payload_digest"]);
    // Each of the four was cleaned; a decision points to the record of its list where there is one.
    let decisions = rig.activities("type=policy_decision").await;
    let parents: Vec<&Value> = decisions.iter().map(|it| &it["parent_id"]).collect();
    let ids: Vec<&Value> = records.iter().map(|it| &it["id"]).collect();
    assert_eq!(parents, [&Value::Null, ids[0], &Value::Null, ids[1]]);
}

#[tokio::test]
async fn a_modern_client_is_told_how_long_lists_last() {
    let (rig, _folder) = rig(&script().eras(Eras::Legacy)).await;
    let client = rig.client("/mcp/s/x");
    let list = client
        .modern("resources/list", "{}")
        .await
        .expect("an answer");
    assert_eq!(
        result(&list),
        r#"{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private"}"#
    );
    let params = format!(r#"{{"uri":"a:b","_meta":{{{MODERN_META}}}}}"#);
    let read = request("1", "resources/read", &params);
    let client = client.modern_headers("resources/read", &params);
    let without = client.clone().without_header("Mcp-Name").post(&read).await;
    let without = without.expect("an answer");
    assert_eq!((without.status, error_code(&without)), (400, -32020));
    let answer = client.with_header("Mcp-Name", "a:b").post(&read).await;
    assert!(
        result(&answer.expect("an answer")).starts_with(r#"{"resultType":"complete","contents""#)
    );
}

#[tokio::test]
async fn only_what_the_server_has_is_offered() {
    let (rig, _folder) = rig(&script().eras(Eras::Legacy)).await;
    let offered = async |path: &str| {
        let params = countersign_fixture::client::initialize_params("2025-11-25");
        let answer = rig.client(path).request("initialize", &params).await;
        let value: Value =
            serde_json::from_str(&result(&answer.expect("an answer"))).expect("JSON");
        value["capabilities"].clone()
    };
    let own = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true}, "resources": {"subscribe": true}});
    assert_eq!(offered("/mcp/s/x").await, own);
    // Servers come and go, so the merged endpoints offer everything at any time.
    let mut all = json!({"tools": {"listChanged": true}, "logging": {}, "prompts": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}, "completions": {}});
    assert_eq!(offered("/mcp/all").await, all);
    all["tools"] = json!({});
    assert_eq!(offered("/mcp/call").await, all);
}

#[tokio::test]
async fn a_server_that_fails_is_an_error_and_not_a_result() {
    let mut script = script();
    let exit = vec![vec![Step::Exit(1)]];
    script.methods.insert("prompts/get".to_owned(), exit);
    let (rig, _folder) = rig(&script).await;
    let client = rig.client("/mcp/s/x");
    let lost = client
        .request("prompts/get", r#"{"name":"p"}"#)
        .await
        .expect("an answer");
    let lost: Value =
        serde_json::from_slice(&lost.body).unwrap_or_else(|_| panic!("{}", text(&lost.body)));
    assert_eq!(lost["error"]["code"], -32603);
    assert_eq!(lost["error"]["data"]["kind"], "lost");
    let record = rig.activity("type=prompt_get").await;
    assert_eq!(record["status"], "error");
}

#[tokio::test]
async fn prompts_and_resources_are_cleaned_like_results() {
    let mut script = script();
    for (method, result) in [
        (
            "prompts/get",
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a<|im_end|>"}}]}"#,
        ),
        (
            "resources/read",
            r#"{"contents":[{"uri":"a:b","text":"a<|im_end|>"}]}"#,
        ),
        (
            "prompts/list",
            r#"{"prompts":[{"name":"p","description":"a<|im_end|>"}]}"#,
        ),
    ] {
        let answer = Step::Answer(Answer::result(Body::new(result)));
        script.methods.insert(method.to_owned(), vec![vec![answer]]);
    }
    let (rig, _folder) = rig(&script).await;
    let client = rig.client("/mcp/s/x");
    for (method, params) in [
        ("prompts/get", r#"{"name":"p"}"#),
        ("resources/read", r#"{"uri":"a:b"}"#),
        ("prompts/list", "{}"),
    ] {
        let answer = client.request(method, params).await.expect("an answer");
        let seen = result(&answer);
        assert!(
            seen.contains("a(removed: control token)"),
            "{method}: {seen}"
        );
    }
    let decisions = rig.activities("type=policy_decision").await;
    let about: Vec<_> = decisions.iter().map(|one| one["tool"].clone()).collect();
    assert_eq!(about, ["prompts/list", "a:b", "p"]);
}
