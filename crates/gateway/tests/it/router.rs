//! The router tools: finding, describing and calling the tools of all servers.

use countersign_config::Server;
use countersign_fixture::client::{Response, call_params};
use countersign_fixture::{Script, Tool};
use serde_json::{Value, json};

use crate::support::{Rig, preset, refusal, result, scripted};

fn tool(name: &str, description: &str, parameters: &str, hints: &str) -> Tool {
    Tool::new(format!(
        r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object","properties":{parameters}}},"annotations":{hints},"x-cost":1.0}}"#
    ))
}

fn tracker() -> Script {
    Script::new("tracker")
        .tool(tool(
            "create_issue",
            "Opens a new issue in a repository.",
            r#"{"title":{},"labels":{}}"#,
            r#"{"destructiveHint":false}"#,
        ))
        .tool(tool(
            "searchIssues",
            "Finds issues by their text.",
            r#"{"jql":{}}"#,
            r#"{"readOnlyHint":true}"#,
        ))
        .tool(tool(
            "delete_repository",
            "Deletes a repository for good, with all its branches, settings and webhooks.",
            "{}",
            r#"{"destructiveHint":true}"#,
        ))
}

async fn rig() -> (Rig, tempfile::TempDir) {
    let (server, folder) = scripted("tracker", &tracker());
    (Rig::over(vec![server, preset("x", "faults")]).await, folder)
}

async fn ask(rig: &Rig, tool: &str, arguments: &Value) -> Response {
    let answer = rig.client("/mcp").call(tool, &arguments.to_string()).await;
    answer.expect("an answer")
}

/// What an answer of the gateway's own says.
fn told(answer: &Response) -> Value {
    let value: Value = serde_json::from_str(&result(answer)).expect("JSON");
    assert!(value.get("isError").is_none(), "{value}");
    assert_eq!(value["content"][0]["type"], "text");
    serde_json::from_str(value["content"][0]["text"].as_str().expect("a text")).expect("JSON")
}

async fn found(rig: &Rig, query: &str) -> Vec<String> {
    let answer = told(&ask(rig, "retrieve_tools", &json!({ "query": query })).await);
    let tools = answer["tools"].as_array().expect("a list").iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test]
async fn tools_are_found_by_what_they_are_about() {
    let (rig, _folder) = rig().await;
    assert_eq!(
        found(&rig, "create an issue").await[0],
        "tracker:create_issue"
    );
    assert_eq!(
        found(&rig, "search issues").await[0],
        "tracker:searchIssues"
    );
    assert_eq!(found(&rig, "jql").await, ["tracker:searchIssues"]);
    assert_eq!(found(&rig, "repositories").await.len(), 2);
    assert_eq!(found(&rig, "webh").await, ["tracker:delete_repository"]);
    assert_eq!(found(&rig, "tracker").await.len(), 3);
    assert_eq!(found(&rig, "zeppelin").await, [""; 0]);
    assert_eq!(found(&rig, "answers").await.len(), 5);
    let many = ask(
        &rig,
        "retrieve_tools",
        &json!({"query": "answers", "limit": 500}),
    )
    .await;
    let many = told(&many);
    let shown = many["tools"].as_array().expect("a list").len();
    assert!(
        shown > 30 && shown <= 50 && many["found"] == shown,
        "{shown}"
    );
}

