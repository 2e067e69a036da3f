//! A legacy server over HTTP that keeps state for each session and asks its clients: what a session was told, what it may
//! be asked, the resources it watches. Written by hand, so that it shares nothing with the gateway.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_config::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The server; it ends with this.
pub(crate) struct Stateful {
    pub(crate) state: Arc<State>,
    serving: JoinHandle<()>,
}

impl Drop for Stateful {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What the server knows.
#[derive(Default)]
pub(crate) struct State {
    sessions: Mutex<HashMap<String, Session>>,
    issued: Mutex<u64>,
    /// Every message it was sent, with the session it came by.
    pub(crate) received: Mutex<Vec<(String, Value)>>,
}

#[derive(Default)]
struct Session {
    capabilities: Value,
    notes: Vec<String>,
    watched: HashSet<String>,
    stream: Option<mpsc::Sender<Value>>,
    waiting: HashMap<String, oneshot::Sender<Value>>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stateful {
    /// Starts it, and says how the gateway reaches it.
    pub(crate) async fn start(name: &str) -> (Self, Server) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        let serving = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(Connection::new(stream), Arc::clone(&serving)));
            }
        });
        let server = Server::http(name, format!("http://{address}/mcp"));
        let stateful = Self { state, serving };
        (stateful, server)
    }

    /// How many sessions are open.
    pub(crate) fn sessions(&self) -> usize {
        held(&self.state.sessions).len()
    }

    /// Forgets all sessions, as a server does that is started again.
    pub(crate) fn forget_sessions(&self) {
        held(&self.state.sessions).clear();
    }

    /// The messages of its clients that are like this, in the order in which they came.
    pub(crate) fn received(&self, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let received = held(&self.state.received);
        let messages = received.iter().map(|(_, message)| message);
        messages.filter(|message| is_it(message)).cloned().collect()
    }
}

/// A connection, and what was read of it too early.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// What a request says.
struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        // Without it small messages wait for an acknowledgement; the server works all the same.
        drop(stream.set_nodelay(true));
        let buffer = Vec::new();
        Self { stream, buffer }
    }

    async fn more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.buffer).await.ok()?;
        (read > 0).then_some(())
    }

    async fn request(&mut self) -> Option<Request> {
        let end = loop {
            let at = self
                .buffer
                .windows(4)
                .position(|window| window == b"\r\n\r\n");
            match at {
                Some(at) => break at + 4,
                None => self.more().await?,
            }
        };
        let rest = self.buffer.split_off(end);
        let head = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).ok()?;
        let mut request = Request {
            head,
            body: Vec::new(),
        };
        let length = request.header("content-length");
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        while self.buffer.len() < length {
            self.more().await?;
        }
        let rest = self.buffer.split_off(length);
        request.body = std::mem::replace(&mut self.buffer, rest);
        Some(request)
    }

    async fn plain(&mut self, status: u16, headers: &str, body: &str) -> Option<()> {
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(text.as_bytes()).await.ok()
    }

    /// Begins a stream of events.
    async fn begin_events(&mut self) -> Option<()> {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await.ok()
    }

    async fn event(&mut self, message: &Value) -> Option<()> {
        let event = format!("data: {message}\n\n");
        self.stream.write_all(event.as_bytes()).await.ok()
    }
}

