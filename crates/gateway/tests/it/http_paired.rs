//! Servers over the transport before Streamable HTTP: one stream for what the server says, and an
//! address to post to.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use countersign_config::{Protocol, Server, Transport};
use countersign_fixture::span;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::{Rig, WAIT, refusal, result, text};

/// A body that is what comes through a channel; its end is the end of the stream.
struct Stream(mpsc::Receiver<Bytes>);

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The stream that is open, and everything that was posted.
#[derive(Default)]
struct State {
    stream: Mutex<Option<mpsc::Sender<Bytes>>>,
    posted: Mutex<Vec<String>>,
}

impl State {
    async fn say(&self, data: String) {
        let stream = self.stream.lock().expect("unpoisoned").clone();
        if let Some(stream) = stream {
            drop(stream.send(Bytes::from(data)).await);
        }
    }

    /// Ends the stream, as a server that restarts does.
    fn hang_up(&self) {
        self.stream.lock().expect("unpoisoned").take();
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Stream> {
        let (sender, receiver) = mpsc::channel(16);
        let mut response = Response::new(Stream(receiver));
        if request.method() == Method::GET {
            let endpoint = Bytes::from_static(b"event: endpoint\ndata: /messages?session=7\n\n");
            drop(sender.send(endpoint).await);
            *self.stream.lock().expect("unpoisoned") = Some(sender);
            let events = "text/event-stream".parse().expect("a value");
            response.headers_mut().insert(CONTENT_TYPE, events);
            return response;
        }
        assert_eq!(request.uri(), "/messages?session=7");
        *response.status_mut() = StatusCode::ACCEPTED;
        let mut body = Limited::new(request.into_body(), 1 << 20);
        let mut message = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            message.extend_from_slice(frame.data_ref().expect("data"));
        }
        self.posted.lock().expect("unpoisoned").push(text(&message));
        self.play(&message).await;
        response
    }

    async fn play(&self, message: &[u8]) {
        let Some(id) = span::member(message, "id").map(text) else {
            return;
        };
        let said = text(message);
        let result = if said.contains(r#""initialize""#) {
            r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}"#
        } else if said.contains(r#""tools/list""#) {
            r#"{"tools":[{"name":"ok","inputSchema":{"type":"object"}},{"name":"never","inputSchema":{"type":"object"}},{"name":"hang_up","inputSchema":{"type":"object"}}]}"#
        } else if said.contains(r#""name":"never""#) {
            return;
        } else if said.contains(r#""name":"hang_up""#) {
            return self.hang_up();
        } else {
            r#"{"content":[{"type":"text","text":"ok"}],"n": 1.0}"#
        };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.say(format!("event: message\ndata: {answer}\n\n"))
            .await;
    }
}

/// A server; it ends with the set.
async fn serve() -> (SocketAddr, Arc<State>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let state = Arc::new(State::default());
    let shared = Arc::clone(&state);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let state = Arc::clone(&shared);
            tokio::spawn(async move {
                let service = service_fn(|request| {
                    let state = Arc::clone(&state);
                    async move { Ok::<_, Infallible>(state.answer(request).await) }
                });
                drop(
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await,
                );
            });
        }
    });
    (address, state, tasks)
}

fn old(address: SocketAddr) -> Server {
    let transport = Transport::Http {
        url: format!("http://{address}/sse"),
        headers: BTreeMap::new(),
        protocol: Protocol::Sse,
    };
    Server::new("x".to_owned(), transport)
}

#[tokio::test]
async fn calls_are_posted_and_answered_by_the_stream() {
    let (address, state, _tasks) = serve().await;
    let rig = Rig::over(vec![old(address)]).await;
    let client = rig.client("/mcp/s/x");
    let (one, other) = tokio::join!(client.call("ok", "{}"), client.call("ok", "{}"));
    for answer in [one, other] {
        let answer = result(&answer.expect("an answer"));
        assert_eq!(
            answer,
            r#"{"content":[{"type":"text","text":"ok"}],"n": 1.0}"#
        );
    }
    let posted = state.posted.lock().expect("unpoisoned").join("\n");
    assert!(posted.contains("notifications/initialized"), "{posted}");
}

#[tokio::test]
async fn silence_ends_with_the_time_out_and_a_lost_stream_is_opened_again() {
    let (address, state, _tasks) = serve().await;
    let mut server = old(address);
    server.timeout = Some(Duration::from_secs(1));
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let late = client.call("never", "{}").await.expect("an answer");
    assert_eq!(
        refusal(&late),
        "the tool's server did not answer within 1000 ms; the call may have run, so check before you repeat it"
    );
    let told = async {
        while !state
            .posted
            .lock()
            .expect("unpoisoned")
            .concat()
            .contains("notifications/cancelled")
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT, told)
        .await
        .expect("it is cancelled");
    let lost = client.call("hang_up", "{}").await.expect("an answer");
    let expected = "the tool's server went away before it answered; the call may have run, so check before you repeat it";
    assert_eq!(refusal(&lost), expected);
    let back = client.call("ok", "{}").await.expect("an answer");
    assert!(result(&back).contains(r#""text":"ok""#));
}