#[tokio::test]
async fn a_found_tool_can_be_called_as_the_answer_says() {
    let (rig, _folder) = rig().await;
    let answer = ask(
        &rig,
        "retrieve_tools",
        &json!({"query": "echo arguments", "limit": 1}),
    )
    .await;
    let tool = told(&answer)["tools"][0].clone();
    assert_eq!(tool["name"], "x:echo");
    assert_eq!(tool["inputSchema"], json!({"type": "object"}));
    let call_with = tool["call_with"].as_str().expect("a name");
    let answer = ask(
        &rig,
        call_with,
        &json!({"name": "x:echo", "args": {"a": 1}}),
    )
    .await;
    assert!(result(&answer).contains(r#""structuredContent":{"a":1}"#));
}

#[tokio::test]
async fn a_description_is_the_whole_tool() {
    let (rig, _folder) = rig().await;
    let answer = ask(
        &rig,
        "describe_tool",
        &json!({"name": "tracker:create_issue"}),
    )
    .await;
    let text = told(&answer);
    assert_eq!(text["name"], "tracker:create_issue");
    assert_eq!(text["call_with"], "call_tool_write");
    assert_eq!(text["annotations"], json!({"destructiveHint": false}));
    assert!(
        result(&answer).contains(r#"\"x-cost\":1.0"#),
        "{}",
        result(&answer)
    );
    for (arguments, why) in [
        (
            json!({"name": "tracker:nothing"}),
            "no such tool: tracker:nothing",
        ),
        (json!({"name": "nothing"}), "no such tool: nothing"),
        (json!({}), "arguments"),
        (json!({"name": 5}), "arguments"),
    ] {
        let answer = refusal(&ask(&rig, "describe_tool", &arguments).await);
        assert!(answer.contains(why), "{arguments}: {answer}");
    }
    let bad = ask(
        &rig,
        "retrieve_tools",
        &json!({"query": "x", "limit": "many"}),
    )
    .await;
    assert!(refusal(&bad).contains("arguments"));
}

#[tokio::test]
async fn annotations_decide_who_may_call_and_a_more_cautious_router_tool_always_may() {
    let (rig, _folder) = rig().await;
    let routers = ["call_tool_read", "call_tool_write", "call_tool_destructive"];
    for (tool, right) in [
        ("tracker:searchIssues", "call_tool_read"),
        ("tracker:create_issue", "call_tool_write"),
        ("tracker:delete_repository", "call_tool_destructive"),
    ] {
        let least = routers.iter().position(|router| *router == right);
        for (caution, router) in routers.into_iter().enumerate() {
            let answer = ask(&rig, router, &json!({ "name": tool })).await;
            if Some(caution) >= least {
                let expected = r#"{"resultType":"complete","content":[]}"#;
                assert_eq!(result(&answer), expected, "{tool} {router}");
            } else {
                assert!(refusal(&answer).contains(right), "{tool} {router}");
            }
        }
    }
    let rejected = "type=tool_call&status=rejected&server=tracker&tool=delete_repository";
    assert_eq!(rig.activities(rejected).await.len(), 2);
}

/// Most servers give no hints. What the quickstart types has to work for their tools too.
#[tokio::test]
async fn a_tool_without_hints_may_be_called_with_any_router_tool() {
    let script = Script::new("plain").tool(Tool::named("silent")).tool(tool(
        "empty",
        "Says nothing.",
        "{}",
        "{}",
    ));
    let (server, _folder) = scripted("plain", &script);
    let rig = Rig::over(vec![server]).await;
    for name in ["plain:silent", "plain:empty"] {
        for router in ["call_tool_read", "call_tool_write", "call_tool_destructive"] {
            let answer = result(&ask(&rig, router, &json!({ "name": name })).await);
            assert!(!answer.contains("isError"), "{name} {router}: {answer}");
        }
    }
}

#[tokio::test]
async fn questions_are_recorded_like_calls() {
    let (rig, _folder) = rig().await;
    found(&rig, "issues").await;
    let record = rig.activity("type=tool_call&tool=retrieve_tools").await;
    assert_eq!(
        (&record["status"], record.get("server")),
        (&"success".into(), None)
    );
    ask(&rig, "describe_tool", &json!({})).await;
    let record = rig.activity("type=tool_call&tool=describe_tool").await;
    assert_eq!(record["status"], "rejected");
    let modern = rig
        .client("/mcp")
        .modern(
            "tools/call",
            &call_params("retrieve_tools", r#"{"query":"x"}"#),
        )
        .await
        .expect("an answer");
    assert!(result(&modern).starts_with(r#"{"resultType":"complete","content":["#));
}

#[tokio::test]
async fn a_tool_of_a_server_that_is_down_says_so() {
    let (server, folder) = scripted("tracker", &tracker());
    let home = Rig::over(vec![server]).await;
    let data = home.folder;
    home.gateway.stop(std::future::ready(())).await;
    drop(folder);
    let gone = Server::stdio("tracker", "/no/such/command", []);
    let config = crate::support::config(data.path(), vec![gone]);
    let gateway = countersign_gateway::Gateway::start(config)
        .await
        .expect("it starts");
    let rig = Rig {
        gateway,
        folder: data,
    };
    rig.counted("server_start_failures", 4).await;
    let answer = ask(&rig, "retrieve_tools", &json!({"query": "issue"})).await;
    assert_eq!(told(&answer)["tools"][0]["server_is_down"], true);
}
