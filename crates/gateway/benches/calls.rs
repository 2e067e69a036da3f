//! What a call costs: microseconds of the gateway's CPU, against a child over stdio, with each way to keep records.
//!
//! The load comes from another process (this binary again), and the child's time is its own, so the time of this
//! process is the gateway's cost and nothing else. Where it goes is seen by leaving parts of the work out.
//!
//! `cargo bench -p countersign-gateway --bench calls [-- CALLS [CASE]]`
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign_audit::Durability;
use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_fixture::{Script, Tool, executable};
use countersign_gateway::Gateway;
use countersign_inspect::Mode;
use rustix::time::{ClockId, clock_gettime};

const KEY: &str = "bench";
const CONNECTIONS: usize = 16;
const ROUNDS: usize = 5;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"query":"weather in Oslo"}}}"#;

/// One way to run the gateway: what it is called, how records are kept, the mode, what is asked.
type Case = (&'static str, Durability, Mode, &'static str);

const CASES: [Case; 6] = [
    (
        "ping: HTTP and key only",
        Durability::Async,
        Mode::Off,
        PING,
    ),
    ("call, off, async", Durability::Async, Mode::Off, CALL),
    ("call, strict, async", Durability::Async, Mode::Strict, CALL),
    ("call, off, commit", Durability::Commit, Mode::Off, CALL),
    (
        "call, strict, commit",
        Durability::Commit,
        Mode::Strict,
        CALL,
    ),
    ("call, strict, sync", Durability::Sync, Mode::Strict, CALL),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, address, calls, request] = arguments.as_slice()
        && flag == "--load"
    {
        return load(address, calls, request);
    }
    let given: Vec<&String> = arguments
        .iter()
        .filter(|text| !text.starts_with('-'))
        .collect();
    let calls = given.first().and_then(|text| text.parse().ok());
    let only = given.get(1).map_or("", |text| text.as_str());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bench(calls.unwrap_or(20_000), only));
}

async fn bench(calls: usize, only: &str) {
    println!(
        "{calls} calls over {CONNECTIONS} connections, the least CPU time of {ROUNDS} rounds\n"
    );
    println!(
        "{:<26} {:>12} {:>14} {:>10}",
        "", "CPU µs/call", "calls/CPU-s", "calls/s"
    );
    for case in CASES.into_iter().filter(|case| case.0.contains(only)) {
        let (cpu, wall) = measure(case, calls).await;
        let each = cpu.as_secs_f64() * 1e6 / calls as f64;
        let rate = calls as f64 / wall.as_secs_f64();
        println!(
            "{:<26} {each:>12.1} {:>14.0} {rate:>10.0}",
            case.0,
            1e6 / each
        );
    }
}

async fn measure((_, durability, mode, request): Case, calls: usize) -> (Duration, Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.json");
    std::fs::write(&script, tool().to_json()).expect("written");
    let program = executable().expect("the fixture is built");
    let arguments = ["stdio", "--script", script.to_str().expect("UTF-8")].map(str::to_owned);
    let mut server = Server::stdio("x", program.to_str().expect("UTF-8"), arguments);
    server.output.mode = Some(mode);
    server.input.mode = Some(mode);
    server.max_concurrent_requests = CONNECTIONS;
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(KEY));
    config.data_dir = folder.path().join("data");
    config.activity.durability = durability;
    config.servers = vec![server];
    let gateway = Gateway::start(config).await.expect("it starts");
    gateway.settled().await;
    run_load(gateway.address(), request, calls / 10).await;
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let (before, start) = (cpu_time(), Instant::now());
        run_load(gateway.address(), request, calls).await;
        best = best.min((cpu_time().saturating_sub(before), start.elapsed()));
    }
    gateway.stop(std::future::pending()).await;
    best
}

/// A tool with a result of about 1 KiB that conforms to its schema.
fn tool() -> Script {
    let item =
        |n| format!(r#"{{"id":{n},"name":"item number {n}","score":{n}.5,"tags":["a","b"]}}"#);
    let items: Vec<String> = (0..14).map(item).collect();
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"14 items, see the structured content"}}],"structuredContent":{{"items":[{}],"total":14}}}}"#,
        items.join(",")
    );
    let schema = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"score":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id","name"],"additionalProperties":false}},"total":{"type":"integer"}},"required":["items"],"additionalProperties":false}"#;
    Script::new("bench").tool(Tool::with_output_schema("t", schema).result(result))
}

/// CPU time of this process; children have their own.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

async fn run_load(address: SocketAddr, request: &'static str, calls: usize) {
    let run = move || {
        let myself = std::env::current_exe()?;
        let (address, calls) = (address.to_string(), calls.to_string());
        let arguments = ["--load", &address, &calls, request];
        Command::new(myself)
            .args(arguments)
            .stdin(Stdio::null())
            .status()
    };
    let status = tokio::task::spawn_blocking(run).await.expect("it ran");
    assert!(status.expect("it ran").success());
}

/// The load: so many threads, each with a connection, one request after the other.
fn load(address: &str, calls: &str, request: &str) {
    let address: SocketAddr = address.parse().expect("an address");
    let calls: usize = calls.parse().expect("a number");
    let request = format!(
        "POST /mcp/s/x HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{request}",
        request.len()
    );
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| client(address, request.as_bytes(), calls / CONNECTIONS));
        }
    });
}

fn client(address: SocketAddr, request: &[u8], calls: usize) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let mut buffer = vec![0; 64 * 1024];
    // Every answer of a run is as long as the first, which tells how long that is.
    let mut expected = None;
    for _ in 0..calls {
        stream.write_all(request).expect("it reads");
        let mut length = 0;
        while expected.is_none_or(|expected| length < expected) {
            let read = stream.read(&mut buffer[length..]).expect("an answer");
            assert!(read > 0, "the gateway closed the connection");
            length += read;
            expected = expected.or_else(|| whole(&buffer[..length]));
        }
        assert!(buffer.starts_with(b"HTTP/1.1 200"), "not an answer");
    }
}

/// How long the response is, once its head has arrived.
fn whole(response: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(response).ok()?;
    let (head, _) = text.split_once("\r\n\r\n")?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    Some(head.len() + 4 + length.parse::<usize>().ok()?)
}
