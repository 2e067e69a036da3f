//! The tables of growth: what a call costs with more connections, with larger results, and with more tools. The gateway
//! is strict and commits its records; the bare proxy stands beside it.

use super::CONNECTIONS;
use super::MOST_CONNECTIONS;
use super::load::{self, Latency, Load};
use super::messages::{Era, GROWTH_SIZES};
use super::process::Process;

/// Rounds of each entry; the least counts.
const ROUNDS: usize = 3;
const SMALLEST: &str = GROWTH_SIZES[0].name;

/// What one load cost a proxy.
#[derive(Clone, Copy)]
struct Cost {
    /// CPU time of a call, in microseconds.
    micros: f64,
    latency: Latency,
    rss_kib: u64,
}

impl Cost {
    fn print(&self) {
        print!(
            " {:>9.1} {:>8.0} {:>8.0} {:>8.1}",
            self.micros,
            self.latency.p50,
            self.latency.p99,
            self.rss_kib as f64 / 1024.0
        );
    }
}

/// A server, the bare proxy and the gateway.
struct Pair {
    _upstream: Process,
    proxies: [Process; 2],
}

impl Pair {
    fn start(others: usize) -> Self {
        let upstream = Process::start(&["--upstream", "legacy", &others.to_string()]);
        let bare = Process::start(&["--bare", &upstream.address]);
        let gateway = Process::start(&["--gateway", &upstream.address, "strict", "commit"]);
        Self {
            _upstream: upstream,
            proxies: [bare, gateway],
        }
    }

    /// Loads both in turns, and prints a row.
    fn print_row(&mut self, label: &str, load: Load) {
        let load = Load {
            calls: load.calls.max(load.connections),
            ..load
        };
        let [bare, gateway] = &mut self.proxies;
        let (first, second) = (measure(bare, load), measure(gateway, load));
        let (mut bare_cost, mut gateway_cost) = (first, second);
        for _ in 1..ROUNDS {
            bare_cost = least(bare_cost, measure(bare, load));
            gateway_cost = least(gateway_cost, measure(gateway, load));
        }
        print!("{label:<12}");
        bare_cost.print();
        gateway_cost.print();
        println!(" {:>6.2}", bare_cost.micros / gateway_cost.micros);
    }
}

fn measure(proxy: &mut Process, load: Load) -> Cost {
    let before = proxy.usage();
    let latency = load::start(&proxy.address, load);
    let after = proxy.usage();
    let calls = (load.calls / load.connections * load.connections) as f64;
    Cost {
        micros: after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e6 / calls,
        latency,
        rss_kib: after.rss_kib,
    }
}

fn least(one: Cost, other: Cost) -> Cost {
    Cost {
        micros: one.micros.min(other.micros),
        latency: one.latency.least(other.latency),
        rss_kib: other.rss_kib,
    }
}

fn print_head(of: &str) {
    println!(
        "{:<12} {:^36} {:^36}",
        "", "bare hyper proxy", "gateway, strict + commit"
    );
    print!("{of:<12}");
    for _ in 0..2 {
        print!(
            " {:>9} {:>8} {:>8} {:>8}",
            "CPU µs", "p50 µs", "p99 µs", "RSS MiB"
        );
    }
    println!(" {:>6}", "ratio");
}

/// From one connection to a thousand.
pub(crate) fn connections(calls: usize, _rounds: usize) {
    println!("Growth with connections, {SMALLEST} results: the least of {ROUNDS} rounds\n");
    print_head("connections");
    let mut pair = Pair::start(0);
    for connections in [1, 10, 100, MOST_CONNECTIONS] {
        let load = Load {
            era: Era::Legacy,
            tool: SMALLEST,
            connections,
            // Several for each connection, so that connecting does not count for much.
            calls: (calls / 4).max(8 * connections),
        };
        pair.print_row(&connections.to_string(), load);
    }
    println!();
}

/// From one kilobyte to five megabytes.
pub(crate) fn sizes(calls: usize, _rounds: usize) {
    println!("Growth with the result, {CONNECTIONS} connections: the least of {ROUNDS} rounds\n");
    print_head("result");
    let mut pair = Pair::start(0);
    for size in GROWTH_SIZES {
        let load = Load {
            era: Era::Legacy,
            tool: size.name,
            connections: CONNECTIONS,
            calls: calls / 4 / size.weight,
        };
        pair.print_row(size.name, load);
    }
    println!();
}

/// From one tool to ten thousand, each with schemas of its own.
pub(crate) fn tools(calls: usize, _rounds: usize) {
    println!(
        "Growth with the server's tools, {SMALLEST} results, {CONNECTIONS} connections: the least of {ROUNDS} rounds\n"
    );
    print_head("more tools");
    for others in [0, 100, 1_000, 10_000] {
        let load = Load {
            era: Era::Legacy,
            tool: SMALLEST,
            connections: CONNECTIONS,
            calls: calls / 4,
        };
        Pair::start(others).print_row(&others.to_string(), load);
    }
    println!();
}
