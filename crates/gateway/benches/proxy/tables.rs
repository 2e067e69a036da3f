//! The tables: CPU time a call by size of the result, and latency by number of connections.

use std::collections::BTreeMap;
use std::time::Duration;

use super::load::{self, Latency, Load};
use super::messages::{Era, SIZES, Size};
use super::process::Process;
use super::{CONNECTIONS, MANY_CONNECTIONS};

/// The ways to the server: name, mode, durability. The first is the bare proxy.
const WAYS: [(&str, &str, &str); 5] = [
    ("bare hyper proxy", "bare", ""),
    ("the same, whole bodies", "whole", ""),
    ("gateway, off", "off", "async"),
    ("gateway, strict", "strict", "async"),
    ("gateway, strict + commit", "strict", "commit"),
];

/// A server, and every way to it.
struct Set {
    era: Era,
    upstream: Process,
    ways: Vec<Process>,
}

impl Set {
    fn start(era: Era) -> Self {
        let upstream = Process::start(&["--upstream", era.as_str(), "0"]);
        let way = |(_, mode, durability): &(&str, &str, &str)| match *mode {
            "bare" => Process::start(&["--bare", &upstream.address]),
            "whole" => Process::start(&["--whole", &upstream.address]),
            mode => Process::start(&["--gateway", &upstream.address, mode, durability]),
        };
        let ways = WAYS.iter().map(way).collect();
        Self {
            era,
            upstream,
            ways,
        }
    }
}

/// CPU time a call, as ratios to the bare proxy in the same rounds.
pub(crate) fn cpu(calls: usize, rounds: usize) {
    println!(
        "Calls per CPU-second of the proxy, as ratios to the bare proxy (CPU µs a call): the least of {rounds} rounds,"
    );
    println!("{calls} calls of the smallest result over {CONNECTIONS} connections\n");
    for era in [Era::Legacy, Era::Modern] {
        let mut set = Set::start(era);
        print!("{:<26}", era.as_str());
        for size in SIZES {
            print!(" {:>16}", size.name);
        }
        println!(" {:>9}", "RSS MiB");
        // Resident memory is that of the smallest results, which come first.
        let mut rss = Vec::new();
        let mut columns = Vec::new();
        for size in SIZES {
            columns.push(set.least(size, (calls / size.weight).max(CONNECTIONS), rounds));
            if rss.is_empty() {
                rss.extend(set.ways.iter_mut().map(|way| way.usage().rss_kib));
                print_threads(&set);
            }
        }
        for (row, (name, ..)) in WAYS.iter().enumerate() {
            print!("{name:<26}");
            for column in &columns {
                print!(" {:>6.2} ({:>7.1})", column[0] / column[row], column[row]);
            }
            println!(" {:>9.1}", rss[row] as f64 / 1024.0);
        }
        println!();
    }
    println!();
}

impl Set {
    /// The least CPU time a call of each way, in microseconds.
    fn least(&mut self, size: Size, calls: usize, rounds: usize) -> Vec<f64> {
        let load = Load {
            era: self.era,
            tool: size.name,
            connections: CONNECTIONS,
            calls,
        };
        for way in &self.ways {
            load::start(
                &way.address,
                Load {
                    calls: (calls / 4).max(CONNECTIONS),
                    ..load
                },
            );
        }
        let mut least = vec![Duration::MAX; self.ways.len()];
        for _ in 0..rounds {
            for (way, least) in self.ways.iter_mut().zip(&mut least) {
                let before = way.usage();
                load::start(&way.address, load);
                *least = (*least).min(way.usage().cpu.saturating_sub(before.cpu));
            }
        }
        let calls = (calls / CONNECTIONS * CONNECTIONS) as f64;
        least
            .into_iter()
            .map(|least| least.as_secs_f64() * 1e6 / calls)
            .collect()
    }
}

/// Which threads of the last way the CPU time went to, since its start.
fn print_threads(set: &Set) {
    let (Some(last), Some((name, ..))) = (set.ways.last(), WAYS.last()) else {
        return;
    };
    let threads: BTreeMap<String, Duration> = last.threads();
    let all: Duration = threads.values().sum();
    let shares = threads.iter().map(|(name, time)| {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64();
        format!("{name} {share:.0} %")
    });
    let shares: Vec<String> = shares.collect();
    println!(
        "(threads, {name}, {}: {})",
        SIZES[0].name,
        shares.join(", ")
    );
}

/// What each way adds to the direct call.
pub(crate) fn latency(calls: usize, rounds: usize) {
    println!(
        "Latency of a call with a {} result, µs: p50 and p99, the least of {rounds} rounds;",
        SIZES[0].name
    );
    println!("of the direct call whole, of the others what they add\n");
    let calls = calls / 4;
    let set = Set::start(Era::Legacy);
    print!("{:<26}", "connections");
    let connections = [1, CONNECTIONS, MANY_CONNECTIONS];
    for count in connections {
        print!(" {count:>18}");
    }
    println!();
    let mut addresses = vec![("direct", &set.upstream.address)];
    addresses.extend(
        WAYS.iter()
            .zip(&set.ways)
            .map(|((name, ..), way)| (*name, &way.address)),
    );
    let mut least = vec![[Latency::MOST; 3]; addresses.len()];
    for _ in 0..rounds {
        for ((_, address), least) in addresses.iter().zip(&mut least) {
            for (least, connections) in least.iter_mut().zip(connections) {
                let (era, tool) = (Era::Legacy, SIZES[0].name);
                // Few connections take longer, and show the same with fewer calls.
                let calls = if connections == 1 { calls / 2 } else { calls };
                let load = Load {
                    era,
                    tool,
                    connections,
                    calls,
                };
                *least = least.least(load::start(address, load));
            }
        }
    }
    for (row, (name, _)) in addresses.iter().enumerate() {
        print!("{name:<26}");
        for (latency, direct) in least[row].iter().zip(least[0]) {
            let base = if row == 0 {
                (0.0, 0.0)
            } else {
                (direct.p50, direct.p99)
            };
            print!(
                " {:>8.0} {:>9.0}",
                latency.p50 - base.0,
                latency.p99 - base.1
            );
        }
        println!();
    }
    println!();
}
