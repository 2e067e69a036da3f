//! What is measured, and what stands behind it: an MCP server that answers at once, a proxy that only passes bytes
//! on, and the gateway.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use countersign_audit::Durability;
use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_gateway::Gateway;
use countersign_inspect::Mode;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, client, server};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use super::{CONNECTIONS, KEY, process};

const HELLO: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"score":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id","name"],"additionalProperties":false}},"total":{"type":"integer"}},"required":["items"],"additionalProperties":false}"#;

/// A result of about 1 KB that conforms to the schema.
static RESULT: LazyLock<String> = LazyLock::new(|| {
    let item =
        |n| format!(r#"{{"id":{n},"name":"item number {n}","score":{n}.5,"tags":["a","b"]}}"#);
    let items: Vec<String> = (0..14).map(item).collect();
    format!(
        r#"{{"content":[{{"type":"text","text":"14 items, see the structured content"}}],"structuredContent":{{"items":[{}],"total":14}}}}"#,
        items.join(",")
    )
});

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

/// The MCP server.
pub(crate) fn upstream() {
    let runtime = Runtime::new().expect("a runtime");
    let (address, listener) = runtime.block_on(bind());
    runtime.spawn(serve(listener, |stream| async move {
        let service = service_fn(|request: Request<Incoming>| async move {
            #[expect(clippy::disallowed_methods, reason = "limited")]
            let body = Limited::new(request.into_body(), 1 << 20).collect().await;
            Ok::<_, Infallible>(reply(&body.expect("a body").to_bytes()))
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

fn reply(body: &Bytes) -> Response<Full<Bytes>> {
    let text = std::str::from_utf8(body).expect("UTF-8");
    let number = |after: &str| {
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits
    };
    let id = text.split_once(r#""id":"#).map(|(_, after)| number(after));
    let mut response = Response::new(Full::default());
    let Some(id) = id else {
        *response.status_mut() = StatusCode::ACCEPTED;
        return response;
    };
    let result = if text.contains(r#""tools/call""#) {
        RESULT.clone()
    } else if text.contains(r#""initialize""#) {
        HELLO.to_owned()
    } else if text.contains(r#""tools/list""#) {
        format!(
            r#"{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{SCHEMA}}}]}}"#
        )
    } else {
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
    };
    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    *response.body_mut() = Full::new(message.into());
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// The leanest proxy: each connection of a client has one to the server, and bodies are passed through unread.
pub(crate) fn bare(upstream: &str) {
    let upstream: SocketAddr = upstream.parse().expect("an address");
    let runtime = Runtime::new().expect("a runtime");
    let (address, listener) = runtime.block_on(bind());
    runtime.spawn(serve(listener, move |stream| async move {
        let behind = TcpStream::connect(upstream).await.expect("it listens");
        behind.set_nodelay(true).expect("a socket");
        let (sender, connection) =
            client::conn::http1::handshake::<_, Incoming>(TokioIo::new(behind))
                .await
                .expect("a connection");
        tokio::spawn(connection);
        let sender = Arc::new(Mutex::new(sender));
        let service = service_fn(move |request: Request<Incoming>| {
            let sender = Arc::clone(&sender);
            async move {
                let mut sender = sender.lock().await;
                sender.ready().await?;
                sender.send_request(request).await
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
    server.max_concurrent_requests = CONNECTIONS;
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
