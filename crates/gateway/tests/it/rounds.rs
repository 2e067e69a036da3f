//! Calls in several rounds, as modern servers make them: the server asks in its result, the client
//! answers with its next request. Nothing is held in between.

use countersign_fixture::client::{HttpClient, MODERN_META, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};

use countersign_config::{CallerConfig, CallerCredential, CallerRight};
use sha2::{Digest as _, Sha256};

use crate::support::{Rig, error_code, logged_http, received, result, text};

const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"s \u0041"}"#;
const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

fn script() -> Script {
    let answer = |result: &str| vec![Step::Answer(Answer::result(Body::new(result)))];
    let mut tool = Tool::new(
        r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    );
    tool.replies = vec![answer(ASKS), answer(DONE)];
    Script::new("x").eras(Eras::Modern).tool(tool)
}

#[tokio::test]
async fn a_server_asks_and_is_answered_through_every_endpoint() {
    for (path, name, arguments) in [
        ("/mcp/s/x", "t", "{}"),
        ("/mcp/all", "x__t", "{}"),
        ("/mcp/call", "call_tool_read", r#"{"name":"x:t"}"#),
    ] {
        let (server, _fixture, mut log) = logged_http("x", script(), Format::Json).await;
        let rig = Rig::over(vec![server]).await;
        let meta = MODERN_META.replace(
            r#"clientCapabilities":{}"#,
            r#"clientCapabilities":{"elicitation":{"form":{}},"extensions":{}}"#,
        );
        let params = |more: &str| {
            format!(r#"{{"name":"{name}","arguments":{arguments}{more},"_meta":{{{meta}}}}}"#)
        };
        let client = rig.client(path).modern_headers("tools/call", &params(""));
        let first = client.post(&request("1", "tools/call", &params(""))).await;
        assert_eq!(
            first
                .expect("an answer")
                .result()
                .map(|it| text(&it))
                .as_deref(),
            Some(ASKS)
        );
        let answers = r#","inputResponses":{"who":{"action":"accept"}},"requestState":"s \u0041""#;
        let second = client
            .post(&request("2", "tools/call", &params(answers)))
            .await;
        assert_eq!(
            second
                .expect("an answer")
                .result()
                .map(|it| text(&it))
                .as_deref(),
            Some(DONE)
        );
        let seen = received(&mut log, |entry| {
            text(entry.body()).contains("inputResponses")
        })
        .await;
        let seen = text(seen.body());
        assert!(seen.contains(answers), "{path}: {seen}");
        assert!(
            seen.contains(r#"clientCapabilities":{"elicitation":{"form":{}}}"#),
            "{seen}"
        );
    }
}

/// A caller whose key is its name.
fn caller(name: &str) -> CallerConfig {
    CallerConfig {
        name: name.to_owned(),
        credential: CallerCredential::Key(Sha256::digest(name).into()),
        groups: Vec::new(),
        rights: vec![CallerRight::Call],
        expires: None,
    }
}

#[tokio::test]
async fn the_state_of_a_call_comes_back_from_its_caller_alone() {
    let (server, _fixture, mut log) = logged_http("x", script(), Format::Json).await;
    let rig = Rig::with(vec![server], |config| {
        config.callers = vec![caller("ada"), caller("bob")];
    })
    .await;
    let params = |more: &str| {
        let meta = MODERN_META.replace(
            r#"clientCapabilities":{}"#,
            r#"clientCapabilities":{"elicitation":{"form":{}}}"#,
        );
        format!(r#"{{"name":"t","arguments":{{}}{more},"_meta":{{{meta}}}}}"#)
    };
    let send = async |key: &str, more: &str| {
        let client = rig.stranger("/mcp/s/x").with_header("X-API-Key", key);
        let client = client.modern_headers("tools/call", &params(""));
        let message = request("1", "tools/call", &params(more));
        client.post(&message).await.expect("an answer")
    };
    let asked = result(&send("ada", "").await);
    let asked: serde_json::Value = serde_json::from_str(&asked).expect("JSON");
    let state = asked["requestState"].as_str().expect("a state");
    assert!(state.ends_with(".s A") && state != "s A", "{state}");
    let answers = |state: &str| {
        let state = serde_json::json!(state);
        format!(r#","inputResponses":{{"who":{{"action":"accept"}}}},"requestState":{state}"#)
    };
    for foreign in [
        send("bob", &answers(state)).await,
        send("ada", &answers("s A")).await,
        send("ada", &answers(&format!("{state}x"))).await,
        send("ada", r#","requestState":7"#).await,
    ] {
        assert_eq!(error_code(&foreign), -32602, "{}", text(&foreign.body));
    }
    let done = send("ada", &answers(state)).await;
    assert_eq!(result(&done), DONE);
    // The server sees its own state, and nothing of the requests that were refused.
    let seen = received(&mut log, |entry| {
        text(entry.body()).contains("inputResponses")
    })
    .await;
    assert!(text(seen.body()).contains(r#""requestState":"s A""#));
}

/// Status, headers without the time, and body: everything that could tell two answers apart.
type Told = (u16, Vec<(String, String)>, String);

/// What is told about a task, in the legacy era or the modern one.
async fn ask_about_task(client: &HttpClient, is_modern: bool, method: &str, id: &str) -> Told {
    let params = serde_json::json!({ "taskId": id }).to_string();
    let answer = if is_modern {
        client.modern(method, &params).await
    } else {
        client.request(method, &params).await
    };
    let mut answer = answer.expect("an answer");
    answer
        .headers
        .retain(|(name, _)| !name.eq_ignore_ascii_case("date"));
    (answer.status, answer.headers, text(&answer.body))
}

/// The gateway has no tasks, also if a server has: an id says nothing, whichever caller knows it.
#[tokio::test]
async fn the_task_of_another_caller_is_unknown_like_one_that_does_not_exist() {
    const TASK: &str = r#"{"resultType":"task","taskId":"task-1","task":{"taskId":"task-1","status":"working"},"content":[]}"#;
    const METHODS: [&str; 5] = [
        "tasks/get",
        "tasks/result",
        "tasks/cancel",
        "tasks/list",
        "tasks/update",
    ];
    for eras in [Eras::Legacy, Eras::Modern] {
        let mut tool = Tool::new(r#"{"name":"t","inputSchema":{"type":"object"}}"#);
        tool.replies = vec![vec![Step::Answer(Answer::result(Body::new(TASK)))]];
        let script = Script::new("x").eras(eras).tool(tool);
        let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
        let rig = Rig::with(vec![server], |config| {
            config.callers = vec![caller("ada"), caller("bob")];
        })
        .await;
        let client = |path: &str, key: &str| rig.stranger(path).with_header("X-API-Key", key);
        // The server makes a task for ada.
        let params = r#"{"name":"t","arguments":{},"task":{"ttl":60000}}"#;
        let made = client("/mcp/s/x", "ada")
            .request("tools/call", params)
            .await;
        assert_eq!(made.expect("an answer").status, 200);
        for path in ["/mcp", "/mcp/all", "/mcp/call", "/mcp/s/x"] {
            let (ada, bob) = (client(path, "ada"), client(path, "bob"));
            for (method, is_modern) in METHODS.iter().flat_map(|it| [(it, false), (it, true)]) {
                let own = ask_about_task(&ada, is_modern, method, "task-1").await;
                assert!(own.2.contains(r#""code":-32601"#), "{method}: {own:?}");
                for (caller, id) in [(&bob, "task-1"), (&ada, "task-2"), (&bob, "task-2")] {
                    let told = ask_about_task(caller, is_modern, method, id).await;
                    assert_eq!(told, own, "{path} {method} {id}");
                }
            }
        }
        let last = client("/mcp/s/x", "ada")
            .call("t", r#"{"is":"last"}"#)
            .await;
        assert_eq!(last.expect("an answer").status, 200);
        received(&mut log, |entry| {
            let message = text(entry.body());
            assert!(!message.contains("tasks/"), "{message}");
            message.contains(r#"{"is":"last"}"#)
        })
        .await;
    }
}
