//! The client: both transports, both eras, bytes kept, faults told apart.

use std::time::Duration;

use countersign_fixture::http::Format;
use countersign_fixture::{Era as Asked, Eras, Log, Script, Step, Tool, preset};
use countersign_inspect::Era;
use countersign_probe::client::{Client, ConnectError, Fault, ListError, Options, Reply, Target};

use crate::support::{LONG, RunningServer, http, logged, stdio};

async fn everywhere(script: &Script) -> Vec<RunningServer> {
    vec![
        stdio(script),
        http(script.clone(), Format::Json).await,
        http(script.clone(), Format::Sse).await,
    ]
}

async fn outcome(client: &Client, tool: &str) -> Result<Reply, Fault> {
    client.call(tool, b"{}", LONG).await.reply
}

#[tokio::test]
async fn results_come_back_byte_for_byte_in_both_eras_over_every_transport() {
    for (eras, era, asked) in [
        (Eras::Legacy, Era::Legacy, Asked::Legacy),
        (Eras::Modern, Era::Modern, Asked::Modern),
        (Eras::Both, Era::Modern, Asked::Modern),
    ] {
        let script = preset::fidelity().eras(eras);
        for running in everywhere(&script).await {
            let client = running.connect().await;
            assert_eq!(client.era(), era);
            assert_eq!(client.identity().name, "countersign-fidelity");
            let list = client.list_tools().await.expect("a list");
            assert_eq!(list.tools.len(), script.tools.len());
            for (tool, declared) in script.tools.iter().zip(&list.tools) {
                assert_eq!(declared.raw, tool.json.to_vec());
                let Some(expected) = script.expected_result(&tool.name, asked) else {
                    continue;
                };
                let reply = outcome(&client, &tool.name).await;
                assert_eq!(reply, Ok(Reply::Result(expected.into())), "{}", tool.name);
            }
            client.close().await;
        }
    }
}

#[tokio::test]
async fn calls_share_a_connection_and_are_stamped() {
    let script = Script::new("s")
        .tool(Tool::named("slow").steps(vec![
            Step::DelayMs(300),
            Step::Answer(countersign_fixture::Answer::default()),
        ]))
        .tool(Tool::named("quick"));
    for running in everywhere(&script).await {
        let client = running.connect().await;
        let (slow, quick) = tokio::join!(
            client.call("slow", b"{}", LONG),
            client.call("quick", b"{}", LONG)
        );
        assert!(slow.reply.is_ok() && quick.reply.is_ok());
        assert!(slow.done - slow.sent >= Duration::from_millis(300));
        assert!(quick.done < slow.done, "the quick one does not wait");
        assert!(quick.sent <= quick.done && quick.message.is_some());
        client.close().await;
    }
}

