//! The load: so many threads, each with a connection, one call after the other, each timed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::KEY;
use super::messages::{Era, request};

/// Microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Latency {
    pub(crate) const MOST: Self = Self {
        p50: f64::MAX,
        p99: f64::MAX,
    };

    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            p50: self.p50.min(other.p50),
            p99: self.p99.min(other.p99),
        }
    }
}

/// What a load calls, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) era: Era,
    pub(crate) tool: &'static str,
    pub(crate) connections: usize,
    pub(crate) calls: usize,
}

/// Runs a load in a process of its own.
pub(crate) fn start(address: &str, load: Load) -> Latency {
    let myself = std::env::current_exe().expect("a path");
    let (connections, calls) = (load.connections.to_string(), load.calls.to_string());
    let era = load.era.as_str();
    let output = Command::new(myself)
        .args(["--load", address, era, load.tool, &connections, &calls])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "the load failed");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut numbers = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"));
    Latency {
        p50: numbers.next().expect("p50"),
        p99: numbers.next().expect("p99"),
    }
}

/// The process itself.
pub(crate) fn run(address: &str, (era, tool): (&str, &str), connections: &str, calls: &str) {
    let request = request(address, KEY, Era::from_word(era), tool);
    let address: SocketAddr = address.parse().expect("an address");
    let connections: usize = connections.parse().expect("a number");
    let calls: usize = calls.parse().expect("a number");
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| client(address, request.as_bytes(), calls / connections)))
            .collect();
        let times = clients
            .into_iter()
            .map(|client| client.join().expect("a client"));
        times.flatten().collect()
    });
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{} {}", at(50), at(99));
}

fn client(address: SocketAddr, request: &[u8], calls: usize) -> Vec<f64> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let mut buffer = vec![0; 256 * 1024];
    let mut times = Vec::with_capacity(calls);
    // Every answer of a run is as long as the first, which tells how long that is.
    let mut expected = None;
    for _ in 0..calls {
        let start = Instant::now();
        stream.write_all(request).expect("it reads");
        let mut length = 0;
        while expected.is_none_or(|expected| length < expected) {
            // The head comes with the first bytes; what comes after it is only counted.
            let from = if expected.is_none() { length } else { 0 };
            let read = stream.read(&mut buffer[from..]).expect("an answer");
            assert!(read > 0, "the connection was closed");
            assert!(
                length > 0 || buffer.starts_with(b"HTTP/1.1 200"),
                "not an answer"
            );
            length += read;
            expected = expected.or_else(|| whole(&buffer[..length]));
        }
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times
}

/// How long the response is, once its head has arrived.
fn whole(response: &[u8]) -> Option<usize> {
    let end = response.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&response[..end]).ok()?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    Some(end + 4 + length.parse::<usize>().ok()?)
}
