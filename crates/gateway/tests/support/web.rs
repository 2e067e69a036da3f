//! A gateway over HTTP in front of two servers over HTTP, one of each era, that say what they are told. Real sockets on
//! both sides, one connection of the client that is used again and again.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_config::Server;
use countersign_gateway::Gateway;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use super::http1::{Connection, HttpMessage, events};
use super::rigs::config;
use super::server::{self, Greeting, ServerAction};

/// Longer than any answer takes; reached only when there is none.
const WAIT: Duration = Duration::from_secs(20);
/// The key of the gateway's clients.
pub(crate) const KEY: &str = "boundary-key";

/// What a server answers to a call: a status, a kind of body, and the body, with `@id` for the request's id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) status: u16,
    pub(crate) events: bool,
    pub(crate) body: Vec<u8>,
    /// Whether the server ends a stream with an answer that conforms.
    pub(crate) ends: bool,
}

/// One client, one gateway, two servers.
pub(crate) struct Web {
    gateway: SocketAddr,
    client: Option<Connection>,
    script: Arc<Mutex<Script>>,
    session: String,
    next: u64,
    _running: Gateway,
    _folder: TempDir,
}

impl Web {
    /// A gateway that has heard both servers, which say this about themselves, and a legacy session.
    pub(crate) async fn start(greeting: Greeting) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = Arc::new(Mutex::new(Script::default()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let servers = listener.local_addr().expect("an address");
        tokio::spawn(accept(listener, Arc::clone(&script), greeting.into()));
        let at = |name: &str| Server::http(name, format!("http://{servers}/{name}"));
        let running = Gateway::start(config(folder.path(), vec![at("legacy"), at("modern")]));
        let running = running.await.expect("a gateway");
        running.settled().await;
        let mut web = Self {
            gateway: running.address(),
            client: None,
            script,
            session: String::new(),
            next: 1,
            _running: running,
            _folder: folder,
        };
        let hello = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}"#;
        let answer = web.post("/mcp/s/legacy", "", hello).await;
        let session = answer.header("mcp-session-id").expect("a session");
        web.session = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-06-18\r\n");
        let level =
            br#"{"jsonrpc":"2.0","id":0,"method":"logging/setLevel","params":{"level":"debug"}}"#;
        let session = web.session.clone();
        web.post("/mcp/s/legacy", &session, level).await;
        web
    }

    /// The headers of the legacy session.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// What servers answer from now on.
    pub(crate) fn answer_with(&self, script: Script) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }

    /// Asks one of the servers a question, by number, and reads everything the gateway sends.
    pub(crate) async fn ask(
        &mut self,
        asked: u8,
        by_modern: bool,
        of_modern: bool,
    ) -> Vec<Vec<u8>> {
        self.next += 1;
        let name = if of_modern { "modern" } else { "legacy" };
        let (path, method, params) = asked_for(asked, name);
        let body = server::request(self.next, (method, &params), by_modern);
        let headers = if by_modern {
            let named = named(method, &params);
            format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{named}")
        } else {
            self.session.clone()
        };
        let received = self.post(&path, &headers, &body).await;
        messages(&received)
    }

    /// Everything that a client is told about the servers and their tools, at every endpoint.
    pub(crate) async fn told(&mut self) -> Vec<Vec<u8>> {
        let call = |name: &str, arguments: &str| {
            let params = format!(r#""name":"{name}","arguments":{{{arguments}}}"#);
            String::from_utf8_lossy(&server::request(1, ("tools/call", &params), false))
                .into_owned()
        };
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}"#;
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let questions = [
            ("/mcp/s/legacy", hello.to_owned()),
            ("/mcp/s/modern", hello.to_owned()),
            ("/mcp/s/legacy", list.to_owned()),
            ("/mcp/s/modern", list.to_owned()),
            ("/mcp/all", list.to_owned()),
            (
                "/mcp/call",
                call(
                    "retrieve_tools",
                    r#""query":"plain tool legacy","limit":50"#,
                ),
            ),
            (
                "/mcp/call",
                call("describe_tool", r#""name":"legacy:plain""#),
            ),
        ];
        let mut told = Vec::new();
        for (path, question) in questions {
            told.extend(messages(&self.post(path, "", question.as_bytes()).await));
        }
        told
    }

    /// Sends a body to the gateway and reads what comes back.
    pub(crate) async fn post(&mut self, path: &str, headers: &str, body: &[u8]) -> HttpMessage {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n",
            self.gateway,
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        let exchange = async {
            let mut client = match self.client.take() {
                Some(client) => client,
                None => Connection::new(
                    TcpStream::connect(self.gateway)
                        .await
                        .expect("the gateway listens"),
                ),
            };
            client.write(&request).await.expect("the gateway reads");
            let received = client.read().await.expect("the gateway answers");
            (client, received)
        };
        let (client, received) = tokio::time::timeout(WAIT, exchange)
            .await
            .expect("an answer in time");
        if received.ended && received.header("connection") != Some("close") {
            self.client = Some(client);
        }
        received
    }
}

