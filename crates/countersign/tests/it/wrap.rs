//! One server behind the boundary over stdio, as a desktop client starts it: the client is the fixture's, the server is
//! the fixture's, and what stands between them is the binary.

use std::process::Command;
use std::time::Duration;

use countersign_fixture::client::{StdioClient, call_params, modern_params, notification, request};
use countersign_fixture::{Era, Eras, preset, span};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;

use crate::serve::{children, is_alive};
use crate::support::gateway::Running;
use crate::support::{Folder, binary};

/// Far longer than anything takes; reached only when a test fails.
const WAIT: Duration = Duration::from_mins(1);
const TOKEN: &str = r#""_meta":{"progressToken":"my token"}"#;

fn fixture() -> String {
    let path = countersign_fixture::executable().expect("the fixture is built");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `wrap` in a folder, with its state under `data`; what follows the options is the server's command.
fn command(folder: &Folder, options: &str, server: &[&str]) -> Command {
    let mut command = binary();
    command
        .current_dir(folder.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .args(["wrap", "--data-dir", "data"])
        .args(options.split_whitespace())
        .arg("--")
        .args(server);
    command
}

fn wrapped(folder: &Folder, options: &str, server: &[&str]) -> StdioClient {
    StdioClient::spawn(command(folder, options, server), WAIT).expect("the binary was built")
}

fn preset_of(folder: &Folder, options: &str, name: &str) -> StdioClient {
    wrapped(folder, options, &[&fixture(), "stdio", "--preset", name])
}

/// Everything said on stderr until it is closed.
async fn said(client: &mut StdioClient) -> String {
    let mut stderr = client.take_stderr().expect("stderr is piped");
    let mut said = Vec::new();
    stderr.read_to_end(&mut said).await.expect("readable");
    text(&said)
}

/// Closes the input and waits for a clean end.
async fn finish(mut client: StdioClient) {
    client.close_input();
    assert_eq!(client.next().await.expect("an end"), None);
    let status = client.ended().await.expect("it ends");
    assert_eq!(status.code(), Some(0), "{}", said(&mut client).await);
}

#[tokio::test]
async fn every_byte_survives() {
    // Cleaning is off: the point is the spelling.
    let off = r#"{"output_sanitisation": {"mode": "off"}}"#;
    for (eras, era) in [(Eras::Legacy, Era::Legacy), (Eras::Modern, Era::Modern)] {
        let script = preset::fidelity().eras(eras);
        let json = text(&script.to_json());
        let folder = Folder::with(&[("s.json", &json), ("c.json", off)]);
        let fixture = fixture();
        let server = [fixture.as_str(), "stdio", "--script", "s.json"];
        let mut client = wrapped(&folder, "--config c.json", &server);
        for tool in &script.tools {
            let params = call_params(&tool.name, "{}");
            let params = match era {
                Era::Legacy => params,
                Era::Modern => modern_params(&params),
            };
            let message = request("\"my id\"", "tools/call", &params);
            client.send(&message).await.expect("sent");
            let answer = client.answer("\"my id\"").await.expect("an answer");
            let result = span::member(&answer, "result").expect("a result");
            let expected = tool.expected_result(era).expect("a result").to_vec();
            assert_eq!(text(result), text(&expected), "{}", tool.name);
        }
        assert_eq!(client.take_notes(), Vec::<Vec<u8>>::new());
        finish(client).await;
    }
}

#[tokio::test]
async fn what_changes_in_the_file_holds_for_the_next_call() {
    let config = |mode: &str| {
        let x = r#"{"command": "elsewhere", "env": {"A": "1"}}"#;
        format!(r#"{{"output_validation": {{"mode": "{mode}"}}, "mcpServers": {{"x": {x}}}}}"#)
    };
    let folder = Folder::with(&[("c.json", &config("warn"))]);
    let mut client = preset_of(&folder, "--name x --config c.json", "demo");
    client.handshake("2025-11-25").await.expect("an answer");
    let call = async |client: &mut StdioClient| {
        text(&client.call("bad_output", "{}").await.expect("an answer"))
    };
    assert!(call(&mut client).await.contains("structuredContent"));
    // What the server is started with stays, whatever the file says of it.
    let strict = config("strict").replace(r#""A": "1""#, r#""A": "2""#);
    std::fs::write(folder.path().join("c.json"), strict).expect("written");
    let blocked = async {
        while !call(&mut client)
            .await
            .contains("output schema validation failed")
        {}
    };
    let blocked = tokio::time::timeout(WAIT, blocked).await;
    blocked.expect("the change holds");
    let process = client.process().expect("a process");
    assert_eq!(children(process).len(), 1);
    // Nobody comes in by a key, so none is made.
    assert!(!folder.path().join("data/api_key").exists());
    finish(client).await;
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "demo");
    let call = request("\"last\"", "tools/call", &call_params("conforming", "{}"));
    client.send_raw(call.trim_ascii_end()).await.expect("sent");
    client.close_input();
    let answer = text(&client.answer("\"last\"").await.expect("an answer"));
    assert!(answer.contains("structuredContent"), "{answer}");
    finish(client).await;
}

#[tokio::test]
async fn several_messages_in_one_line_are_answered_in_one() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "--mode strict", "demo");
    let call = |id: &str, tool: &str| text(&request(id, "tools/call", &call_params(tool, "{}")));
    let ping = text(&request("3", "ping", "{}"));
    let hello = text(&request("4", "initialize", "{}"));
    let note = text(&notification("notifications/roots/list_changed", "{}"));
    let (one, two) = (call("1", "conforming"), call("\"b\"", "bad_output"));
    let parts = [&one, &note, &two, &ping, &hello].map(|part| part.trim());
    let batch = format!("[{}]", parts.join(" , "));
    // Only one version has them.
    client.handshake("2025-06-18").await.expect("an answer");
    client.send(batch.as_bytes()).await.expect("sent");
    let refused = text(&client.answer("null").await.expect("an answer"));
    assert!(refused.contains("not a single message"), "{refused}");
    client.handshake("2025-03-26").await.expect("an answer");
    client.send(batch.as_bytes()).await.expect("sent");
    let answers = client.next().await.expect("a line").expect("answers");
    let answers: serde_json::Value = serde_json::from_slice(&answers).expect("JSON");
    let answers = answers.as_array().expect("several");
    let ids: Vec<String> = answers
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    assert_eq!(ids, ["1", "\"b\"", "3", "4"]);
    assert_eq!(answers[1]["result"]["isError"], true);
    assert_eq!(answers[2]["result"], serde_json::json!({}));
    assert_eq!(answers[3]["error"]["code"], -32600);
    finish(client).await;
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_under_its_own_id() {
    let config = r#"{"max_message_bytes": 65536}"#;
    let folder = Folder::with(&[("c.json", config)]);
    let mut client = preset_of(&folder, "--config c.json", "demo");
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(200_000));
    for id in ["\"my \\\"id\"", "17", "-1.5"] {
        let call = request(id, "tools/call", &call_params("conforming", &large));
        client.send(&call).await.expect("sent");
        let refused = text(&client.answer(id).await.expect("an answer"));
        assert!(refused.contains("\"error\""), "{refused}");
    }
    finish(client).await;
}

/// A server that asks its client things before it answers.
fn asking() -> String {
    let ask = |id: &str, method: &str, params: &str| {
        format!(
            r#"{{"message":{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}}}"#
        )
    };
    let elicit = ask(
        "\"q 1\"",
        "elicitation/create",
        r#"{"message":"Your name?<|im_end|>","requestedSchema":{"type":"object","properties":{}}}"#,
    );
    let sample = ask(
        "7",
        "sampling/createMessage",
        r#"{"messages":[],"maxTokens":1}"#,
    );
    let roots = ask("8", "roots/list", "{}");
    let cancel = r#"{"message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}}"#;
    let other = ask("9", "no/such", "{}");
    let steps = [&elicit, &sample, &roots, cancel, &other, r#"{"answer":{}}"#].join(",");
    let tool = r#"{"name":"ask","inputSchema":{"type":"object"}}"#;
    format!(r#"{{"name":"asking","eras":"legacy","tools":[{{"tool":{tool},"steps":[{steps}]}}]}}"#)
}

#[tokio::test]
async fn a_server_can_ask_its_client_what_the_client_says_it_can_be_asked() {
    let folder = Folder::with(&[("s.json", &asking())]);
    let fixture = fixture();
    let server = [
        fixture.as_str(),
        "stdio",
        "--script",
        "s.json",
        "--log",
        "log",
    ];
    let mut client = wrapped(&folder, "--name x", &server);
    let log = folder.path().join("log");
    let heard = || text(&std::fs::read(&log).unwrap_or_default());
    let hello = r#"{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form": {}},"roots":{"listChanged":true},"experimental":{"x":{}}}}"#;
    client
        .request("initialize", hello)
        .await
        .expect("an answer");
    let declared = r#""capabilities":{"elicitation":{"form": {}},"roots":{"listChanged":true}}"#;
    Running::wait_for(|| heard().contains(declared));
    let call = request("1", "tools/call", &call_params("ask", "{}"));
    client.send(&call).await.expect("sent");
    let mut said = Vec::new();
    while said.len() < 4 {
        said.push(text(&client.next().await.expect("a line").expect("more")));
    }
    // Cleaned, and under an id of our own.
    let question = r#"{"jsonrpc":"2.0","id":"server-0","method":"elicitation/create","params":{"message":"Your name?(removed: control token)","requestedSchema":{"type":"object","properties":{}}}}"#;
    assert!(said.contains(&question.to_owned()), "{said:?}");
    // Asked, and then not any more.
    let roots = r#"{"jsonrpc":"2.0","id":"server-1","method":"roots/list","params":{}}"#;
    assert!(said.contains(&roots.to_owned()), "{said:?}");
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"server-1"}}"#;
    assert!(said.contains(&cancelled.to_owned()), "{said:?}");
    assert!(
        said.iter().any(|said| said.contains(r#""id":1,"#)),
        "{said:?}"
    );
    // What the client did not declare is refused for it.
    Running::wait_for(|| {
        let refused = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601"#);
        heard().contains(&refused("7")) && heard().contains(&refused("9"))
    });
    // Answered once; what nobody asked is not passed on.
    for answer in [
        r#"{"jsonrpc":"2.0","id":"server-1","result":{"roots":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"server-0","result":{"action":"accept","content":{"big":12345678901234567890}}}"#,
        r#"{"jsonrpc":"2.0","id":"server-0","result":{"action":"decline"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
    ] {
        client.send(answer.as_bytes()).await.expect("sent");
    }
    let answer = r#"{"jsonrpc":"2.0","id":"q 1","result":{"action":"accept","content":{"big":12345678901234567890}}}"#;
    Running::wait_for(|| heard().contains(answer) && heard().contains("roots/list_changed"));
    assert!(
        !heard().contains("decline") && !heard().contains(r#""roots":[]"#),
        "{}",
        heard()
    );
    finish(client).await;
    let records = folder.countersign("activity list --type server_text --data-dir data -o jsonl");
    assert!(
        records.stdout.contains(r#""reason":"elicitation/create""#),
        "{}",
        records.stdout
    );
}

#[tokio::test]
async fn names_are_the_servers_own_and_strict_blocks() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "--mode strict --name shop", "demo");
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let hello = client.handshake(version).await.expect("an answer");
        let agreed = span::path(&hello, &["result", "protocolVersion"]).expect("a version");
        assert_eq!(text(agreed), format!("\"{version}\""));
    }
    let listed = text(&client.request("tools/list", "{}").await.expect("a list"));
    for tool in preset::demo().tools {
        assert!(
            listed.contains(&format!(r#""name":"{}""#, tool.name)),
            "{listed}"
        );
    }
    let ping = client.request("ping", "{}").await.expect("an answer");
    assert_eq!(
        span::member(&ping, "result").map(text).as_deref(),
        Some("{}")
    );
    let blocked = text(&client.call("bad_output", "{}").await.expect("an answer"));
    assert!(
        blocked.contains("output schema validation failed") && blocked.contains("shop:bad_output")
    );
    assert!(blocked.contains(r#""isError":true"#), "{blocked}");
    let bad = client.request("no/such", "{}").await.expect("an answer");
    assert_eq!(
        span::path(&bad, &["error", "code"]).map(text).as_deref(),
        Some("-32601")
    );
    for (sent, code) in [("{", "-32700"), ("[]", "-32600")] {
        client.send(sent.as_bytes()).await.expect("sent");
        let refused = client.answer("null").await.expect("an answer");
        assert_eq!(
            span::path(&refused, &["error", "code"])
                .map(text)
                .as_deref(),
            Some(code)
        );
    }
    finish(client).await;
    let records = folder.countersign("activity list --status blocked --data-dir data -o jsonl");
    assert_eq!(records.stdout.lines().count(), 1, "{}", records.stderr);
    assert!(
        records.stdout.contains(r#""tool":"bad_output""#),
        "{}",
        records.stdout
    );
    let mut lenient = preset_of(&folder, "--mode off --name shop", "demo");
    let passed = text(&lenient.call("bad_output", "{}").await.expect("an answer"));
    assert!(passed.contains(r#""structuredContent""#), "{passed}");
    finish(lenient).await;
}

#[tokio::test]
async fn a_modern_client_needs_no_handshake() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    let found = client
        .modern("server/discover", "{}")
        .await
        .expect("an answer");
    assert!(
        text(&found).contains(r#""supportedVersions":["2026-07-28""#),
        "{}",
        text(&found)
    );
    let called = client.modern("tools/call", &call_params("ok", "{}")).await;
    assert!(text(&called.expect("an answer")).contains(r#""text":"ok""#));
    let listen = modern_params(r#"{"notifications":{"toolsListChanged":true}}"#);
    client
        .send(&request("\"s\"", "subscriptions/listen", &listen))
        .await
        .expect("sent");
    let acknowledged = client.next().await.expect("a line").expect("a message");
    assert!(text(&acknowledged).contains("subscriptions/acknowledged"));
    client
        .modern("tools/call", &call_params("change_list", "{}"))
        .await
        .expect("an answer");
    let news = match client.take_notes().pop() {
        Some(news) => news,
        None => client.next().await.expect("a line").expect("a message"),
    };
    assert!(text(&news).contains("tools/list_changed") && text(&news).contains("subscriptionId"));
    client.close_input();
    let farewell = client.answer("\"s\"").await.expect("an answer");
    assert!(text(&farewell).contains(r#""resultType":"complete""#));
    finish(client).await;
}

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
    let mut client = wrapped(&folder, "", &[&fixture, "stdio", "--script", "s.json"]);
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
    let cancel = notification("notifications/cancelled", r#"{"requestId":"c"}"#);
    client.send(&cancel).await.expect("sent");
    // The id is free again, which it would not be if the call went on.
    client.send(&twice).await.expect("sent");
    let free = client.answer("\"c\"").await.expect("an answer");
    assert_eq!(
        span::member(&free, "result").map(text).as_deref(),
        Some("{}")
    );
    finish(client).await;
    let records = folder.countersign("activity list --type tool_call --data-dir data -o jsonl");
    assert!(
        records.stdout.contains("the call was cancelled"),
        "{}",
        records.stdout
    );
}

#[tokio::test]
async fn the_end_of_input_and_term_leave_no_orphan() {
    let fixture = fixture();
    let script = format!("sleep 1000 & exec {fixture} stdio --preset demo");
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let folder = Folder::with(&[]);
        let mut client = wrapped(&folder, "", &["sh", "-c", &script]);
        client.handshake("2025-06-18").await.expect("an answer");
        let process = client.process().expect("it runs");
        let mut family = children(process);
        assert_eq!(family.len(), 1);
        family.extend(children(family[0].unsigned_abs()));
        assert_eq!(family.len(), 2);
        match signal {
            None => client.close_input(),
            Some(signal) => {
                let process = i32::try_from(process).ok().and_then(Pid::from_raw);
                kill_process(process.expect("a process"), signal).expect("it runs");
            }
        }
        let status = client.ended().await.expect("it ends");
        assert_eq!(status.code(), Some(0), "{}", said(&mut client).await);
        for process in family {
            assert!(!is_alive(process), "{process} is still there");
        }
        let verified = folder.countersign("activity verify --data-dir data");
        assert!(verified.stdout.starts_with("intact"), "{verified}");
    }
}

#[tokio::test]
async fn a_call_under_way_is_answered_before_the_end() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    client.handshake("2025-06-18").await.expect("an answer");
    let call = request("7", "tools/call", &call_params("delay", "{}"));
    client.send(&call).await.expect("sent");
    client.close_input();
    let answer = client.answer("7").await.expect("an answer");
    assert!(
        text(&answer).contains(r#""text":"ok""#),
        "{}",
        text(&answer)
    );
    finish(client).await;
}

#[tokio::test]
async fn a_server_that_cannot_start_says_so_and_ends_it() {
    let folder = Folder::with(&[]);
    for (server, code, why) in [
        (
            &["./no-such-program"][..],
            3,
            "the command could not be run",
        ),
        (
            &["sh", "-c", "exit 9"][..],
            9,
            "exit code 9 before it spoke MCP",
        ),
        (&["true"][..], 3, "the server cannot be started"),
    ] {
        let mut client = wrapped(&folder, "", server);
        let hello = request("1", "ping", "{}");
        // It may be gone before it is asked anything.
        drop(client.send(&hello).await);
        let status = client.ended().await.expect("it ends");
        let said = said(&mut client).await;
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(
            said.contains(why) && said.contains("\nhint: check that this runs"),
            "{said}"
        );
    }
    let ran = folder.countersign("wrap --name A_B -- x");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("hint: a name is 1 to 20 characters"),
        "{}",
        ran.stderr
    );
}

#[tokio::test]
async fn a_server_that_ends_by_itself_ends_it_with_its_code() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    client.handshake("2025-06-18").await.expect("an answer");
    let lost = text(&client.call("exit", "{}").await.expect("an answer"));
    assert!(lost.contains(r#""isError":true"#), "{lost}");
    let status = client.ended().await.expect("it ends");
    assert_eq!(status.code(), Some(3), "{}", said(&mut client).await);
}

#[tokio::test]
async fn the_server_sees_the_clients_variables_and_not_ours() {
    let shown = r#"echo "token $TOKEN key $COUNTERSIGN_LOG more $MORE" >&2; exit 4"#;
    let config = r#"{"mcpServers": {"named": {"command": "x", "env": {"MORE": "m"}}}}"#;
    let folder = Folder::with(&[("c.json", config)]);
    for (options, expected) in [
        ("--config c.json", "token t key  more \n"),
        ("--config c.json --name named", "token  key  more m\n"),
    ] {
        let mut command = command(&folder, options, &["sh", "-c", shown]);
        command.env("TOKEN", "t").env("COUNTERSIGN_LOG", "error");
        let mut client = StdioClient::spawn(command, WAIT).expect("the binary was built");
        assert_eq!(client.ended().await.expect("it ends").code(), Some(4));
        let said = said(&mut client).await;
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn several_processes_share_one_store() {
    let folder = Folder::over(
        &serde_json::json!({"x": crate::support::preset("demo", "warn")}),
        &[],
    );
    let gateway = Running::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let mut clients = [
        preset_of(&folder, "--name one", "demo"),
        preset_of(&folder, "--name two", "demo"),
    ];
    for _ in 0..5 {
        for client in &mut clients {
            client.call("conforming", "{}").await.expect("an answer");
        }
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conforming"}}"#;
        let answer = gateway.curl("POST", "/mcp/s/x", &gateway.key(), call);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    for client in clients {
        finish(client).await;
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    for server in ["one", "two", "x"] {
        let line =
            format!("activity list --type tool_call --server {server} --data-dir data -o jsonl");
        let listed = folder.countersign(&line);
        assert_eq!(
            listed.stdout.lines().count(),
            5,
            "{server}: {}",
            listed.stderr
        );
    }
    let verified = folder.countersign("activity verify --data-dir data");
    assert_eq!(verified.code, Some(0), "{verified}");
    assert!(verified.stdout.contains("3 chains"), "{verified}");
}
