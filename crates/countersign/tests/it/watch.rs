//! `activity watch` and a large `activity export`: what is read while it is written.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, ChildStdout};
use std::thread;

use countersign_audit::{Evidence, Kind, Options, Outcome, Record, Store};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, binary, preset};

/// A `watch` that has begun.
struct RunningWatch {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl RunningWatch {
    fn start(folder: &Folder, line: &str) -> Self {
        let mut command = binary();
        command
            .current_dir(folder.path())
            .args(["activity", "watch", "--data-dir", "data"]);
        let mut child = command
            .args(line.split_whitespace())
            .spawn()
            .expect("built");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut watching = Self {
            child,
            stdout,
            stderr,
        };
        assert_eq!(watching.said(), "watching; Ctrl-C to stop\n");
        watching
    }

    fn said(&mut self) -> String {
        line(&mut self.stderr)
    }

    fn next(&mut self) -> Value {
        let line = line(&mut self.stdout);
        serde_json::from_str(&line).expect(&line)
    }

    fn end(mut self) {
        assert_eq!(line(&mut self.stdout), "", "nothing more");
        assert!(self.child.wait().expect("it ends").success());
    }
}

#[expect(clippy::disallowed_methods, reason = "the peer is our own binary")]
fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("text");
    line
}

fn call(gateway: &RunningGateway, tool: &str) {
    let call =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
    gateway.curl("POST", "/mcp/s/x", &gateway.key(), &call);
}

#[test]
fn a_watch_goes_on_when_the_gateway_stops_and_another_starts() {
    let folder = Folder::over(&json!({"x": preset("demo", "strict")}), &[]);
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    call(&gateway, "conforming");
    let mut watching = RunningWatch::start(
        &folder,
        "-o json --type tool_call,policy_decision,system_stop,system_start -n 5",
    );
    call(&gateway, "bad_output");
    let first = watching.next();
    assert_eq!(
        (&first["type"], &first["tool"]),
        (&json!("tool_call"), &json!("bad_output"))
    );
    let second = watching.next();
    assert_eq!(second["parent_id"], first["id"]);
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    assert_eq!(
        watching.said(),
        "the gateway has stopped; watching its store\n"
    );
    assert_eq!(watching.next()["type"], "system_stop");
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    assert_eq!(watching.next()["type"], "system_start");
    call(&gateway, "text_only");
    assert_eq!(watching.next()["tool"], "text_only");
    watching.end();
}

/// A gateway that answers one request for events after the other with these lines; gives the heads of the requests.
fn scripted_gateway(folder: &Folder, streams: &'static [&str]) -> thread::JoinHandle<Vec<String>> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let address = listener.local_addr().expect("an address").to_string();
    let announced = data.join("address");
    std::fs::write(&announced, address).expect("a file");
    // As a gateway keeps it while it runs.
    let announced = std::fs::File::open(announced).expect("a file");
    announced.lock().expect("locked");
    let key = format!("cs_{}", "0".repeat(64));
    std::fs::write(data.join("api_key"), key).expect("a file");
    thread::spawn(move || {
        let _announced = announced;
        let mut heads = Vec::new();
        while let Some(text) = streams.get(heads.len()) {
            let (mut connection, _) = listener.accept().expect("a connection");
            let mut head = String::new();
            let mut reader = BufReader::new(connection.try_clone().expect("a socket"));
            while !head.ends_with("\r\n\r\n") && !line_into(&mut reader, &mut head).is_empty() {}
            // A connection without a request only finds out whether a gateway is there.
            if head.is_empty() {
                continue;
            }
            heads.push(head);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
                text.len()
            );
            connection.write_all(answer.as_bytes()).expect("it is read");
        }
        heads
    })
}

fn line_into(from: &mut impl BufRead, head: &mut String) -> String {
    let next = line(from);
    head.push_str(&next);
    next
}

/// A stream that the gateway closes because its reader is slow is not the end of the gateway.
#[test]
fn a_watch_that_was_too_slow_says_so_and_goes_on() {
    let folder = Folder::with(&[]);
    let gateway = scripted_gateway(
        &folder,
        &[
            ": from 3\n\n: too slow, so this stream ends; go on with Last-Event-ID: 7\nretry: 1000\n\n",
            ": from 7\n\nid: 8\nevent: activity\ndata: {\"seq\":8}\n\n",
        ],
    );
    let mut watching = RunningWatch::start(&folder, "-o json -n 1");
    assert_eq!(
        watching.said(),
        "the gateway closed the stream, since records came faster than they were read; going on where it ended\n"
    );
    assert_eq!(watching.next()["seq"], 8);
    watching.end();
    let heads = gateway.join().expect("it ends");
    let again = heads[1].to_ascii_lowercase();
    assert!(again.contains("last-event-id: 7\r\n"), "{again}");
}

#[test]
fn a_store_is_watched_without_a_gateway_too() {
    let folder = Folder::with(&[]);
    let data = folder.path().join("data");
    let store = Store::open(&Options::new(&data)).expect("opens");
    let write = |tool: &str| {
        let mut record = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
        record.tool = Some(tool.to_owned());
        let written = store.commit_blocking((), [record]);
        assert_eq!(written.evidence(), Evidence::Committed);
    };
    write("before");
    let mut watching = RunningWatch::start(&folder, "--tool after -n 1");
    write("other");
    write("after");
    let shown = line(&mut watching.stdout);
    assert!(
        shown.contains("tool_call        success    after"),
        "{shown}"
    );
    watching.end();
}

#[test]
fn an_export_costs_no_memory_however_much_there_is() {
    let folder = Folder::with(&[]);
    let store = Store::open(&Options::new(folder.path().join("data"))).expect("opens");
    for _ in 0..60 {
        let records: Vec<Record> = (0..500)
            .map(|_| {
                let mut record = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
                record.reason = Some("x".repeat(1000));
                record
            })
            .collect();
        let written = store.commit_blocking((), records);
        assert_eq!(written.evidence(), Evidence::Committed);
    }
    drop(store);
    let gateway = RunningGateway::start(&folder, "serve");
    // The first export warms caches; after it, how much there is must not matter.
    let first = folder.countersign("activity export --data-dir data --until 2000-01-01T00:00:00Z");
    assert_eq!((first.code, first.stdout.as_str()), (Some(0), ""));
    let before = crate::serve::peak_kilobytes(format!("/proc/{}/status", gateway.process()));
    let exported = folder.countersign("activity export --data-dir data --output all.jsonl");
    assert_eq!(exported.code, Some(0), "{exported}");
    assert!(
        exported.stderr.starts_with("wrote 3") && exported.stderr.ends_with(" MB to all.jsonl\n"),
        "{exported}"
    );
    let after = crate::serve::peak_kilobytes(format!("/proc/{}/status", gateway.process()));
    assert!(
        after - before < 10 * 1024,
        "{before} kB before, {after} kB after"
    );
    let lines = std::fs::read_to_string(folder.path().join("all.jsonl")).expect("a file");
    assert_eq!(
        lines.lines().count(),
        30_000 + 3,
        "with both starts and the first stop"
    );
    assert!(!folder.path().join("all.jsonl.part").exists());
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}