async fn serve(mut connection: Connection, state: Arc<State>) -> Option<()> {
    loop {
        let request = connection.request().await?;
        let session = request
            .header("mcp-session-id")
            .unwrap_or_default()
            .to_owned();
        match request.head.split(' ').next() {
            Some("POST") => {
                let message: Value = serde_json::from_slice(&request.body).ok()?;
                held(&state.received).push((session.clone(), message.clone()));
                if message["method"] == "initialize" {
                    greet(&mut connection, &state, &message).await?;
                } else if message["method"] == "server/discover" {
                    connection.plain(400, "", "{}").await?;
                } else if !held(&state.sessions).contains_key(&session) {
                    connection.plain(404, "", "").await?;
                } else if message.get("id").is_none() {
                    connection.plain(202, "", "").await?;
                } else if message.get("method").is_none() {
                    state.answered(&session, message);
                    connection.plain(202, "", "").await?;
                } else {
                    return answer(connection, &state, &session, &message).await;
                }
            }
            Some("GET") if held(&state.sessions).contains_key(&session) => {
                let (sender, mut messages) = mpsc::channel(64);
                if let Some(session) = held(&state.sessions).get_mut(&session) {
                    session.stream = Some(sender);
                }
                connection.begin_events().await?;
                while let Some(message) = messages.recv().await {
                    connection.event(&message).await?;
                }
                return None;
            }
            Some("DELETE") => {
                held(&state.received).push((session.clone(), json!({"http": "DELETE"})));
                held(&state.sessions).remove(&session);
                connection.plain(200, "", "").await?;
            }
            _ => connection.plain(404, "", "").await?,
        }
    }
}

async fn greet(connection: &mut Connection, state: &State, message: &Value) -> Option<()> {
    let name = {
        let mut issued = held(&state.issued);
        *issued += 1;
        format!("session-{issued}")
    };
    let session = Session {
        capabilities: message["params"]["capabilities"].clone(),
        ..Session::default()
    };
    held(&state.sessions).insert(name.clone(), session);
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}, "prompts": {"listChanged": true}, "logging": {}},
        "serverInfo": {"name": "stateful", "version": "0"},
    });
    let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let header = format!("Mcp-Session-Id: {name}\r\n");
    connection.plain(200, &header, &reply.to_string()).await
}

impl State {
    fn with<T>(&self, session: &str, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        held(&self.sessions).get_mut(session).map(work)
    }

    fn answered(&self, session: &str, message: Value) {
        let id = message["id"].to_string();
        let waiting = self.with(session, |session| session.waiting.remove(&id));
        if let Some(waiting) = waiting.flatten() {
            drop(waiting.send(message));
        }
    }

    /// Says something on the session's own stream, once there is one.
    async fn say(&self, session: &str, message: Value) {
        loop {
            let stream = self.with(session, |session| session.stream.clone());
            match stream.flatten() {
                Some(stream) => return drop(stream.send(message).await),
                None => tokio::task::yield_now().await,
            }
        }
    }
}

/// Answers a request with a stream of events, on a connection that then ends.
async fn answer(
    mut connection: Connection,
    state: &State,
    session: &str,
    message: &Value,
) -> Option<()> {
    let result = match message["method"].as_str().unwrap_or_default() {
        "tools/list" => tools(state, session),
        "tools/call" => {
            connection.begin_events().await?;
            let text = call(&mut connection, state, session, &message["params"]).await?;
            let result = json!({"content": [{"type": "text", "text": text}]});
            let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            return connection.event(&reply).await;
        }
        "resources/list" => {
            let notes = state.with(session, |session| session.notes.clone())?;
            let notes = notes.iter().enumerate();
            let notes: Vec<Value> = notes
                .map(|(number, note)| json!({"uri": format!("note:{number}"), "name": note}))
                .collect();
            json!({"resources": notes})
        }
        "resources/subscribe" => {
            let uri = message["params"]["uri"].as_str()?.to_owned();
            state.with(session, |session| session.watched.insert(uri));
            json!({})
        }
        "resources/unsubscribe" => {
            let uri = message["params"]["uri"].as_str()?;
            state.with(session, |session| session.watched.remove(uri));
            json!({})
        }
        _ => json!({}),
    };
    let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    connection
        .plain(200, "Connection: close\r\n", &reply.to_string())
        .await
}

/// A client that can be asked is shown one tool more.
fn tools(state: &State, session: &str) -> Value {
    let capabilities = state.with(session, |session| session.capabilities.clone());
    let capabilities = capabilities.unwrap_or_default();
    let mut names = vec!["remember", "recall", "touch", "log"];
    if capabilities.as_object().is_some_and(|all| !all.is_empty()) {
        names.extend(["ask", "perform", "flood"]);
    }
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    json!({"tools": names.iter().map(tool).collect::<Vec<_>>()})
}

