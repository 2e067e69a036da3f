//! The gateway as a proxy before an HTTP server, next to the leanest proxy there can be: hyper in front, hyper
//! behind, one connection to the server for each one from a client, bodies passed through unread. A second one reads each
//! body whole before it passes it on, as every proxy must that judges what it passes on.
//!
//! Server, proxies and load are processes of their own (this binary again). Each proxy reports its own CPU time
//! and resident memory; rounds go round the proxies, so that whatever else the machine does hits all of them.
//!
//! `cargo bench -p countersign-gateway --bench proxy [-- CALLS [ROUNDS [TABLE...]]]` prints all tables, of this build and of
//! the one that `bench/profile-guided` has made, if it has, or those named:
//! `cpu`, `latency`, `connections`, `sizes`, `tools`. With the default numbers all of them take about ten minutes on two
//! cores without other work.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]

#[path = "proxy/growth.rs"]
mod growth;
#[path = "proxy/load.rs"]
mod load;
#[path = "proxy/messages.rs"]
mod messages;
#[path = "proxy/peers.rs"]
mod peers;
#[path = "proxy/process.rs"]
mod process;
#[path = "proxy/tables.rs"]
mod tables;

use messages::Era;
use peers::Bodies;

const KEY: &str = "bench";
/// Connections while CPU time is measured.
const CONNECTIONS: usize = 16;
const MANY_CONNECTIONS: usize = 256;
/// Connections in the table of growth; the server is allowed as many calls at once.
const MOST_CONNECTIONS: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--upstream", era, others] => peers::upstream(Era::from_word(era), others),
        ["--bare", upstream] => peers::bare(upstream, Bodies::Unread),
        ["--whole", upstream] => peers::bare(upstream, Bodies::Whole),
        ["--gateway", upstream, mode, durability] => peers::gateway(upstream, mode, durability),
        ["--load", address, era, tool, connections, calls] => {
            load::run(address, (era, tool), connections, calls);
        }
        given => {
            let mut numbers = given.iter().filter_map(|word| word.parse::<usize>().ok());
            let calls = numbers.next().unwrap_or(16_000);
            let rounds = numbers.next().unwrap_or(5);
            let known = TABLES.iter().filter(|(name, _)| given.contains(name));
            let named: Vec<_> = known.collect();
            let all = named.is_empty().then_some(&TABLES).into_iter().flatten();
            for (_, print) in named.into_iter().chain(all) {
                print(calls, rounds);
            }
            bench_profiled_build(given);
        }
    }
}

/// Prints the same tables for the build with a profile that `bench/profile-guided` makes, which is how programs for
/// production are built. It is this program, built in another way.
fn bench_profiled_build(arguments: &[&str]) {
    let myself = std::env::current_exe().expect("a path");
    let target = myself.ancestors().nth(3).expect("target/release/deps");
    if target.ends_with("profile-guided") || myself.ends_with("proxy-bench") {
        return;
    }
    let profiled = target.join("profile-guided/proxy-bench");
    if !profiled.exists() {
        println!("For the tables of a build with a profile, run bench/profile-guided first.");
        return;
    }
    println!("The same of a build with a profile, by bench/profile-guided:\n");
    let status = std::process::Command::new(profiled)
        .args(arguments)
        .status()
        .expect("it starts");
    assert!(status.success(), "the bench of the other build failed");
}

/// A table: how many calls of the smallest result, in how many rounds.
type Table = fn(usize, usize);

const TABLES: [(&str, Table); 5] = [
    ("cpu", tables::cpu),
    ("latency", tables::latency),
    ("connections", growth::connections),
    ("sizes", growth::sizes),
    ("tools", growth::tools),
];
