//! A new configuration while calls are under way: each call is held to one of them as a whole, nothing is lost, servers
//! that did not change stay, and what cannot be used changes nothing and says so.

mod access;
mod callers;
mod console;
mod console_sign_in;
mod issuers;
mod patch;
mod server_changes;
mod servers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_config::{ConfigLocation, LocationSource, Overrides, Source};
use countersign_fixture::client::request;
use countersign_fixture::{Answer, Body, LogListener, Script, Step, Tool, executable};
use countersign_gateway::Gateway;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{ADMIN_KEY, KEY, Rig, WAIT, raise_file_limit, text};

/// A configuration of the test's own, over these servers.
fn file(servers: &Value) -> Value {
    json!({
        "listen": "127.0.0.1:0",
        "api_key": KEY,
        "admin_key": ADMIN_KEY,
        "allow_api_commands": true,
        "call_tool_timeout": "1m",
        "mcpServers": servers,
    })
}

/// The fixture as a server of a file.
pub(crate) fn child(arguments: &[&str]) -> Value {
    let program = executable().expect("the fixture is built");
    let arguments: Vec<&str> = ["stdio"].iter().chain(arguments).copied().collect();
    json!({"command": program, "args": arguments})
}

/// A script as a server of a file.
fn scripted(folder: &Path, name: &str, script: &Script, log: Option<&LogListener>) -> Value {
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, script.to_json()).expect("the script is written");
    let path = path.to_str().expect("a path in UTF-8");
    match log {
        None => child(&["--script", path]),
        Some(log) => {
            let log = log.target().expect("an address");
            child(&["--script", path, "--log", &log])
        }
    }
}

/// A gateway that follows a file.
pub(crate) struct FileGateway {
    pub(crate) rig: Rig,
    file: PathBuf,
}

impl FileGateway {
    /// Over these servers, with other settings beside them.
    pub(crate) async fn over(folder: TempDir, servers: &Value, settings: &Value) -> Self {
        let mut config = file(servers);
        merge(&mut config, settings);
        let path = folder.path().join("c.json");
        std::fs::write(&path, config.to_string()).expect("written");
        let located = ConfigLocation {
            path: Some(path.clone()),
            source: LocationSource::Flag,
        };
        // A flag, because a variable of the process would win over the file, and all tests would share one store.
        let flags = Overrides {
            data_dir: Some(folder.path().join("data")),
            ..Overrides::default()
        };
        let opened = Source::from_located(&located, flags).open();
        let gateway = Gateway::start(opened.expect("a configuration")).await;
        let gateway = gateway.expect("the gateway starts");
        gateway.settled().await;
        let rig = Rig { gateway, folder };
        Self { rig, file: path }
    }

