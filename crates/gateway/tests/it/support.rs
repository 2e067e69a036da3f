//! Starting gateways over scripted servers, and reading what they answer.

use std::path::Path;
use std::time::Duration;

use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_fixture::client::{Exchange, HttpClient, Response};
use countersign_fixture::http::{self, Format};
use countersign_fixture::{Entry, Log, Script, executable, span};
use countersign_gateway::Gateway;
use countersign_inspect::Mode;
use countersign_inspect::config::SanitiseMode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

/// Far longer than anything takes; reached only when a test fails.
pub(crate) const WAIT: Duration = Duration::from_mins(1);
pub(crate) const KEY: &str = "test-key";
pub(crate) const ADMIN_KEY: &str = "test-admin-key";
/// Stands at the top level of one reply of a preset. It is cut there: what is outside `result` and `error` is not inspected, and could
/// be a request to the client.
pub(crate) const FOREIGN: &str = r#""x-trace":{"id":7,"result":{}} , "#;

/// A gateway and the folder it keeps its state in.
pub(crate) struct Rig {
    pub(crate) gateway: Gateway,
    pub(crate) folder: TempDir,
}

/// A configuration for a gateway over these servers, on a free port.
pub(crate) fn config(folder: &Path, servers: Vec<Server>) -> Config {
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(KEY));
    config.admin_key = Some(ApiKey::new(ADMIN_KEY));
    folder.clone_into(&mut config.data_dir);
    config.call_tool_timeout = WAIT;
    config.servers = servers;
    config
}

impl Rig {
    /// A gateway over these servers, once all of them have been heard.
    pub(crate) async fn over(servers: Vec<Server>) -> Self {
        Self::with(servers, |_| {}).await
    }

    /// The same with a changed configuration.
    pub(crate) async fn with(servers: Vec<Server>, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = config(folder.path(), servers);
        change(&mut config);
        let gateway = Gateway::start(config).await.expect("the gateway starts");
        gateway.settled().await;
        Self { gateway, folder }
    }

    /// A gateway over these servers with the state of an earlier one.
    pub(crate) async fn within(folder: TempDir, servers: Vec<Server>) -> Self {
        Self::within_changed(folder, servers, |_| {}).await
    }

    /// The same with a changed configuration.
    pub(crate) async fn within_changed(
        folder: TempDir,
        servers: Vec<Server>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = config(folder.path(), servers);
        change(&mut config);
        let gateway = Gateway::start(config).await.expect("the gateway starts");
        gateway.settled().await;
        Self { gateway, folder }
    }

    /// A client of a path, with the key.
    pub(crate) fn client(&self, path: &str) -> HttpClient {
        self.stranger(path).with_header("X-API-Key", KEY)
    }

    /// A client of a path, with the admin key.
    pub(crate) fn admin(&self, path: &str) -> HttpClient {
        self.stranger(path).with_header("X-API-Key", ADMIN_KEY)
    }

    /// A client of a path, without the key.
    pub(crate) fn stranger(&self, path: &str) -> HttpClient {
        let url = format!("http://{}{path}", self.gateway.address());
        HttpClient::new(&url, WAIT).expect("a URL")
    }

    /// What the REST interface answers.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.client(path).send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, 200, "{}", text(&answer.body));
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// The records a query finds, newest first.
    pub(crate) async fn activities(&self, query: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/activity?{query}")).await;
        page["activities"].as_array().expect("a list").clone()
    }

