//! The same calls directly and through something: a proxy that keeps every byte, and ones that change.

use std::net::SocketAddr;

use countersign_fixture::http::Format;
use countersign_fixture::{Script, Tool};
use countersign_probe::client::Target;
use countersign_probe::overhead::{Comparison, Difference, Overhead, run};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{RunningServer, http, plan};

/// What a proxy does to an answer.
type ReplyChange = fn(&[u8]) -> Vec<u8>;

/// A proxy before an address that changes every answer to a tool call.
async fn proxy(before: SocketAddr, change: ReplyChange) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(relay(client, before, change));
        }
    });
    address
}

async fn relay(mut client: TcpStream, before: SocketAddr, change: ReplyChange) -> Option<()> {
    let mut server = TcpStream::connect(before).await.ok()?;
    loop {
        let (head, body) = message(&mut client).await?;
        server
            .write_all(&[head.as_bytes(), &body].concat())
            .await
            .ok()?;
        let (head, answer) = message(&mut server).await?;
        let calls = body.windows(10).any(|part| part == b"tools/call");
        let answer = if calls { change(&answer) } else { answer };
        let kept = head
            .lines()
            .filter(|line| !line.to_lowercase().starts_with("content-length:") && !line.is_empty());
        let length = format!("Content-Length: {}\r\n\r\n", answer.len());
        let lines: Vec<&str> = kept.collect();
        let head = format!("{}\r\n{length}", lines.join("\r\n"));
        client
            .write_all(&[head.as_bytes(), &answer].concat())
            .await
            .ok()?;
    }
}

/// One HTTP message with a length.
async fn message(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}

/// What a typed proxy does: keys sorted, large integers as floats.
fn reserialised(answer: &[u8]) -> Vec<u8> {
    let value: serde_json::Value = serde_json::from_slice(answer).expect("JSON");
    serde_json::to_vec(&value).expect("JSON")
}

fn rounded(answer: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(answer.to_vec()).expect("text");
    text.replace(r#","a":9007199254740993"#, r#","a":9007199254740992"#)
        .into_bytes()
}

fn emptied(answer: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(answer.to_vec()).expect("text");
    text.replace(r#"{"z":1,"a":9007199254740993}"#, "{}")
        .into_bytes()
}

async fn compared(change: Option<ReplyChange>) -> Overhead {
    let schema = r#"{"type":"object","required":["z"]}"#;
    let result = r#"{"content":[{"type":"text","text":"{\"z\":1,\"a\":9007199254740993}"}],"structuredContent":{"z":1,"a":9007199254740993}}"#;
    let script = Script::new("s").tool(Tool::with_output_schema("t", schema).result(result));
    let running = http(script, Format::Json).await;
    let through = match change {
        None => running.target.clone(),
        Some(change) => {
            let address = address(&running);
            let proxy = proxy(address, change).await;
            Target::url(&format!("http://{proxy}/mcp")).expect("an address")
        }
    };
    let comparison = Comparison {
        plan: plan(
            &running,
            "[load]\nrate = 200\nduration = \"10s\"\n[[scenario]]\ntool = \"t\"\n",
        ),
        through,
        shown: "the proxy".to_owned(),
        prefix: String::new(),
        calls: 50,
        block: 10,
    };
    let mut seen = Vec::new();
    let overhead = run(&comparison, &mut |done, total| seen.push((done, total))).await;
    assert_eq!(seen, [10, 20, 30, 40, 50].map(|done| (done, 50)));
    overhead.expect("a comparison")
}

fn address(running: &RunningServer) -> SocketAddr {
    let url = running.server.split("http://").nth(1).expect("a url");
    url.split('/')
        .next()
        .expect("an authority")
        .parse()
        .expect("an address")
}

#[tokio::test]
async fn what_is_not_touched_is_the_same() {
    let kept: ReplyChange = <[u8]>::to_vec;
    for change in [None, Some(kept)] {
        let overhead = compared(change).await;
        assert_eq!(overhead.bodies.same, 50);
        assert_eq!(overhead.delta.pairs, 50);
        assert_eq!(overhead.through.outcomes["ok"], 50);
        assert_eq!(overhead.verdict.exit, 0, "{:?}", overhead.verdict);
    }
}

#[tokio::test]
async fn reordered_members_and_rounded_integers_are_found() {
    let sorted = compared(Some(reserialised)).await;
    assert_eq!((sorted.bodies.reordered, sorted.verdict.exit), (50, 1));
    assert_eq!(sorted.examples[0].difference, Difference::Reordered);
    assert_eq!(sorted.examples[0].members, ["content", "structuredContent"]);

    let rounded = compared(Some(rounded)).await;
    assert_eq!((rounded.bodies.renumbered, rounded.verdict.exit), (50, 1));
    assert_eq!(rounded.examples[0].members, ["structuredContent"]);
}

#[tokio::test]
async fn an_answer_that_breaks_its_contract_on_the_way_is_the_gateways_fault() {
    let emptied = compared(Some(emptied)).await;
    assert_eq!((emptied.gateway_changed, emptied.verdicts_differ), (50, 50));
    assert_eq!(emptied.verdict.exit, 1);
    assert!(emptied.verdict.reasons[0].contains("broke it on the way"));
}