    fn read(&self) -> Value {
        let text = std::fs::read(&self.file).expect("a file");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Changes the file by a patch: who changes it by hand may find that it was read before it was asked for.
    async fn change(&self, change: &Value) -> Value {
        let (status, said) = self.patch(&change.to_string()).await;
        assert_eq!(status, 200, "{said}");
        said
    }

    /// Changes the file by hand and has it read. It may have been read before it was asked for.
    async fn edit(&self, change: &Value) {
        let mut file = self.read();
        merge(&mut file, change);
        std::fs::write(&self.file, file.to_string()).expect("written");
        let (status, said) = self.reload().await;
        assert_eq!(status, 200, "{said}");
    }

    async fn reload(&self) -> (u16, Value) {
        self.send("POST", "/api/v1/config/reload", "").await
    }

    async fn patch(&self, patch: &str) -> (u16, Value) {
        self.send("PATCH", "/api/v1/config", patch).await
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let answer = self.rig.admin(path).send(method, body.as_bytes()).await;
        let answer = answer.expect("an answer");
        let said = serde_json::from_slice(&answer.body);
        let said = said.unwrap_or_else(|_| panic!("not JSON: {}", text(&answer.body)));
        (answer.status, said)
    }

    async fn status(&self) -> Value {
        self.rig.get("/api/v1/status").await["config"].take()
    }

    /// The status of an answer to a stranger with this key.
    async fn admits(&self, key: &str) -> u16 {
        let client = self.rig.stranger("/api/v1/status");
        let answer = client.with_header("X-API-Key", key).send("GET", b"").await;
        answer.expect("an answer").status
    }

    fn count(&self, name: &str) -> u64 {
        let counts = self.rig.gateway.counts();
        let found = counts.iter().find(|(key, _)| *key == name);
        found.expect("a counter").1
    }
}

/// The changes, member by member.
fn merge(target: &mut Value, changes: &Value) {
    match (target, changes) {
        (Value::Object(target), Value::Object(changes)) => {
            for (key, change) in changes {
                if change.is_null() {
                    target.remove(key);
                } else {
                    merge(target.entry(key.clone()).or_insert(Value::Null), change);
                }
            }
        }
        (target, changes) => *target = changes.clone(),
    }
}

const CALLS: usize = 1000;
/// A result with a control token in its text that breaks its contract.
const RESULT: &str =
    r#"{"content":[{"type":"text","text":"a<|im_end|>b"}],"structuredContent":{"n":"x"}}"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;

/// Three settings that every call shows: in its reply, in its record, and in what is kept of it.
fn settings(strange: bool) -> Value {
    if strange {
        json!({"output_sanitisation": {"mode": "off"}, "output_validation": {"mode": "off"}, "activity": {"payloads": "full"}})
    } else {
        json!({"output_sanitisation": {"mode": "clean"}, "output_validation": {"mode": "warn"}, "activity": {"payloads": "none"}})
    }
}

/// Calls that run at the same time.
struct Calls(Vec<tokio::task::JoinHandle<(String, String)>>);

impl Calls {
    fn begin(rig: &Rig, tool: &str, name: &str) -> Self {
        let client = rig.client("/mcp/s/x");
        let one = |number: usize| {
            let (client, id) = (client.clone(), format!("{name}-{number}"));
            let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
            tokio::spawn(async move {
                let call = request(&format!("\"{id}\""), "tools/call", &params);
                let answer = client.post(&call).await.expect("an answer");
                (id, text(&answer.body))
            })
        };
        Self((0..CALLS).map(one).collect())
    }

