//! What is measured, and what stands behind it: an MCP server that answers at once, a proxy that only passes bytes
//! on, and the gateway.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use countersign_audit::Durability;
use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_gateway::Gateway;
use countersign_inspect::Mode;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, client, server};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use super::messages::{Era, answer};
use super::{KEY, MOST_CONNECTIONS, process};

/// Serves a listener with a function from body to response.
async fn serve<F, S>(listener: TcpListener, service: S)
where
    S: Fn(TcpStream) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        tokio::spawn(service(stream));
    }
}

async fn bind() -> (SocketAddr, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    (listener.local_addr().expect("an address"), listener)
}

/// The MCP server, with `others` tools that are never called.
pub(crate) fn upstream(era: Era, others: &str) {
    let others: usize = others.parse().expect("a number");
    let runtime = Runtime::new().expect("a runtime");
    let (address, listener) = runtime.block_on(bind());
    runtime.spawn(serve(listener, move |stream| async move {
        let service = service_fn(move |request: Request<Incoming>| async move {
            #[expect(clippy::disallowed_methods, reason = "limited")]
            let body = Limited::new(request.into_body(), 1 << 20).collect().await;
            Ok::<_, Infallible>(reply(era, others, &body.expect("a body").to_bytes()))
        });
        let connection = server::conn::http1::Builder::new();
        drop(
            connection
                .serve_connection(TokioIo::new(stream), service)
                .await,
        );
    }));
    process::answer(address);
}

fn reply(era: Era, others: usize, body: &Bytes) -> Response<Full<Bytes>> {
    let text = std::str::from_utf8(body).expect("UTF-8");
    let mut response = Response::new(Full::default());
    match answer(era, others, text) {
        None => *response.status_mut() = StatusCode::ACCEPTED,
        Some(Err(())) => *response.status_mut() = StatusCode::BAD_REQUEST,
        Some(Ok(message)) => {
            *response.body_mut() = Full::new(message.into());
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
        }
    }
    response
}

/// What a proxy does with the bodies of requests and answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// Passes each part on as it comes.
    Unread,
    /// Reads each body whole before it is passed on, as a proxy must that judges it.
    Whole,
}

/// The leanest proxy: each connection of a client has one to the server.
pub(crate) fn bare(upstream: &str, bodies: Bodies) {
    let upstream: SocketAddr = upstream.parse().expect("an address");
    let runtime = Runtime::new().expect("a runtime");
    let (address, listener) = runtime.block_on(bind());
    runtime.spawn(serve(listener, move |stream| async move {
        let behind = TcpStream::connect(upstream).await.expect("it listens");
        behind.set_nodelay(true).expect("a socket");
        let (sender, connection) =
            client::conn::http1::handshake::<_, ProxyBody>(TokioIo::new(behind))
                .await
                .expect("a connection");
        tokio::spawn(connection);
        let sender = Arc::new(Mutex::new(sender));
        let service = service_fn(move |request: Request<Incoming>| {
            let sender = Arc::clone(&sender);
            async move {
                let (head, body) = request.into_parts();
                let request = Request::from_parts(head, bodies.pass(body).await?);
                let mut sender = sender.lock().await;
                sender.ready().await?;
                let (head, body) = sender.send_request(request).await?.into_parts();
                drop(sender);
                let body = bodies.pass(body).await?;
                Ok::<_, hyper::Error>(Response::from_parts(head, body))
            }
        });
        let connection = server::conn::http1::Builder::new();
        drop(
            connection
                .serve_connection(TokioIo::new(stream), service)
                .await,
        );
    }));
    process::answer(address);
}

type ProxyBody = Either<Incoming, Full<Bytes>>;

impl Bodies {
    async fn pass(self, body: Incoming) -> Result<ProxyBody, hyper::Error> {
        Ok(match self {
            Self::Unread => Either::Left(body),
            #[expect(clippy::disallowed_methods, reason = "the peers are this binary")]
            Self::Whole => Either::Right(Full::new(body.collect().await?.to_bytes())),
        })
    }
}

/// The gateway.
pub(crate) fn gateway(upstream: &str, mode: &str, durability: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let mode = match mode {
        "off" => Mode::Off,
        _ => Mode::Strict,
    };
    let mut server = Server::http("x", format!("http://{upstream}/mcp"));
    server.output.mode = Some(mode);
    server.input.mode = Some(mode);
    server.max_concurrent_requests = MOST_CONNECTIONS;
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(KEY));
    config.data_dir = folder.path().join("data");
    config.activity.durability = match durability {
        "commit" => Durability::Commit,
        _ => Durability::Async,
    };
    config.servers = vec![server];
    let runtime = Runtime::new().expect("a runtime");
    let gateway = runtime.block_on(async {
        let gateway = Gateway::start(config).await.expect("it starts");
        gateway.settled().await;
        gateway
    });
    process::answer(gateway.address());
}
