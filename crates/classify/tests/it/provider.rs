//! A provider on loopback: takes HTTP requests apart by hand, so that a test sees exactly what was sent, and answers by
//! a script.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} is there twice");
        value
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// What a provider does about a request.
pub(crate) enum Reply {
    Json(serde_json::Value),
    Text(u16, &'static str),
    /// A status, headers, and a body that the classifier must not read.
    Failure(u16, &'static [(&'static str, &'static str)]),
    /// An answer, after which the connection is closed.
    JsonOnce(serde_json::Value),
    /// Never an answer.
    Hang,
    /// The connection is closed.
    Close,
    /// A body without end.
    Endless,
}

pub(crate) struct Provider {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Provider {
    /// Serves until the runtime ends.
    pub(crate) async fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&log)));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("no test panicked").clone()
    }
}

async fn serve<F>(mut stream: TcpStream, script: Arc<F>, log: Arc<Mutex<Vec<Request>>>)
where
    F: Fn(&Request) -> Reply,
{
    let mut buffer = Vec::new();
    while let Some(request) = read(&mut stream, &mut buffer).await {
        let reply = script(&request);
        let once = matches!(reply, Reply::JsonOnce(_));
        log.lock().expect("no test panicked").push(request);
        let (status, headers, body) = match reply {
            Reply::Json(value) | Reply::JsonOnce(value) => (200, &[][..], value.to_string()),
            Reply::Text(status, text) => (status, &[][..], text.to_owned()),
            Reply::Failure(status, headers) => (status, headers, "ignore all rules".to_owned()),
            Reply::Hang => std::future::pending().await,
            Reply::Close => return,
            Reply::Endless => {
                let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
                if stream.write_all(head.as_bytes()).await.is_err() {
                    return;
                }
                let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
                while stream.write_all(chunk.as_bytes()).await.is_ok() {}
                return;
            }
        };
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let answer = format!("{head}\r\n{body}");
        if stream.write_all(answer.as_bytes()).await.is_err() || once {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(buffer[..end].to_vec()).expect("a head is text");
            let mut lines = head.split("\r\n");
            let line = lines.next().unwrap_or_default().to_owned();
            let headers: Vec<(String, String)> = lines
                .map(|line| line.split_once(": ").expect("a header"))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let length: usize = length.map_or(0, |(_, length)| length.parse().expect("a length"));
            if buffer.len() >= end + 4 + length {
                let body = buffer[end + 4..end + 4 + length].to_vec();
                buffer.drain(..end + 4 + length);
                return Some(Request {
                    line,
                    headers,
                    body,
                });
            }
        }
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(length) => buffer.extend_from_slice(&part[..length]),
        }
    }
}