    /// Waits until a query finds a record.
    pub(crate) async fn activity(&self, query: &str) -> Value {
        let found = async {
            loop {
                if let Some(found) = self.activities(query).await.into_iter().next() {
                    return found;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WAIT, found).await.expect("a record")
    }

    /// Waits until an operational event has been counted.
    pub(crate) async fn counted(&self, name: &str, at_least: u64) {
        let counted = async {
            loop {
                let counts = self.gateway.counts();
                let count = counts
                    .iter()
                    .find(|(key, _)| *key == name)
                    .expect("a counter")
                    .1;
                if count >= at_least {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WAIT, counted).await.expect(name);
    }
}

/// The fixture as a child process with these arguments.
pub(crate) fn fixture(name: &str, arguments: &[&str]) -> Server {
    let program = executable().expect("the fixture is built");
    let arguments = ["stdio"]
        .iter()
        .chain(arguments)
        .map(|text| (*text).to_owned());
    Server::stdio(name, program.to_str().expect("a path in UTF-8"), arguments)
}

/// A preset of the fixture.
pub(crate) fn preset(name: &str, preset: &str) -> Server {
    fixture(name, &["--preset", preset])
}

/// A script of the test's own; its file lives as long as the folder.
pub(crate) fn scripted(name: &str, script: &Script) -> (Server, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script.json");
    std::fs::write(&file, script.to_json()).expect("the script is written");
    let server = fixture(name, &["--script", file.to_str().expect("a path in UTF-8")]);
    (server, folder)
}

/// A script of the test's own over HTTP; the server lives as long as the second value.
pub(crate) async fn over_http(
    name: &str,
    script: Script,
    format: Format,
) -> (Server, http::Server) {
    let fixture = http::Server::start(script, format).await.expect("a port");
    (Server::http(name, fixture.url()), fixture)
}

/// The same, and what the server receives.
pub(crate) async fn logged_http(
    name: &str,
    script: Script,
    format: Format,
) -> (Server, http::Server, UnboundedReceiver<Entry>) {
    let (log, entries) = Log::channel();
    let fixture = http::Server::bind("127.0.0.1:0", script, format, log).await;
    let fixture = fixture.expect("a port");
    (Server::http(name, fixture.url()), fixture, entries)
}

/// Waits for an entry of a log.
pub(crate) async fn received(
    entries: &mut UnboundedReceiver<Entry>,
    is_it: impl Fn(&Entry) -> bool,
) -> Entry {
    let find = async {
        loop {
            let entry = entries.recv().await.expect("the server goes on");
            if is_it(&entry) {
                return entry;
            }
        }
    };
    tokio::time::timeout(WAIT, find).await.expect("an entry")
}

/// The next message of a stream.
pub(crate) async fn next_message(stream: &mut Exchange) -> Value {
    loop {
        let event = stream.event().await.expect("a stream").expect("an event");
        if !event.comment && !event.data.is_empty() {
            return serde_json::from_slice(&event.data).expect("JSON");
        }
    }
}

/// The fidelity preset with every byte of its odd escapes: control characters are cleaned from any
/// text, and here their spelling is the point.
pub(crate) fn unsanitised(mut server: Server) -> Server {
    let odd = server.tools.entry("odd_escapes".to_owned()).or_default();
    odd.sanitisation.mode = Some(SanitiseMode::Off);
    server
}

/// A server in strict mode.
pub(crate) fn strict(mut server: Server) -> Server {
    server.output.mode = Some(Mode::Strict);
    server
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The `result` member of an answer, as text for readable failures.
pub(crate) fn result(answer: &Response) -> String {
    let result = span::member(&answer.body, "result");
    text(result.unwrap_or_else(|| panic!("no result: {}", text(&answer.body))))
}

/// The text of the one block of an error result.
pub(crate) fn refusal(answer: &Response) -> String {
    let value: Value = serde_json::from_str(&result(answer)).expect("JSON");
    assert_eq!(value["isError"], true, "{value}");
    assert!(value.get("structuredContent").is_none(), "{value}");
    value["content"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

/// The code of an answer's error.
/// What an agent reads in place of a result that a stage blocked because of this rule.
pub(crate) fn blocked_text(stage: &str, rule: &str, tool: &str) -> String {
    let kind = countersign_inspect::describe_rule(rule);
    format!("blocked by policy: {stage} {rule} (tool {tool}): {kind}; retrying will not help")
}

pub(crate) fn error_code(answer: &Response) -> i64 {
    let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
    value["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error: {value}"))
}

/// Lets this process open as many files as it may: in tests, both ends of every connection are in it.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).expect("the limit can be raised to its maximum");
}