async fn call(
    connection: &mut Connection,
    state: &State,
    session: &str,
    params: &Value,
) -> Option<String> {
    let arguments = &params["arguments"];
    let text = arguments["text"].as_str().unwrap_or_default().to_owned();
    match params["name"].as_str()? {
        "remember" => {
            state.with(session, |session| session.notes.push(text))?;
            Some("ok".to_owned())
        }
        "recall" => state.with(session, |session| session.notes.join(",")),
        "touch" => {
            let is_watched = state.with(session, |session| session.watched.contains(&text))?;
            if is_watched {
                let method = "notifications/resources/updated";
                let update = json!({"jsonrpc": "2.0", "method": method, "params": {"uri": text}});
                state.say(session, update).await;
            }
            Some(is_watched.to_string())
        }
        "log" => {
            let method = "notifications/message";
            let params = json!({"level": "warning", "data": text});
            let log = json!({"jsonrpc": "2.0", "method": method, "params": params});
            state.say(session, log).await;
            Some("ok".to_owned())
        }
        "ask" => ask(connection, state, session, (arguments, &text)).await,
        "perform" => {
            let token = &params["_meta"]["progressToken"];
            perform(connection, state, session, (token, &text)).await
        }
        "flood" => {
            for number in 0..arguments["questions"].as_u64()? {
                let question = json!({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": {"message": "?"}});
                connection.event(&question).await?;
            }
            for _ in 0..arguments["updates"].as_u64()? {
                let update =
                    json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"});
                state.say(session, update).await;
            }
            Some("done".to_owned())
        }
        _ => None,
    }
}

/// Asks the client something: in the call, beside it, or only to withdraw it.
async fn ask(
    connection: &mut Connection,
    state: &State,
    session: &str,
    (arguments, text): (&Value, &str),
) -> Option<String> {
    // The same id in each session: the gateway has to keep them apart.
    let id = json!("question");
    let (sender, answer) = oneshot::channel();
    state.with(session, |session| {
        session.waiting.insert(id.to_string(), sender)
    });
    let method = arguments["method"].as_str().unwrap_or("elicitation/create");
    let properties = json!({"p": {"type": "string", "title": text, "description": text}});
    let mut params = json!({
        "message": text,
        "requestedSchema": {"type": "object", "properties": properties},
    });
    if method == "sampling/createMessage" {
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        params = json!({"messages": [message], "systemPrompt": text, "maxTokens": 1});
    }
    let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    if arguments["withdraw"] == true {
        state.say(session, question).await;
        for (method, params) in [
            (
                "notifications/cancelled",
                json!({"requestId": "question", "reason": text}),
            ),
            (
                "notifications/elicitation/complete",
                json!({"elicitationId": "e"}),
            ),
        ] {
            let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
            state.say(session, note).await;
        }
        return Some("withdrawn".to_owned());
    }
    if arguments["aside"] == true {
        state.say(session, question).await;
    } else {
        connection.event(&question).await?;
    }
    let answer = answer.await.ok()?;
    Some(answer.get("result").or(answer.get("error"))?.to_string())
}

/// Everything that a server says to one client: a report of progress and a question in the call, a message of the log and
/// news of a resource beside it.
async fn perform(
    connection: &mut Connection,
    state: &State,
    session: &str,
    (token, text): (&Value, &str),
) -> Option<String> {
    let note =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let progress = json!({"progressToken": token, "progress": 1, "message": text});
    connection
        .event(&note("notifications/progress", progress))
        .await?;
    let log = json!({"level": "warning", "data": text});
    state.say(session, note("notifications/message", log)).await;
    let update = json!({"uri": format!("note:{text}")});
    let update = note("notifications/resources/updated", update);
    state.say(session, update).await;
    let id = json!("question");
    let (sender, answer) = oneshot::channel();
    state.with(session, |session| {
        session.waiting.insert(id.to_string(), sender)
    });
    let params = json!({"message": text, "requestedSchema": {"type": "object", "properties": {}}});
    let question =
        json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
    connection.event(&question).await?;
    let answer = answer.await.ok()?;
    Some(answer.get("result")?.to_string())
}
