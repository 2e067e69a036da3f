//! An authorization server and an MCP server that accepts its tokens only, on one port. Refresh tokens are valid once; one
//! that is used again ends the whole login, as such servers do.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use countersign_dial::{Budget, gather, lock};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The secret that shows wherever a token leaks.
pub(crate) const CANARY: &str = "canary-5d1f0c77";

/// What a server was asked: method and path, the `Authorization` header, the body.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) line: String,
    pub(crate) authorization: String,
    /// The session that it belongs to.
    pub(crate) session: String,
    pub(crate) body: String,
}

/// What the servers do, and what they know.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// Changes to the metadata of the authorization server; null removes a member.
    pub(crate) metadata: Value,
    /// Changes to the metadata of the resource.
    pub(crate) resource: Value,
    /// Answers paths with these, before anything else.
    pub(crate) answers: HashMap<String, (u16, String)>,
    /// How long tokens are valid, in seconds.
    pub(crate) expires_in: u64,
    /// Whether answers about tokens never leave: the server has done its part, and the client does not hear of it.
    pub(crate) withholds_tokens: bool,
    /// Whether the MCP server speaks the modern era. One of the legacy era keeps a session for each `initialize` then.
    pub(crate) era: ServerEra,
    /// What a call waits for before it is answered.
    pub(crate) gate: Option<Arc<Semaphore>>,
    /// The scope that a call needs.
    pub(crate) needs_scope: Option<&'static str>,
    /// Whether that scope is missed even if it was granted.
    pub(crate) misses_granted_scope: bool,
    /// Where challenges say that the metadata of the resource is; by default where it is.
    pub(crate) metadata_address: Option<String>,
    /// The client that may use `client_credentials`, with its secret.
    pub(crate) client: (&'static str, &'static str),
    valid: BTreeSet<String>,
    refresh: Option<String>,
    scope: String,
    challenge: String,
    issued: u32,
    sessions: u32,
    questions: Vec<Question>,
}

/// What the MCP server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEra {
    /// The legacy era, without sessions.
    Plain,
    /// The legacy era, with a session for each `initialize`.
    Sessions,
    Modern,
}

#[derive(Clone)]
pub(crate) struct Issuer {
    pub(crate) url: String,
    pub(crate) behaviour: Arc<Mutex<Behaviour>>,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let behaviour = Arc::new(Mutex::new(Behaviour {
            metadata: json!({}),
            resource: json!({}),
            answers: HashMap::new(),
            expires_in: 3600,
            withholds_tokens: false,
            era: ServerEra::Plain,
            gate: None,
            needs_scope: None,
            misses_granted_scope: false,
            metadata_address: None,
            client: ("robot", "s3cret/+"),
            valid: BTreeSet::new(),
            refresh: None,
            scope: String::new(),
            challenge: String::new(),
            issued: 0,
            sessions: 0,
            questions: Vec::new(),
        }));
        let issuer = Self { url, behaviour };
        let serving = issuer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let issuer = serving.clone();
                let service = service_fn(move |request| {
                    let issuer = issuer.clone();
                    async move { Ok::<_, Infallible>(issuer.respond(request).await) }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // The gateway may close a connection at any time.
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        issuer
    }

    pub(crate) fn mcp_url(&self) -> String {
        format!("{}/mcp", self.url)
    }

    /// Changes what the servers do from now on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut lock(&self.behaviour));
    }

    /// What the servers were asked.
    pub(crate) fn questions(&self) -> Vec<Question> {
        lock(&self.behaviour).questions.clone()
    }

    /// How often a token was asked for with this grant.
    pub(crate) fn count(&self, grant: &str) -> usize {
        let field = format!("grant_type={grant}");
        let questions = self.questions();
        let asked = questions.iter().filter(|it| it.line == "POST /token");
        asked.filter(|it| it.body.contains(&field)).count()
    }

    /// Accepts no token that was given out so far.
    pub(crate) fn revoke_access_tokens(&self) {
        self.change(|it| it.valid.clear());
    }

    /// What a user's browser does: the user agrees, and the browser comes back with this query.
    pub(crate) fn approve(&self, authorization_url: &str) -> String {
        let (address, query) = authorization_url.split_once('?').expect("a query");
        assert_eq!(address, format!("{}/authorize", self.url));
        let fields = fields(query);
        assert_eq!(fields["response_type"], "code");
        assert_eq!(fields["code_challenge_method"], "S256");
        let mut known = lock(&self.behaviour);
        known.challenge.clone_from(&fields["code_challenge"]);
        known.scope = fields.get("scope").cloned().unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("code", "code-1")
            .append_pair("state", &fields["state"])
            .append_pair("iss", &self.url);
        query.finish()
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let header = request.headers().get(AUTHORIZATION);
        let authorization = header.map_or("", |value| value.to_str().expect("text"));
        let authorization = authorization.to_owned();
        let line = format!("{} {}", request.method(), request.uri());
        let session = request.headers().get("mcp-session-id");
        let session = session.map_or("", |value| value.to_str().expect("text"));
        let session = session.to_owned();
        let body = gather(request.into_body(), 1 << 20, &Budget::new(1 << 20)).await;
        let body = String::from_utf8(body.expect("a body").to_vec()).expect("text");
        let question = Question {
            line,
            authorization,
            session,
            body,
        };
        let (is_withheld, gate) = {
            let mut known = lock(&self.behaviour);
            known.questions.push(question.clone());
            let is_withheld = question.line == "POST /token" && known.withholds_tokens;
            (is_withheld, known.gate.clone())
        };
        if let Some(gate) = gate.filter(|_| question.body.contains("tools/call")) {
            gate.acquire().await.expect("a gate").forget();
        }
        let answer = self.answer(&question);
        if is_withheld {
            std::future::pending::<()>().await;
        }
        answer
    }

