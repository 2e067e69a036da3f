//! Clients that call without pause until the gateway is gone, and remember every reply they got.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

/// Far longer than anything takes; reached only when a test fails.
const WAIT: Duration = Duration::from_mins(1);

/// Calls to the demo's tools, and the replies that arrived whole.
pub(crate) struct Load {
    address: String,
    key: String,
    path: &'static str,
    /// What makes the ids of this load unlike those of others.
    name: String,
    stop: AtomicBool,
    count: AtomicUsize,
    replies: Mutex<BTreeMap<String, &'static str>>,
}

impl Load {
    pub(crate) fn new(address: &str, key: String, path: &'static str, name: &str) -> Self {
        Self {
            address: address.to_owned(),
            key,
            path,
            name: name.to_owned(),
            stop: AtomicBool::new(false),
            count: AtomicUsize::new(0),
            replies: Mutex::default(),
        }
    }

    /// Calls from so many threads until told to stop or refused a connection, while `meanwhile` runs.
    pub(crate) fn run(&self, threads: usize, meanwhile: impl FnOnce()) {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for number in 0.. {
                        let tool = if number % 2 == 0 {
                            "bad_output"
                        } else {
                            "conforming"
                        };
                        let id = format!("{}-{thread}-{number}", self.name);
                        if self.stop.load(Ordering::Relaxed) || self.call(&id, tool).is_none() {
                            return;
                        }
                    }
                });
            }
            meanwhile();
            self.stop.store(true, Ordering::Relaxed);
        });
    }

    /// Waits until so many replies have come.
    pub(crate) fn reached(&self, replies: usize) {
        super::gateway::RunningGateway::wait_for(|| self.count.load(Ordering::Relaxed) >= replies);
    }

    /// The ids of all replies, and which tool was called.
    pub(crate) fn replies(self) -> BTreeMap<String, &'static str> {
        self.replies.into_inner().expect("no thread panicked")
    }

    fn call(&self, id: &str, tool: &'static str) -> Option<()> {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"{tool}"}}}}"#
        );
        let answer = self.exchange(&body)?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let reply: Value = serde_json::from_str(body).ok()?;
        assert_eq!(reply["id"], id);
        assert_eq!(
            reply["result"]["isError"] == true,
            tool == "bad_output",
            "{reply}"
        );
        let mut replies = self.replies.lock().expect("no thread panicked");
        replies.insert(id.to_owned(), tool);
        self.count.fetch_add(1, Ordering::Relaxed);
        Some(())
    }

    fn exchange(&self, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(WAIT)).ok()?;
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.path,
            self.address,
            self.key,
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

/// How many calls and how many decisions a log has for each request id.
pub(crate) fn counted(lines: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut calls: BTreeMap<String, String> = BTreeMap::new();
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let Some(request) = record["request_id"].as_str() else {
            continue;
        };
        let count = counts.entry(request.to_owned()).or_default();
        let id = record["id"].as_str().expect("an id").to_owned();
        if record["type"] == "tool_call" {
            count.0 += 1;
            calls.insert(id, request.to_owned());
        } else {
            count.1 += 1;
            let parent = record["parent_id"].as_str().expect("a decision has a call");
            assert_eq!(calls.get(parent).map(String::as_str), Some(request));
        }
    }
    counts
}

/// Every reply has its call, and its decision if it was blocked: each exactly once.
pub(crate) fn all_recorded(
    replies: &BTreeMap<String, &'static str>,
    counts: &BTreeMap<String, (usize, usize)>,
) {
    for (id, tool) in replies {
        let expected = (1, usize::from(*tool == "bad_output"));
        assert_eq!(counts.get(id), Some(&expected), "{id} {tool}");
    }
}
