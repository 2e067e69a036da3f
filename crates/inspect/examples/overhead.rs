//! One way through inspection, many times, for an instruction counter:
//!
//! ```text
//! valgrind --tool=callgrind target/release/examples/overhead off 1000 15000
//! ```
//!
//! Ways: `bare` reads the envelope and puts the client's id into the answer, as any proxy of raw
//! bytes must; `off` is the same through inspection in mode off; `undeclared` a tool without a
//! schema in mode warn; `strict` a conforming result in mode strict, all three without sanitising;
//! `clean` is `undeclared` with sanitising in its default mode. Then calls, then bytes.

#![expect(clippy::print_stderr, reason = "usage goes to stderr")]

use std::hint::black_box;
use std::process::ExitCode;

use bytes::Bytes;
use countersign_inspect::{
    Contract, Declaration, Framing, Mode, Policy, RawReply, Sanitisation, Screening, SkipReason,
    Source, ToolName, examine,
};
use countersign_tape::{ScanLimits, scan};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let (Some(way), Some(calls), Some(size)) = (arguments.first(), number(1), number(2)) else {
        eprintln!("usage: overhead bare|off|undeclared|strict|clean CALLS BYTES");
        return ExitCode::from(2);
    };
    let message = message(size);
    let policy = |mode| {
        let mut policy = Policy {
            sanitisation: Sanitisation::off(),
            ..Policy::default()
        };
        policy.output.mode = mode;
        policy.sanitisation = Sanitisation::off();
        policy
    };
    let schema =
        r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object"}}}}"#;
    let declared = Declaration::new(ToolName::new("t")).output_schema(schema);
    let declared = declared.capture(&Policy::default().output);
    let undeclared = Contract::undeclared(ToolName::new("t"));
    // Made once, as a gateway does.
    let [off, warn, strict] = [Mode::Off, Mode::Warn, Mode::Strict].map(policy);
    let clean = Policy::default();
    match way.as_str() {
        "bare" => repeat(calls, || bare(&message)),
        "off" => repeat(calls, || inspected(&message, &declared, &off)),
        "undeclared" => repeat(calls, || inspected(&message, &undeclared, &warn)),
        "strict" => repeat(calls, || inspected(&message, &declared, &strict)),
        "clean" => repeat(calls, || inspected(&message, &undeclared, &clean)),
        other => {
            eprintln!("unknown way: {other}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn repeat(calls: usize, mut call: impl FnMut()) {
    for _ in 0..calls {
        call();
    }
}

/// The least a proxy of raw bytes does with a response.
#[inline(never)]
fn bare(message: &Bytes) {
    let message = black_box(message).clone();
    let envelope = scan(&message, &ScanLimits::default()).expect("JSON");
    let id = envelope.id().expect("an id").range();
    let parts = vec![
        message.slice(..id.start),
        Bytes::copy_from_slice(b"42"),
        message.slice(id.end..),
    ];
    black_box(parts);
}

#[inline(never)]
fn inspected(message: &Bytes, contract: &Contract, policy: &Policy) {
    let source = Source {
        framing: Framing::Message,
        ..Source::default()
    };
    let raw = RawReply::new(black_box(message).clone(), source);
    let examined = examine(raw, contract, policy);
    let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
    black_box(inspected.message(&Bytes::from_static(b"42")));
}

/// Half of the bytes are text, half are structured.
fn message(size: usize) -> Bytes {
    let half = size / 2;
    let text = "a line of ordinary prose, ".repeat(half / 26 + 1);
    let items = vec![r#"{"id":7,"name":"item","price":2.5}"#; half / 35 + 1].join(",");
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"items":[{items}]}}}}}}"#)
        .into()
}
