//! Calls in several rounds, as modern servers make them: the server asks in its result, the client
//! answers with its next request. Nothing is held in between.

use countersign_fixture::client::{MODERN_META, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};

use crate::support::{Rig, logged_http, received, text};

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
