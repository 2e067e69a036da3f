//! What is said about a call while it is under way, and what is not said after it was cancelled.

use countersign_fixture::client::{notification, request};
use countersign_fixture::span;

use super::{finish, fixture, preset_of, text, wrapped};
use crate::support::Folder;

const TOKEN: &str = r#""_meta":{"progressToken":"my token"}"#;

#[tokio::test]
async fn progress_and_news_are_told_as_they_happen() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    client.handshake("2025-11-25").await.expect("an answer");
    client.request("tools/list", "{}").await.expect("a list");
    let params = format!(r#"{{"name":"progress","arguments":{{}},{TOKEN}}}"#);
    client
        .request("tools/call", &params)
        .await
        .expect("an answer");
    let progress: Vec<String> = client.take_notes().iter().map(|note| text(note)).collect();
    let expected = [1, 2, 3].map(|done| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"my token","progress":{done},"total":3}}}}"#)
    });
    assert_eq!(progress, expected);
    client.call("change_list", "{}").await.expect("an answer");
    let news = match client.take_notes().pop() {
        Some(news) => news,
        None => client.next().await.expect("a line").expect("a message"),
    };
    let expected = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(text(&news), expected);
    finish(client).await;
}

#[tokio::test]
async fn a_cancelled_call_ends_without_an_answer_and_with_a_record() {
    let script = r#"{"name":"x","tools":[{"tool":{"name":"never","inputSchema":{"type":"object"}},"steps":[{"progress":{"done":1,"total":3}}]}]}"#;
    let folder = Folder::with(&[("s.json", script)]);
    let fixture = fixture();
    let server = [
        fixture.as_str(),
        "stdio",
        "--script",
        "s.json",
        "--log",
        "log",
    ];
    let mut client = wrapped(&folder, "", &server);
    client.handshake("2025-06-18").await.expect("an answer");
    let params = format!(r#"{{"name":"never","arguments":{{}},{TOKEN}}}"#);
    client
        .send(&request("\"c\"", "tools/call", &params))
        .await
        .expect("sent");
    let begun = client.next().await.expect("a line").expect("a note");
    assert!(
        text(&begun).contains("notifications/progress"),
        "{}",
        text(&begun)
    );
    let twice = request("\"c\"", "ping", "{}");
    client.send(&twice).await.expect("sent");
    let refused = client.answer("\"c\"").await.expect("an answer");
    assert!(
        text(&refused).contains("the id is in use"),
        "{}",
        text(&refused)
    );
    let params = r#"{"requestId":"c","reason":"too slow"}"#;
    let cancel = notification("notifications/cancelled", params);
    client.send(&cancel).await.expect("sent");
    // The id is free again, which it would not be if the call went on.
    client.send(&twice).await.expect("sent");
    let free = client.answer("\"c\"").await.expect("an answer");
    assert_eq!(
        span::member(&free, "result").map(text).as_deref(),
        Some("{}")
    );
    finish(client).await;
    let heard = std::fs::read(folder.path().join("log")).expect("a log");
    let heard = text(&heard);
    assert!(heard.contains(r#","reason":"too slow"}}"#), "{heard}");
    let records = folder.countersign("activity list --type tool_call --data-dir data -o jsonl");
    assert!(
        records.stdout.contains("the call was cancelled"),
        "{}",
        records.stdout
    );
}