/// What the gateway sent to its client, message by message; a body that is no message is none.
pub(crate) fn messages(received: &HttpMessage) -> Vec<Vec<u8>> {
    if received.is_stream() {
        return events(&received.body);
    }
    let is_json = received
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"));
    if is_json && !received.body.is_empty() {
        vec![received.body.clone()]
    } else {
        Vec::new()
    }
}

/// The path, method and `params` of a question; tools are called at every endpoint that has them.
fn asked_for(number: u8, server: &str) -> (String, &'static str, String) {
    let (method, params) = server::question(number);
    let tool = if number.is_multiple_of(2) {
        "plain"
    } else {
        "typed"
    };
    match (method, number / 8 % 4) {
        ("tools/call", 1) => (
            "/mcp/all".to_owned(),
            method,
            format!(r#""name":"{server}__{tool}","arguments":{{}}"#),
        ),
        ("tools/call", 2) => (
            "/mcp/call".to_owned(),
            method,
            format!(
                r#""name":"call_tool_read","arguments":{{"name":"{server}:{tool}","args":{{}}}}"#
            ),
        ),
        _ => (format!("/mcp/s/{server}"), method, params.to_owned()),
    }
}

/// The header that repeats what a modern request names.
fn named(method: &str, params: &str) -> String {
    let member = match method {
        "tools/call" | "prompts/get" => r#""name":""#,
        "resources/read" => r#""uri":""#,
        _ => return String::new(),
    };
    let name = params
        .split(member)
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    format!("Mcp-Name: {}\r\n", name.unwrap_or_default())
}

async fn accept(listener: TcpListener, script: Arc<Mutex<Script>>, greeting: Arc<Greeting>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = Connection::new(stream);
        tokio::spawn(serve(
            connection,
            Arc::clone(&script),
            Arc::clone(&greeting),
        ));
    }
}

async fn serve(mut connection: Connection, script: Arc<Mutex<Script>>, greeting: Arc<Greeting>) {
    while let Some(request) = connection.read().await {
        let modern = request.head.starts_with("POST /modern");
        let (status, kind, body) = match server::action_for(&request.body, modern, &greeting) {
            _ if !request.head.starts_with("POST") => (405, "text/plain", Vec::new()),
            ServerAction::Nothing => (202, "text/plain", Vec::new()),
            ServerAction::Answer(answer) => (200, "application/json", answer),
            ServerAction::Script(id) => {
                let script = script
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                let mut body = server::addressed(&script.body, id);
                if script.ends {
                    body.extend_from_slice(b"\n\ndata: ");
                    body.extend(server::harmless(id));
                    body.extend_from_slice(b"\n\n");
                }
                let kind = if script.events {
                    "text/event-stream"
                } else {
                    "application/json"
                };
                (script.status, kind, body)
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if connection
            .write(&[head.as_bytes(), &body].concat())
            .await
            .is_none()
        {
            return;
        }
    }
}