#[tokio::test]
async fn the_first_event_is_stamped_before_the_answer() {
    let script = Script::new("s").tool(Tool::named("t").steps(vec![
        Step::Message(
            serde_json::from_str(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#)
                .expect("a message"),
        ),
        Step::DelayMs(200),
        Step::Answer(countersign_fixture::Answer::default()),
    ]));
    let client = http(script, Format::Sse).await;
    let client = client.connect().await;
    let exchange = client.call("t", b"{}", LONG).await;
    let first = exchange.first_event.expect("a first event");
    assert!(exchange.done - first >= Duration::from_millis(150));
}

#[tokio::test]
async fn faults_are_told_apart() {
    let options = Options {
        max_message_bytes: 1 << 20,
        ..Options::default()
    };
    let script = preset::faults();
    for running in everywhere(&script).await {
        for (tool, fault) in [
            ("text_8mib", Fault::TooLarge),
            ("string_id", Fault::Malformed),
            ("invalid_utf8", Fault::Malformed),
            ("exit", Fault::Closed),
        ] {
            let client = Client::connect(&running.target, &options).await;
            let Ok(client) = client else {
                // A server in this process is gone after `exit`.
                continue;
            };
            assert_eq!(outcome(&client, tool).await, Err(fault), "{tool}");
            if tool != "exit" {
                assert!(outcome(&client, "ok").await.is_ok(), "after {tool}");
            }
            client.close().await;
        }
    }
    for running in everywhere(&script).await {
        let client = running.connect().await;
        let short = Duration::from_millis(50);
        let never = client.call("never", b"{}", short).await;
        assert_eq!(never.reply, Err(Fault::TimedOut));
        assert!(never.done - never.sent < LONG);
        assert!(outcome(&client, "ok").await.is_ok(), "the client goes on");
        let Ok(Reply::Error(error)) = outcome(&client, "error").await else {
            panic!("not an error");
        };
        assert_eq!(error.code, Some(-32050));
        client.close().await;
    }
}

#[tokio::test]
async fn a_process_that_ended_cannot_be_called() {
    let running = stdio(&preset::faults());
    let client = running.connect().await;
    assert_eq!(outcome(&client, "exit").await, Err(Fault::Closed));
    assert_eq!(outcome(&client, "ok").await, Err(Fault::Unreachable));
    assert!(client.is_closed());
}

#[tokio::test]
async fn requests_say_what_each_era_wants() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}"#;
    let script = Script::new("s").tool(Tool::new(tool));
    let (log, mut entries) = Log::channel();
    let running = logged(script.clone(), Format::Json, log).await;
    let client = running.connect().await;
    client.list_tools().await.expect("a list");
    let exchange = client.call("t", br#"{ "r": "eu" }"#, LONG).await;
    assert!(exchange.reply.is_ok());
    let mut last = None;
    while let Ok(entry) = entries.try_recv() {
        last = Some(entry);
    }
    let last = last.expect("an entry");
    assert_eq!(last.header("mcp-method").as_deref(), Some("tools/call"));
    assert_eq!(last.header("mcp-name").as_deref(), Some("t"));
    assert_eq!(last.header("mcp-param-region").as_deref(), Some("eu"));
    let body = String::from_utf8_lossy(last.body()).into_owned();
    assert!(
        body.contains(r#""arguments":{ "r": "eu" },"_meta":{"#),
        "{body}"
    );

    let (log, mut entries) = Log::channel();
    let running = logged(script.eras(Eras::Legacy), Format::Json, log).await;
    let client = running.connect().await;
    assert!(client.call("t", b"{}", LONG).await.reply.is_ok());
    client.close().await;
    let mut all = Vec::new();
    while let Ok(entry) = entries.try_recv() {
        all.push(entry);
    }
    let call = all
        .iter()
        .find(|entry| entry.body().windows(10).any(|part| part == b"tools/call"))
        .expect("the call");
    assert!(call.header("mcp-session-id").is_some());
    assert_eq!(
        call.header("mcp-protocol-version").as_deref(),
        Some("2025-11-25")
    );
    assert!(!String::from_utf8_lossy(call.body()).contains("_meta"));
}

#[tokio::test]
async fn a_server_that_asks_back_is_answered() {
    for running in everywhere(&preset::faults()).await {
        let client = running.connect().await;
        assert!(outcome(&client, "asks_client").await.is_ok());
        client.close().await;
    }
}

#[tokio::test]
async fn odd_requests_can_be_sent() {
    let script = Script::new("s").tool(Tool::named("t"));
    for running in everywhere(&script).await {
        let client = running.connect().await;
        let unknown = client.raw("no/such", b"{}", LONG).await.reply;
        let Ok(Reply::Error(error)) = unknown else {
            panic!("{unknown:?}");
        };
        assert_eq!(error.code, Some(-32601));
        let plain = br#"{"name":"t","arguments":{}}"#;
        let called = client.raw("tools/call", plain, LONG).await.reply;
        assert!(matches!(called, Ok(Reply::Result(_))), "{called:?}");
        assert!(client.call("t", b"[1]", LONG).await.reply.is_ok());
        client.close().await;
    }
}

#[tokio::test]
async fn a_list_that_goes_round_is_no_list() {
    let mut script = preset::faults();
    script.list.page_size = Some(2);
    let running = stdio(&script);
    let client = running.connect().await;
    let listed = client.list_tools().await.expect("a list");
    let shown = script.tools.iter().filter(|tool| tool.listed).count();
    assert_eq!(listed.tools.len(), shown);
    client.close().await;
    script.list.cursor = countersign_fixture::script::Cursor::Repeat;
    let client = stdio(&script);
    let client = client.connect().await;
    assert!(matches!(client.list_tools().await, Err(ListError::Endless)));
    client.close().await;
}

#[tokio::test]
async fn whoever_is_not_there_is_not_greeted() {
    let unused = Target::url("http://127.0.0.1:1/mcp").expect("an address");
    let error = Client::connect(&unused, &Options::default()).await;
    assert!(matches!(
        error,
        Err(ConnectError::Greeting(Fault::Unreachable))
    ));
    let nothing = Target::command("no-such-program-anywhere", []);
    let error = Client::connect(&nothing, &Options::default()).await;
    assert!(matches!(error, Err(ConnectError::Start(_))));
}
