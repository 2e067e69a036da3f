//! Which era is spoken with the server: the client's own if the server speaks it, so that the server can ask its client what
//! it asks without the gateway.

use countersign_fixture::client::{StdioClient, call_params, modern_params, notification, request};

use super::{finish, fixture, text, wrapped};
use crate::support::Folder;

/// What a legacy server asks of its client, and how the client answers.
const QUESTIONS: [(&str, &str, &str); 3] = [
    (
        "elicitation/create",
        r#"{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"action":"accept","content":{}}"#,
    ),
    (
        "sampling/createMessage",
        r#"{"messages":[],"maxTokens":1}"#,
        r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}"#,
    ),
    ("roots/list", "{}", r#"{"roots":[]}"#),
];

/// A server of these eras whose tool asks its client everything, if that is a legacy one.
fn asking(eras: &str) -> String {
    let asks = QUESTIONS
        .iter()
        .enumerate()
        .map(|(id, (method, params, _))| {
            format!(
                r#"{{"ask":{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}}}"#
            )
        });
    let steps = asks.chain([r#"{"answer":{}}"#.to_owned()]);
    let steps = steps.collect::<Vec<_>>().join(",");
    let tool = r#"{"name":"ask","inputSchema":{"type":"object"}}"#;
    format!(r#"{{"name":"asking","eras":"{eras}","tools":[{{"tool":{tool},"steps":[{steps}]}}]}}"#)
}

/// A folder with a server of these eras, and `wrap` before it; what the server hears is in `log`.
fn before(eras: &str, options: &str) -> (Folder, StdioClient) {
    let folder = Folder::with(&[("s.json", &asking(eras))]);
    let client = again(&folder, options);
    (folder, client)
}

fn again(folder: &Folder, options: &str) -> StdioClient {
    let fixture = fixture();
    let server = [&fixture, "stdio", "--script", "s.json", "--log", "log"];
    wrapped(folder, &format!("--name x {options}"), &server)
}

/// The methods of the requests that the server has had, in order, without repetition.
fn heard(folder: &Folder) -> Vec<String> {
    let log = text(&std::fs::read(folder.path().join("log")).expect("a log"));
    let methods = log.split(r#""method":""#).skip(1);
    let mut methods: Vec<_> = methods
        .filter_map(|rest| rest.split('"').next())
        .filter(|method| ["server/discover", "initialize"].contains(method))
        .map(str::to_owned)
        .collect();
    methods.dedup();
    methods
}

const HELLO: &str = r#"{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{},"sampling":{},"roots":{}}}"#;

async fn initialize(client: &mut StdioClient) {
    let hello = client.request("initialize", HELLO).await;
    hello.expect("an answer");
    let ready = notification("notifications/initialized", "{}");
    client.send(&ready).await.expect("sent");
}

/// Calls the tool and answers so many questions of the server. `finish` fails if there are more.
async fn call_and_answer(client: &mut StdioClient, questions: usize) {
    let call = request("\"c\"", "tools/call", &call_params("ask", "{}"));
    client.send(&call).await.expect("sent");
    let mut asked = 0;
    let mut is_answered = false;
    // The questions take another way than the answer, so either may come first.
    while !is_answered || asked < questions {
        let line = text(&client.next().await.expect("a line").expect("more"));
        let question = QUESTIONS
            .iter()
            .find(|(method, _, _)| line.contains(method));
        if let Some((_, _, answer)) = question {
            let id = format!(r#""server-{asked}""#);
            assert!(line.contains(&id), "{line}");
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#);
            client.send(answer.as_bytes()).await.expect("sent");
            asked += 1;
        } else {
            assert!(line.contains(r#""id":"c","result""#), "{line}");
            is_answered = true;
        }
    }
}

#[tokio::test]
async fn a_server_of_both_eras_asks_its_legacy_client_as_it_does_directly() {
    let (folder, mut client) = before("both", "");
    initialize(&mut client).await;
    call_and_answer(&mut client, QUESTIONS.len()).await;
    finish(client).await;
    // Not asked in vain what a legacy server does not know, and complains of on stderr.
    assert_eq!(heard(&folder), ["initialize"]);
    let log = text(&std::fs::read(folder.path().join("log")).expect("a log"));
    for (_, _, answer) in QUESTIONS {
        assert!(log.contains(&format!(r#""result":{answer}"#)), "{log}");
    }
}

#[tokio::test]
async fn a_server_of_both_eras_speaks_the_modern_one_with_a_modern_client() {
    let (folder, mut client) = before("both", "");
    // The era chosen for a legacy client is not remembered for other clients.
    initialize(&mut client).await;
    finish(client).await;
    std::fs::remove_file(folder.path().join("log")).expect("a log");
    let mut client = again(&folder, "");
    let found = client.modern("server/discover", "{}").await;
    found.expect("an answer");
    let params = modern_params(&call_params("ask", "{}"));
    let answer = client.request("tools/call", &params).await;
    assert!(text(&answer.expect("an answer")).contains(r#""result""#));
    finish(client).await;
    assert_eq!(heard(&folder), ["server/discover"]);
}

#[tokio::test]
async fn a_server_of_one_era_is_bridged() {
    let (folder, mut client) = before("modern", "");
    initialize(&mut client).await;
    call_and_answer(&mut client, 0).await;
    finish(client).await;
    assert_eq!(heard(&folder), ["initialize", "server/discover"]);
    let (folder, mut client) = before("legacy", "");
    let params = modern_params(&call_params("ask", "{}"));
    let answer = client.request("tools/call", &params).await;
    assert!(text(&answer.expect("an answer")).contains(r#""resultType":"complete""#));
    finish(client).await;
    assert_eq!(heard(&folder), ["server/discover", "initialize"]);
}

#[tokio::test]
async fn a_client_that_falls_back_to_initialize_is_a_legacy_client() {
    let (folder, mut client) = before("both", "");
    let future = modern_params("{}").replace("2026-07-28", "2030-01-01");
    let refused = client.request("server/discover", &future).await;
    let refused = text(&refused.expect("an answer"));
    assert!(refused.contains("-32022"), "{refused}");
    initialize(&mut client).await;
    call_and_answer(&mut client, QUESTIONS.len()).await;
    finish(client).await;
    assert_eq!(heard(&folder), ["initialize"]);
}

#[tokio::test]
async fn the_era_can_be_fixed() {
    let (folder, mut client) = before("both", "--era modern");
    initialize(&mut client).await;
    call_and_answer(&mut client, 0).await;
    finish(client).await;
    assert_eq!(heard(&folder), ["server/discover"]);
    // The configuration says it too, and the flag wins over it.
    let config = r#"{"mcpServers": {"x": {"command": "y", "era": "modern"}}}"#;
    for (options, expected) in [
        ("--config c.json", "server/discover"),
        ("--config c.json --era auto", "initialize"),
        ("--config c.json --era legacy", "initialize"),
    ] {
        let folder = Folder::with(&[("s.json", &asking("both")), ("c.json", config)]);
        let mut client = again(&folder, options);
        initialize(&mut client).await;
        finish(client).await;
        assert_eq!(heard(&folder), [expected], "{options}");
    }
    // A server that does not speak the era is not served in the other.
    let (_folder, mut client) = before("legacy", "--era modern");
    let hello = request("1", "initialize", HELLO);
    client.send(&hello).await.expect("sent");
    let status = client.ended().await.expect("it ends");
    let said = super::said(&mut client).await;
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("does not speak the modern era"), "{said}");
}
