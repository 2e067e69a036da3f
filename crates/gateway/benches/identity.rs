//! What it costs to know who calls: microseconds of the gateway's CPU for a request with each kind of credential, beyond one
//! with the `api_key`; and what a signature and TLS cost by themselves.
//!
//! The requests are pings, so that little else is in the figures. They come from another process (this binary again), so that
//! the time of this process is the gateway's. The cases take turns and the least time of each counts: what other programs do
//! on the machine adds time, and never takes any away.
//!
//! `cargo bench -p countersign-gateway --bench identity [-- CALLS [ROUNDS]]`
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]

#[path = "identity/cost_of_tls.rs"]
mod cost_of_tls;
#[expect(dead_code, reason = "the tests of the gateway use the rest of it")]
#[path = "../tests/it/tokens/issuer.rs"]
mod issuer;

/// What the issuer of the tests takes from their support.
mod support {
    pub(crate) fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use countersign_config::{
    ApiKey, CallerConfig, CallerCredential, CallerRight, Config, Environment,
    Issuer as IssuerConfig,
};
use countersign_gateway::Gateway;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use sha2::{Digest, Sha256};

use issuer::{Issuer, SigningKey};

const KEY: &str = "the api_key of this bench";
const NAMED_KEY: &str = "the key of the caller 7";
const CALLERS: usize = 1_000;
const CONNECTIONS: usize = 4;
const PUBLIC_URL: &str = "http://localhost";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, address, calls, headers] = arguments.as_slice()
        && flag == "--load"
    {
        return load(address, calls, headers);
    }
    let mut numbers = arguments.iter().filter_map(|text| text.parse().ok());
    let (calls, rounds) = (
        numbers.next().unwrap_or(4_000),
        numbers.next().unwrap_or(12),
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bench(calls, rounds));
    cost_of_tls::print();
}

/// A way to say who calls: its name, and the header lines that requests take in turn.
struct Case {
    name: &'static str,
    /// The lines of a round.
    lines: Box<dyn Fn(usize) -> Vec<String>>,
    least: Duration,
}

async fn bench(calls: usize, rounds: usize) {
    let keys = [SigningKey::new("ec"), SigningKey::rsa("rsa")];
    let issuer = Issuer::start(&keys[0]).await;
    issuer.publish(&[&keys[0], &keys[1]]);
    let folder = tempfile::tempdir().expect("a folder");
    let gateway = Gateway::start(config(folder.path(), &issuer)).await;
    let gateway = gateway.expect("it starts");
    let mut cases = cases(&issuer, keys, calls);
    let file = folder.path().join("headers");
    for round in 0..=rounds {
        for case in &mut cases {
            std::fs::write(&file, (case.lines)(round).join("\n")).expect("written");
            let before = cpu_time();
            run_load(gateway.address(), &file, calls).await;
            let used = cpu_time().saturating_sub(before);
            // The first round warms up.
            if round > 0 {
                case.least = case.least.min(used);
            }
        }
    }
    gateway.stop(std::future::pending()).await;
    println!(
        "{calls} pings over {CONNECTIONS} connections, the least CPU time of {rounds} rounds in turns\n"
    );
    println!("{:<44} {:>12} {:>12}", "", "CPU µs/call", "more");
    let micros = |case: &Case| case.least.as_secs_f64() * 1e6 / calls as f64;
    let base = cases.first().map_or(0.0, micros);
    for case in &cases {
        let each = micros(case);
        println!("{:<44} {each:>12.2} {:>+12.2}", case.name, each - base);
    }
}

fn cases(issuer: &Issuer, [ec, rsa]: [SigningKey; 2], calls: usize) -> Vec<Case> {
    let resource = format!("{PUBLIC_URL}/mcp");
    let claims = issuer.claims(&resource);
    let bearer = |token: String| format!("Authorization: Bearer {token}");
    let once = |line: String| -> Box<dyn Fn(usize) -> Vec<String>> {
        Box::new(move |_| vec![line.clone()])
    };
    // Each token is another one, so that none is remembered.
    let fresh = |key: SigningKey| -> Box<dyn Fn(usize) -> Vec<String>> {
        let claims = claims.clone();
        Box::new(move |round| {
            let token = |number: usize| {
                let mut claims = claims.clone();
                claims["jti"] = json!(format!("{round}-{number}"));
                bearer(key.sign(&claims))
            };
            (0..calls).map(token).collect()
        })
    };
    let case = |name, lines| Case {
        name,
        lines,
        least: Duration::MAX,
    };
    vec![
        case("api_key", once(format!("X-API-Key: {KEY}"))),
        case(
            "named key, one of 1,000",
            once(format!("X-API-Key: {NAMED_KEY}")),
        ),
        case("remembered token (ES256)", once(bearer(ec.sign(&claims)))),
        case("new token each time, ES256", fresh(ec)),
        case("new token each time, RS256 (2048 bits)", fresh(rsa)),
    ]
}

fn config(folder: &Path, issuer: &Issuer) -> Config {
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(KEY));
    config.data_dir = folder.join("data");
    config.public_url = Some(PUBLIC_URL.to_owned());
    config.auth.issuers = vec![IssuerConfig::new("corp", &issuer.url)];
    config.callers = (0..CALLERS)
        .map(|number| {
            let key = format!("the key of the caller {number}");
            CallerConfig {
                name: format!("caller-{number}"),
                credential: CallerCredential::Key(Sha256::digest(key).into()),
                groups: Vec::new(),
                rights: vec![CallerRight::Call],
                expires: None,
            }
        })
        .collect();
    config
}

/// CPU time of this process; the load has its own.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

async fn run_load(address: SocketAddr, headers: &Path, calls: usize) {
    let headers = headers.to_owned();
    let run = move || {
        let myself = std::env::current_exe()?;
        let mut load = Command::new(myself);
        load.arg("--load").arg(address.to_string());
        load.arg(calls.to_string()).arg(headers);
        load.stdin(Stdio::null()).status()
    };
    let status = tokio::task::spawn_blocking(run).await.expect("it ran");
    assert!(status.expect("it ran").success());
}

/// The load: so many threads, each with a connection, one request after the other.
fn load(address: &str, calls: &str, headers: &str) {
    let calls: usize = calls.parse().expect("a number");
    let headers = std::fs::read_to_string(headers).expect("a file");
    let requests: Vec<String> = headers
        .lines()
        .map(|line| {
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{line}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{PING}",
                PING.len()
            )
        })
        .collect();
    let each = calls / CONNECTIONS;
    std::thread::scope(|scope| {
        for thread in 0..CONNECTIONS {
            let requests = &requests;
            scope.spawn(move || {
                let mine = requests.iter().cycle().skip(thread * each);
                client(address, mine.take(each));
            });
        }
    });
}

fn client<'a>(address: &str, requests: impl Iterator<Item = &'a String>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let mut buffer = vec![0; 16 * 1024];
    for request in requests {
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut length = 0;
        while whole(&buffer[..length]).is_none_or(|whole| length < whole) {
            let read = stream.read(&mut buffer[length..]).expect("an answer");
            assert!(read > 0, "the gateway closed the connection");
            length += read;
        }
        let answer = String::from_utf8_lossy(&buffer[..length]);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

/// How long the response is, once its head has arrived.
fn whole(response: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(response).ok()?;
    let (head, _) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length: "))?;
    Some(head.len() + 4 + length.parse::<usize>().ok()?)
}
