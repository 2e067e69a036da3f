//! An HTTP server for tests, which answers by a function and remembers what it was asked.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_dial::{Budget, gather, lock};
use countersign_oauth::{HttpClient, Reach};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST, LOCATION};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// What a peer was asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) authorization: String,
    pub(crate) body: String,
    /// The peer's own URL.
    pub(crate) base: String,
}

/// A status and a body; for a redirect, the body is the address.
pub(crate) type Answer = (u16, String);

pub(crate) struct Peer {
    pub(crate) url: String,
    questions: Arc<Mutex<Vec<Question>>>,
}

impl Peer {
    /// Starts a server that answers each question by `answer`.
    pub(crate) async fn start(
        answer: impl Fn(&Question) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let questions = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(answer);
        let seen = Arc::clone(&questions);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                let service = service_fn(move |request| {
                    let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                    async move {
                        let question = read(request).await;
                        lock(&seen).push(question.clone());
                        Ok::<_, Infallible>(respond(answer(&question)))
                    }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // The client may go away early, which is no failure of the test.
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        Self { url, questions }
    }

    /// What it was asked so far.
    pub(crate) fn questions(&self) -> Vec<Question> {
        lock(&self.questions).clone()
    }

    /// Method and path of what it was asked so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.questions().into_iter().map(|it| it.line).collect()
    }
}

async fn read(request: Request<Incoming>) -> Question {
    let header = |name| {
        let value = request.headers().get(name);
        value
            .map_or("", |value| value.to_str().unwrap_or(""))
            .to_owned()
    };
    let (authorization, host) = (header(AUTHORIZATION), header(HOST));
    let line = format!("{} {}", request.method(), request.uri());
    let body = gather(request.into_body(), 1 << 20, &Budget::new(1 << 20)).await;
    Question {
        line,
        authorization,
        body: String::from_utf8_lossy(&body.unwrap_or_default()).into_owned(),
        base: format!("http://{host}"),
    }
}

fn respond((status, body): Answer) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status);
    if (300..400).contains(&status) {
        response = response.header(LOCATION, &body);
    }
    response.body(Full::from(body)).expect("a response")
}

/// A client that may use loopback addresses.
pub(crate) fn client() -> HttpClient {
    HttpClient::new(Reach::PRIVATE)
}

/// The metadata of an authorization server at `base`, with changes to its members.
pub(crate) fn metadata(base: &str, changes: &serde_json::Value) -> Answer {
    let mut document = serde_json::json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "jwks_uri": format!("{base}/keys"),
        "code_challenge_methods_supported": ["S256"],
    });
    for (name, value) in changes.as_object().expect("an object") {
        document[name] = value.clone();
    }
    (200, document.to_string())
}