    /// Waits for every reply, and says of each call which settings it was held to; a mixture fails.
    async fn held_to(self, rig: &Rig, name: &str) -> Vec<bool> {
        let mut replies = Vec::with_capacity(CALLS);
        for call in self.0 {
            replies.push(call.await.expect("no call is lost"));
        }
        let records = records(rig, name).await;
        assert_eq!(records.len(), CALLS, "every call has its record");
        let held = replies.iter().map(|(id, reply)| {
            let strange = reply.contains("a<|im_end|>b");
            assert!(
                strange || reply.contains("a(removed: control token)b"),
                "{reply}"
            );
            let record = records.iter().find(|record| record["request_id"] == **id);
            let record = record.unwrap_or_else(|| panic!("{id} is not recorded"));
            assert_eq!(record["status"], "success", "{record}");
            assert_eq!(
                record["mode"],
                if strange { "off" } else { "warn" },
                "{record}"
            );
            assert_eq!(!record["request"].is_null(), strange, "{record}");
            strange
        });
        held.collect()
    }
}

/// The records of calls whose ids start like this.
async fn records(rig: &Rig, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = rig
            .get(&format!(
                "/api/v1/activity?type=tool_call&limit=1000{cursor}"
            ))
            .await;
        let all = page["activities"].as_array().expect("a list").iter();
        let ours = all.filter(|record| {
            let id = record["request_id"].as_str().unwrap_or_default();
            id.starts_with(name)
        });
        found.extend(ours.cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

fn tools() -> Script {
    let result = || Step::Answer(Answer::result(Body::new(RESULT)));
    let slow = Tool::with_output_schema("slow", SCHEMA);
    let quick = Tool::with_output_schema("quick", SCHEMA);
    Script::new("x")
        .tool(slow.steps(vec![Step::DelayMs(1500), result()]))
        .tool(quick.steps(vec![Step::DelayMs(20), result()]))
}

#[tokio::test]
async fn a_request_is_decided_by_the_configuration_it_came_in_under() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = scripted(folder.path(), "x", &tools(), None);
    let following = FileGateway::over(folder, &json!({ "x": server }), &settings(true)).await;
    let rig = &following.rig;
    let params = r#"{"name":"quick","arguments":{}}"#;
    let call = request("\"early\"", "tools/call", params);
    let head = format!(
        "POST /mcp/s/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\nConnection: close\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        call.len()
    );
    let reply = async {
        let stream = TcpStream::connect(rig.gateway.address()).await;
        let mut stream = stream.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("sent");
        // The gateway asks for the body once it has admitted the request.
        let mut interim = *b"HTTP/1.1 000 Continue\r\n\r\n";
        stream.read_exact(&mut interim).await.expect("an answer");
        assert_eq!(text(&interim), "HTTP/1.1 100 Continue\r\n\r\n");
        following.change(&settings(false)).await;
        stream.write_all(&call).await.expect("sent");
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await.expect("a reply");
        text(&reply)
    };
    let reply = timeout(WAIT, reply).await.expect("in time");
    assert!(reply.contains("a<|im_end|>b"), "{reply}");
    assert_eq!(records(rig, "early").await[0]["mode"], "off");
    let later = rig.client("/mcp/s/x").call("quick", "{}").await;
    let later = text(&later.expect("an answer").body);
    assert!(later.contains("a(removed: control token)b"), "{later}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_in_flight_each_see_one_configuration() {
    raise_file_limit();
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = LogListener::bind().await.expect("a port");
    let mut server = scripted(folder.path(), "x", &tools(), Some(&log));
    server["max_concurrent_requests"] = json!(CALLS);
    server["queue_size"] = json!(CALLS);
    let following = FileGateway::over(folder, &json!({ "x": server }), &settings(true)).await;
    let rig = &following.rig;

    // All of them are with the server when the configuration changes, is broken, and is mended.
    let calls = Calls::begin(rig, "slow", "first");
    for _ in 0..CALLS {
        let is_call =
            |entry: &countersign_fixture::Entry| text(entry.body()).contains("tools/call");
        log.find(WAIT, is_call)
            .await
            .expect("the log")
            .expect("a call");
    }
    following.change(&settings(false)).await;
    let good = std::fs::read(&following.file).expect("a file");
    std::fs::write(&following.file, &good[1..]).expect("written");
    assert_eq!(following.reload().await.0, 400);
    std::fs::write(&following.file, &good).expect("written");
    assert_eq!(following.reload().await.0, 200);
    let held = calls.held_to(rig, "first").await;
    assert!(
        held.iter().all(|strange| *strange),
        "what was sent before is held to what held before"
    );

    // The configuration changes all the time, and a broken file comes in between.
    let stop = Arc::new(AtomicBool::new(false));
    let calls = Calls::begin(rig, "quick", "second");
    let changes = async {
        let mut changes = 0_u32;
        while !stop.load(Ordering::Relaxed) {
            let mut config = following.read();
            merge(&mut config, &settings(changes.is_multiple_of(2)));
            std::fs::write(&following.file, "{").expect("written");
            std::fs::write(&following.file, config.to_string()).expect("written");
            assert_eq!(following.reload().await.0, 200);
            changes += 1;
        }
        changes
    };
    let answered = async {
        let held = calls.held_to(rig, "second").await;
        stop.store(true, Ordering::Relaxed);
        held
    };
    let (changes, _) = tokio::join!(changes, answered);
    assert!(changes > 0);
    assert_eq!(following.count("server_starts"), 1, "the server stays");
    assert_eq!(following.count("unrecorded"), 0);
}

#[tokio::test]
async fn a_broken_file_changes_nothing_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let strict = json!({"output_validation": {"mode": "strict"}});
    let following = FileGateway::over(folder, &servers, &strict).await;
    let blocked = async || {
        let client = following.rig.client("/mcp/s/x");
        let answer = client.call("bad_output", "{}").await.expect("an answer");
        text(&answer.body).contains("output schema validation failed")
    };
    assert!(blocked().await);
    assert_eq!(following.status().await["errors"], json!([]));
    let good = std::fs::read_to_string(&following.file).expect("a file");
    // Found by itself, within a second.
    std::fs::write(&following.file, good.replace("strict", "strickt")).expect("written");
    following.rig.counted("config_refusals", 1).await;
    let status = following.status().await;
    let error = &status["errors"][0];
    let message = error["message"].as_str().expect("a message");
    let file = following.file.display().to_string();
    assert!(message.starts_with(&file), "{message}");
    assert!(
        message.ends_with("/output_validation/mode: unknown value \"strickt\""),
        "{message}"
    );
    assert_eq!(
        error["hint"],
        "did you mean \"strict\"? allowed: off, warn, strict"
    );
    assert_eq!(error["pointer"], "/output_validation/mode");
    assert!(blocked().await);
    let record = following
        .rig
        .activity("type=config_change&status=rejected")
        .await;
    assert_eq!(record["reason"], message);
    // Deleted, and back with something else.
    std::fs::remove_file(&following.file).expect("removed");
    following.rig.counted("config_refusals", 2).await;
    let status = following.status().await;
    let message = status["errors"][0]["message"].as_str().expect("a message");
    assert!(
        message.starts_with("cannot read the configuration file"),
        "{message}"
    );
    assert!(blocked().await);
    std::fs::write(&following.file, good.replace("strict", "off")).expect("written");
    following.rig.counted("config_reloads", 1).await;
    assert_eq!(following.status().await["errors"], json!([]));
    assert!(!blocked().await);
    let record = following
        .rig
        .activity("type=config_change&status=success")
        .await;
    assert_eq!(
        record["reason"],
        r#"changed: output_validation.mode "strict" -> "off""#
    );
    // What is the same is not news.
    let metrics = following.rig.client("/metrics").send("GET", b"").await;
    let metrics = text(&metrics.expect("an answer").body);
    assert!(
        metrics.contains("events_total{event=\"config_refusals\"} 2"),
        "{metrics}"
    );
    assert!(
        metrics.contains("events_total{event=\"config_reloads\"} 1"),
        "{metrics}"
    );
}

#[tokio::test]
async fn what_has_to_wait_is_named_and_the_rest_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let following = FileGateway::over(folder, &json!({}), &json!({})).await;
    let change =
        json!({"listen": "127.0.0.1:1", "activity": {"max_records": 5}, "routing_mode": "direct"});
    following.edit(&change).await;
    assert_eq!(
        following.status().await["needs_restart"],
        json!(["listen", "activity.max_records"])
    );
    let shown = following.rig.get("/api/v1/config").await;
    assert_eq!(shown["listen"], "127.0.0.1:0");
    assert_eq!(shown["routing_mode"], "direct");
    assert_eq!(shown["api_key"], "[redacted]");
    let back = json!({"listen": "127.0.0.1:0", "activity": {"max_records": null}});
    following.edit(&back).await;
    assert_eq!(following.status().await["needs_restart"], json!([]));
}

#[tokio::test]
async fn a_new_key_holds_for_the_next_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let following = FileGateway::over(folder, &json!({}), &json!({})).await;
    following
        .edit(&json!({"api_key": "another-key-0123"}))
        .await;
    assert_eq!(following.admits(KEY).await, 401);
    assert_eq!(following.admits("another-key-0123").await, 200);
}

#[tokio::test]
async fn a_variable_that_changed_in_the_env_file_holds_within_a_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir_all(&data).expect("a folder");
    let variables = data.join("env");
    std::fs::write(&variables, "IT_KEY=one-key-0123456789\n").expect("written");
    let key = json!({"api_key": "${env:IT_KEY}"});
    let following = FileGateway::over(folder, &json!({}), &key).await;
    assert_eq!(following.admits("one-key-0123456789").await, 200);

    std::fs::write(&variables, "IT_KEY=another-key-0123456789\n").expect("written");
    following.rig.counted("config_reloads", 1).await;
    assert_eq!(following.admits("one-key-0123456789").await, 401);
    assert_eq!(following.admits("another-key-0123456789").await, 200);

    // Without it the reference leads nowhere: what held goes on, and the reason is said.
    std::fs::remove_file(&variables).expect("removed");
    following.rig.counted("config_refusals", 1).await;
    assert_eq!(following.admits("another-key-0123456789").await, 200);
}
