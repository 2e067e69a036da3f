//! What `wrap` adds to a call and to a start: the same server, called one call after the other, bare and wrapped.
//!
//! `cargo bench -p countersign --bench wrap [-- CALLS]`
#![expect(clippy::print_stdout, reason = "figures for people")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign_fixture::client::{StdioClient, call_params};
use countersign_fixture::{Script, Tool, executable};

const ROUNDS: usize = 5;
const WAIT: Duration = Duration::from_mins(1);

fn main() {
    let given = std::env::args().skip(1).find_map(|text| text.parse().ok());
    let calls = given.unwrap_or(5000);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bench(calls));
}

async fn bench(calls: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = r#"{"type":"object","properties":{"celsius":{"type":"number"}}}"#;
    let result = r#"{"content":[{"type":"text","text":"21.5 degrees"}],"structuredContent":{"celsius":21.5}}"#;
    let script = Script::new("x").tool(Tool::with_output_schema("t", schema).result(result));
    std::fs::write(folder.path().join("s.json"), script.to_json()).expect("written");
    let mut all = [(); 2].map(|()| (Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        for (wrapped, (starts, times)) in [false, true].into_iter().zip(&mut all) {
            let begun = Instant::now();
            let mut client = start(folder.path(), wrapped);
            client.handshake("2025-11-25").await.expect("a server");
            starts.push(begun.elapsed());
            let params = call_params("t", "{}");
            for _ in 0..calls {
                let sent = Instant::now();
                client
                    .request("tools/call", &params)
                    .await
                    .expect("an answer");
                times.push(sent.elapsed());
            }
        }
    }
    println!("{ROUNDS} rounds of {calls} calls, one after the other\n");
    println!(
        "{:<8} {:>12} {:>12} {:>20}",
        "", "p50", "p99", "start to initialize"
    );
    for (name, (starts, times)) in ["bare", "wrapped"].into_iter().zip(&mut all) {
        let (p50, p99) = (at(times, 50), at(times, 99));
        println!(
            "{name:<8} {p50:>12.1?} {p99:>12.1?} {:>20.1?}",
            at(starts, 50)
        );
    }
}

fn start(folder: &Path, wrapped: bool) -> StdioClient {
    let fixture = executable().expect("the fixture is built");
    let mut command = if wrapped {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        let options = ["wrap", "--data-dir", "data", "--mode", "strict", "--"];
        command.args(options).arg(fixture);
        command
    } else {
        Command::new(fixture)
    };
    command
        .args(["stdio", "--script", "s.json"])
        .current_dir(folder)
        .stderr(Stdio::null());
    StdioClient::spawn(command, WAIT).expect("it starts")
}

fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times
        .get(times.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}
