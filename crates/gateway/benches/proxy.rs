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
#[path = "proxy/messages.rs"]
mod messages;
#[path = "proxy/peers.rs"]
mod peers;
#[path = "proxy/process.rs"]
mod process;
#[path = "proxy/tables.rs"]
mod tables;

use messages::Era;

const KEY: &str = "bench";
/// Connections while CPU time is measured.
const CONNECTIONS: usize = 16;
const MOST_CONNECTIONS: usize = 256;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--upstream", era] => peers::upstream(Era::from_word(era)),
        ["--bare", upstream] => peers::bare(upstream),
        ["--gateway", upstream, mode, durability] => peers::gateway(upstream, mode, durability),
        ["--load", address, era, tool, connections, calls] => {
            load::run(address, (era, tool), connections, calls);
        }
        given => {
            let mut numbers = given.iter().filter_map(|word| word.parse::<usize>().ok());
            let calls = numbers.next().unwrap_or(16_000);
            let rounds = numbers.next().unwrap_or(7);
            tables::cpu(calls, rounds);
            tables::latency(calls / 4, rounds);
        }
    }
}
