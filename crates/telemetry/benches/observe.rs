//! What a call costs its caller once signals are on: nanoseconds of the process's CPU for two spans and two histograms,
//! sending them included, to a receiver in a process of its own (this binary again). Under callgrind, the instructions.
//!
//! `cargo bench -p countersign-telemetry [-- CALLS]`
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use countersign_telemetry::{
    Call, CallTrace, Exchange, Options, SpanContext, Target, Telemetry, Transport,
};
use rustix::time::{ClockId, clock_gettime};

/// Calls between two pauses, in which the exporter sends: as many as a busy gateway answers in a tenth of a second.
const BURST: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|flag| flag == "--sink") {
        return sink();
    }
    let calls = arguments.iter().find_map(|text| text.parse().ok());
    let mut receiver = Command::new(std::env::current_exe().expect("this program"))
        .arg("--sink")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = [0; 64];
    let output = receiver.stdout.as_mut().expect("a pipe");
    let length = output.read(&mut line).expect("an address");
    let address = String::from_utf8_lossy(&line[..length]).trim().to_owned();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(bench(&address, calls.unwrap_or(200_000)));
    receiver.kill().expect("it runs");
    receiver.wait().expect("it ends");
}

async fn bench(address: &str, calls: usize) {
    let telemetry = Telemetry::start(&Options {
        endpoint: format!("http://{address}"),
        headers: Vec::new(),
        traces: true,
        metrics: true,
        logs: true,
        resource: vec![("service.name".into(), "bench".into())],
        metrics_interval: Duration::from_mins(1),
    })
    .expect("an address");
    let before = cpu_time();
    for number in 0..calls {
        observe(&telemetry);
        if number % BURST == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let observed = cpu_time();
    telemetry.close().await;
    let closed = cpu_time();
    let each = |time: Duration| time.as_nanos() as f64 / calls as f64;
    println!(
        "{:.0} ns of CPU a call",
        each(closed.saturating_sub(before))
    );
    println!(
        "{:.0} ns of it after the last call",
        each(closed.saturating_sub(observed))
    );
    println!("{:?}", telemetry.counts());
}

/// A call as a gateway has it: the context of the client is read, and the server is told the span.
fn observe(telemetry: &Telemetry) {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let trace = CallTrace::begin(SpanContext::parse(parent, None), None);
    let _told = std::hint::black_box(trace.traceparent());
    let exchange = Exchange {
        start: SystemTime::now(),
        duration: Duration::from_micros(700),
        version: Some("2025-11-25"),
        transport: Transport::Tcp,
        request_number: None,
        error: None,
    };
    telemetry.observe(&Call {
        trace: Some(&trace),
        method: "tools/call",
        target: Target::Tool("search_documents"),
        is_known_target: true,
        server: Some("documents"),
        caller: Some("key:ci"),
        session: Some("9f8e7d6c5b4a"),
        request_id: "42",
        activity_id: "01J9ZQ3V7M5K2N8P4R6T0W1X3Y",
        decision: "allowed",
        towards_client: exchange,
        towards_server: Some(Exchange {
            request_number: Some(1234),
            transport: Transport::Pipe,
            ..exchange
        }),
    });
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A receiver that takes everything and looks at nothing.
fn sink() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        std::thread::spawn(move || {
            let mut request = Vec::new();
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..read]);
                let head = request.windows(4).position(|four| four == b"\r\n\r\n");
                let Some(head) = head else { continue };
                let text = String::from_utf8_lossy(&request[..head]).to_lowercase();
                let length = text
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.and_then(|text| text.parse().ok()).unwrap_or(0);
                if request.len() >= head + 4 + length {
                    request.clear();
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    stream.write_all(answer).expect("it reads");
                }
            }
        });
    }
}