    fn answer(&self, question: &Question) -> Response<Full<Bytes>> {
        let mut known = lock(&self.behaviour);
        if let Some((status, body)) = known.answers.get(&question.line) {
            return response(*status, body);
        }
        match question.line.as_str() {
            "GET /.well-known/oauth-protected-resource/mcp" => {
                let document = json!({
                    "resource": self.mcp_url(), "authorization_servers": [self.url], "scopes_supported": ["use"],
                });
                response(200, &merged(document, &known.resource))
            }
            "GET /.well-known/oauth-authorization-server" => {
                response(200, &merged(self.metadata(), &known.metadata))
            }
            "POST /register" => response(201, r#"{"client_id":"registered"}"#),
            "POST /token" => known.token(question),
            "POST /mcp" => self.mcp(&mut known, question),
            _ => response(404, "{}"),
        }
    }

    fn metadata(&self) -> Value {
        let url = &self.url;
        json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"),
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    fn mcp(&self, known: &mut Behaviour, question: &Question) -> Response<Full<Bytes>> {
        let token = question.authorization.strip_prefix("Bearer ");
        if !token.is_some_and(|token| known.valid.contains(token)) {
            let own = || format!("{}/.well-known/oauth-protected-resource/mcp", self.url);
            let metadata = known.metadata_address.clone().unwrap_or_else(own);
            let challenge = format!(r#"Bearer resource_metadata="{metadata}", scope="use""#);
            return challenged(401, &challenge);
        }
        let message: Value = serde_json::from_str(&question.body).expect("a message");
        let missing = known.needs_scope.filter(|scope| {
            let is_granted = known.scope.split(' ').any(|it| it == *scope);
            message["method"] == "tools/call" && (!is_granted || known.misses_granted_scope)
        });
        if let Some(scope) = missing {
            let challenge = format!(r#"Bearer error="insufficient_scope", scope="use {scope}""#);
            return challenged(403, &challenge);
        }
        let is_modern = known.era == ServerEra::Modern;
        let mut result = match message["method"].as_str() {
            Some("server/discover") if is_modern => json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            }),
            Some("initialize") if !is_modern => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "crm", "version": "1"},
            }),
            Some("tools/list") => {
                json!({"tools": [{"name": "ok", "inputSchema": {"type": "object"}}]})
            }
            Some("tools/call") => json!({"content": [{"type": "text", "text": "ok"}]}),
            Some("notifications/initialized" | "notifications/cancelled") => {
                return response(202, "");
            }
            _ => {
                let error = json!({"jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": -32601, "message": "unknown"}});
                return response(200, &error.to_string());
            }
        };
        if is_modern {
            result["resultType"] = json!("complete");
        }
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let mut answer = response(200, &answer.to_string());
        if known.era == ServerEra::Sessions && message["method"] == "initialize" {
            known.sessions += 1;
            let session = format!("session-{}", known.sessions);
            let session = session.parse().expect("a header");
            answer.headers_mut().insert("mcp-session-id", session);
        }
        answer
    }
}

impl Behaviour {
    fn token(&mut self, question: &Question) -> Response<Full<Bytes>> {
        let fields = fields(&question.body);
        let refused = |why: &str| response(400, &json!({"error": why}).to_string());
        match fields["grant_type"].as_str() {
            "authorization_code" => {
                let digest = Sha256::digest(fields["code_verifier"].as_bytes());
                if URL_SAFE_NO_PAD.encode(digest) != self.challenge || fields["code"] != "code-1" {
                    return refused("invalid_grant");
                }
                self.challenge.clear();
            }
            "refresh_token" => {
                if self.refresh.as_ref() != Some(&fields["refresh_token"]) {
                    // A used token came again, so an attacker may have a copy: the login ends for all holders.
                    self.refresh = None;
                    self.valid.clear();
                    return refused("invalid_grant");
                }
            }
            "client_credentials" => {
                let (id, secret) = self.client;
                let encode = |text: &str| {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                let pair = format!("{}:{}", encode(id), encode(secret));
                let pair = base64::engine::general_purpose::STANDARD.encode(pair);
                let in_form = fields.get("client_secret").is_some_and(|it| it == secret);
                if question.authorization != format!("Basic {pair}") && !in_form {
                    return response(401, &json!({"error": "invalid_client"}).to_string());
                }
            }
            other => panic!("unknown grant {other}"),
        }
        self.grant(fields["grant_type"] != "client_credentials")
    }

    fn grant(&mut self, with_refresh: bool) -> Response<Full<Bytes>> {
        self.issued += 1;
        let number = self.issued;
        let access = format!("{CANARY}-access-{number}");
        self.valid.insert(access.clone());
        let mut granted =
            json!({"access_token": access, "token_type": "Bearer", "expires_in": self.expires_in});
        if with_refresh {
            let refresh = format!("{CANARY}-refresh-{number}");
            granted["refresh_token"] = json!(refresh);
            self.refresh = Some(refresh);
        }
        response(200, &granted.to_string())
    }
}

fn fields(query: &str) -> HashMap<String, String> {
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

fn merged(mut document: Value, changes: &Value) -> String {
    for (name, value) in changes.as_object().expect("an object") {
        document[name] = value.clone();
    }
    document.to_string()
}

fn response(status: u16, body: &str) -> Response<Full<Bytes>> {
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    if (300..400).contains(&status) {
        response = response.header(LOCATION, body);
    }
    let body = Full::from(body.to_owned());
    response.body(body).expect("a response")
}

fn challenged(status: u16, challenge: &str) -> Response<Full<Bytes>> {
    let mut response = response(status, "{}");
    let value = challenge.parse().expect("a header");
    response.headers_mut().insert(WWW_AUTHENTICATE, value);
    response
}
