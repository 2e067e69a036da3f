//! The gateway as a proxy before an HTTP server, next to the leanest proxy there can be: hyper in front, hyper
//! behind, one connection to the server for each one from a client, bodies passed through unread.
//!
//! Server, proxies and load are processes of their own (this binary again). Each proxy reports its own CPU time
//! and resident memory; rounds go round the proxies, so that whatever else the machine does hits all of them.
//!
//! `cargo bench -p countersign-gateway --bench proxy [-- CALLS [ROUNDS]]`
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]

#[path = "proxy/load.rs"]
mod load;
#[path = "proxy/peers.rs"]
mod peers;
#[path = "proxy/process.rs"]
mod process;

use std::time::Duration;

use load::Latency;
use process::{Process, Usage};

const KEY: &str = "bench";
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"query":"weather in Oslo"}}}"#;
/// Connections while CPU time is measured; latency is measured over one.
const CONNECTIONS: usize = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--upstream"] => peers::upstream(),
        ["--bare", upstream] => peers::bare(upstream),
        ["--gateway", upstream, mode, durability] => peers::gateway(upstream, mode, durability),
        ["--load", address, connections, calls] => load::run(address, connections, calls),
        given => {
            let mut numbers = given.iter().filter_map(|word| word.parse::<usize>().ok());
            let calls = numbers.next().unwrap_or(16_000);
            compare(calls, numbers.next().unwrap_or(7));
        }
    }
}

/// One way to the server.
struct Way {
    name: &'static str,
    process: Process,
    least_cpu: Duration,
    latency: Latency,
}

fn compare(calls: usize, rounds: usize) {
    let upstream = Process::start(&["--upstream"]);
    let address = upstream.address.clone();
    let gateway = |mode, durability| Process::start(&["--gateway", &address, mode, durability]);
    let mut direct = Latency::MOST;
    let mut ways: Vec<Way> = [
        ("bare hyper proxy", Process::start(&["--bare", &address])),
        ("gateway, off", gateway("off", "async")),
        ("gateway, strict", gateway("strict", "async")),
        ("gateway, strict + commit", gateway("strict", "commit")),
    ]
    .into_iter()
    .map(|(name, process)| Way {
        name,
        process,
        least_cpu: Duration::MAX,
        latency: Latency::MOST,
    })
    .collect();
    for way in &mut ways {
        load::start(&way.process.address, CONNECTIONS, calls / 4);
    }
    for _ in 0..rounds {
        direct = direct.least(measure_latency(&address, calls / 8));
        for way in &mut ways {
            let before = way.process.usage();
            load::start(&way.process.address, CONNECTIONS, calls);
            let cpu = way.process.usage().cpu.saturating_sub(before.cpu);
            way.least_cpu = way.least_cpu.min(cpu);
            let latency = measure_latency(&way.process.address, calls / 8);
            way.latency = way.latency.least(latency);
        }
    }
    report(calls, rounds, direct, &mut ways);
}

fn measure_latency(address: &str, calls: usize) -> Latency {
    load::start(address, 1, calls)
}

fn report(calls: usize, rounds: usize, direct: Latency, ways: &mut [Way]) {
    println!(
        "{calls} calls over {CONNECTIONS} connections for CPU time, {} over one for latency; the least of {rounds} rounds; result of 1 KB\n",
        calls / 8
    );
    println!(
        "{:<26} {:>12} {:>13} {:>8} {:>10} {:>10} {:>9}",
        "", "CPU µs/call", "calls/CPU-s", "ratio", "added p50", "added p99", "RSS MiB"
    );
    println!(
        "{:<26} {:>12} {:>13} {:>8} {:>7.0} µs {:>7.0} µs",
        "direct (p50, p99 whole)", "", "", "", direct.p50, direct.p99
    );
    let mut bare = None;
    for way in ways {
        let each = way.least_cpu.as_secs_f64() * 1e6 / calls as f64;
        let baseline = *bare.get_or_insert(each);
        let Usage { rss_kib, .. } = way.process.usage();
        println!(
            "{:<26} {each:>12.1} {:>13.0} {:>8.2} {:>7.0} µs {:>7.0} µs {:>9.1}",
            way.name,
            1e6 / each,
            baseline / each,
            way.latency.p50 - direct.p50,
            way.latency.p99 - direct.p99,
            rss_kib as f64 / 1024.0
        );
    }
}
