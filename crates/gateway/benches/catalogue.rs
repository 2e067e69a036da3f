//! What many tools cost: 10,000 of them over 50 servers. How long the gateway takes to know them all, to write the
//! list, to search it, and what it holds in memory. Everything is asked from the outside, over HTTP, records included.
//!
//! `cargo bench -p countersign-gateway --bench catalogue [-- SERVERS [TOOLS-PER-SERVER]]`
#![expect(clippy::print_stdout, reason = "figures for people")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use countersign_audit::Durability;
use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_fixture::{Script, Tool, executable};
use countersign_gateway::Gateway;

const KEY: &str = "bench";
const ROUNDS: usize = 500;

const VERBS: [&str; 12] = [
    "create", "delete", "list", "search", "update", "merge", "export", "import", "archive",
    "restore", "approve", "watch",
];
const NOUNS: [&str; 18] = [
    "issue",
    "repository",
    "invoice",
    "customer",
    "calendar",
    "message",
    "branch",
    "pipeline",
    "document",
    "folder",
    "ticket",
    "payment",
    "contact",
    "report",
    "deployment",
    "secret",
    "metric",
    "holiday",
];
const QUERIES: [&str; 5] = [
    "create an issue with labels",
    "search for documents by text in a folder",
    "which payments of a customer are open",
    "list",
    "pipel deploy",
];

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok())
        .collect();
    let servers = numbers.first().copied().unwrap_or(50);
    let tools = numbers.get(1).copied().unwrap_or(200);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bench(servers, tools));
}

async fn bench(servers: usize, tools: usize) {
    println!("{} tools over {servers} servers\n", servers * tools);
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(KEY));
    config.data_dir = folder.path().join("data");
    // What is measured is the search, not the disk.
    config.activity.durability = Durability::Async;
    config.servers = (0..servers)
        .map(|server| scripted(folder.path(), server, tools))
        .collect();
    let (before, bytes) = (resident(), raw_bytes(servers, tools));
    for start in ["first start", "second start"] {
        let begun = Instant::now();
        let gateway = Gateway::start(config.clone()).await.expect("it starts");
        gateway.settled().await;
        println!(
            "{start:<28} {:>10.0} ms until every list is known",
            millis(begun.elapsed())
        );
        println!("{:<28} {:>10.1} MiB resident", "", mib(resident()));
        if start == "first start" {
            let address = gateway.address();
            let asked = tokio::task::spawn_blocking(move || ask(address));
            asked.await.expect("it ran");
            println!(
                "{:<28} {:>10.1} MiB resident, {:.1} before; the declarations are {:.1}",
                "memory",
                mib(resident()),
                mib(before),
                mib(bytes)
            );
        }
        gateway.stop(std::future::ready(())).await;
    }
}

/// A server with its share of the tools, which share words with those of the others.
fn scripted(folder: &std::path::Path, server: usize, tools: usize) -> Server {
    let script = folder.join(format!("{server}.json"));
    std::fs::write(&script, shared(server, tools).to_json()).expect("written");
    let program = executable().expect("the fixture is built");
    let arguments = ["stdio", "--script", script.to_str().expect("UTF-8")].map(str::to_owned);
    Server::stdio(
        format!("server-{server}"),
        program.to_str().expect("UTF-8"),
        arguments,
    )
}

fn shared(server: usize, tools: usize) -> Script {
    (0..tools).fold(Script::new("bench"), |script, tool| {
        script.tool(Tool::new(declaration(server, tool)))
    })
}

fn declaration(server: usize, tool: usize) -> String {
    let number = server * 31 + tool;
    let (verb, noun) = (
        VERBS[number % VERBS.len()],
        NOUNS[number / VERBS.len() % NOUNS.len()],
    );
    let other = NOUNS[(number * 7 + 3) % NOUNS.len()];
    format!(
        r#"{{"name":"{verb}_{noun}_{tool}","description":"Lets you {verb} a {noun} that belongs to a {other}. Use it when somebody asks for the {noun}s of department {server}, by name, by date or by text. The answer has the {noun} with its owner, its state and when it last changed.","inputSchema":{{"type":"object","properties":{{"{noun}_id":{{"type":"string","description":"Which {noun}"}},"{other}":{{"type":"string","maxLength":200}},"limit":{{"type":"integer","minimum":1,"maximum":100}},"labels":{{"type":"array","items":{{"type":"string"}}}}}},"required":["{noun}_id"],"additionalProperties":false}},"outputSchema":{{"type":"object","properties":{{"id":{{"type":"string"}},"state":{{"enum":["open","closed"]}},"changed":{{"type":"string","format":"date-time"}}}},"required":["id"]}},"annotations":{{"readOnlyHint":true}}}}"#
    )
}

fn raw_bytes(servers: usize, tools: usize) -> usize {
    let all =
        (0..servers).flat_map(|server| (0..tools).map(move |tool| declaration(server, tool).len()));
    all.sum()
}

fn ask(address: SocketAddr) {
    let mut client = Client::new(address);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let (first, bytes) = client.timed("/mcp/all", list);
    println!(
        "{:<28} {:>10.2} ms, {:.1} MiB",
        "tools/list, first",
        millis(first),
        mib(bytes)
    );
    let mut again: Vec<Duration> = (0..20).map(|_| client.timed("/mcp/all", list).0).collect();
    println!(
        "{:<28} {:>10.2} ms",
        "tools/list, p50",
        millis(percentile(&mut again, 50))
    );
    for query in QUERIES {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"retrieve_tools","arguments":{{"query":"{query}"}}}}}}"#
        );
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| client.timed("/mcp/call", &request).0)
            .collect();
        println!(
            "{:<28} {:>10.2} ms p50, {:.2} ms p99   {query:?}",
            "retrieve_tools",
            millis(percentile(&mut times, 50)),
            millis(percentile(&mut times, 99)),
        );
    }
}

/// A connection that is kept.
struct Client {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Self {
            address,
            stream,
            buffer: vec![0; 1 << 20],
        }
    }

    /// How long an answer takes, and how long it is.
    fn timed(&mut self, path: &str, body: &str) -> (Duration, usize) {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let begun = Instant::now();
        self.stream.write_all(request.as_bytes()).expect("it reads");
        let (mut length, mut expected) = (0, None);
        let mut head = Vec::new();
        while expected.is_none_or(|expected| length < expected) {
            let read = self.stream.read(&mut self.buffer).expect("an answer");
            assert!(read > 0, "the gateway closed the connection");
            length += read;
            if expected.is_none() {
                head.extend_from_slice(&self.buffer[..read]);
                expected = whole(&head);
            }
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "not an answer");
        (begun.elapsed(), length)
    }
}

/// How long the response is, once its head has arrived.
fn whole(response: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(response);
    let (head, _) = text.split_once("\r\n\r\n")?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    Some(head.len() + 4 + length.parse::<usize>().ok()?)
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times
        .get(times.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What this process holds in memory; its children have their own.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    pages * rustix::param::page_size()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
