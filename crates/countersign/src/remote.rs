//! The REST and MCP client of the commands: asks a running gateway, over the connections of `dial`. The calls block,
//! because a command asks once and prints. The data directory tells which gateway runs: it holds the gateway's address.

mod address;
mod announcement;
mod body;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use countersign_config::{ApiKey, Config};
use countersign_dial::{PinnedCertificate, Pool, Site};
use countersign_gateway::{KeyError, stored_admin_key, stored_api_key};
use http_body_util::Full;
use hyper::header::{ACCEPT, HeaderMap, HeaderName};
use hyper::{Method, Request};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::report::{Failure, printable};

pub(crate) use address::GatewayAddress;
pub(crate) use announcement::{Announcement, read_announcement};
pub(crate) use body::Body;

const CONNECT: Duration = Duration::from_secs(2);
/// Longer than any call may take by default.
const ANSWER: Duration = Duration::from_mins(3);
const MAX_BYTES: u64 = 64 << 20;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// What to do about a key that is not the running gateway's.
const KEY_HINT: &str = "the key is the one in COUNTERSIGN_ADMIN_KEY or COUNTERSIGN_API_KEY, in the configuration, or in the data directory; name those of the running gateway with --config or --data-dir";

/// A gateway that can be asked.
#[derive(Debug)]
pub(crate) struct Remote {
    address: GatewayAddress,
    pool: Arc<Pool>,
    /// The headers of every request, the key among them.
    headers: HeaderMap,
    runtime: Arc<Runtime>,
}

/// A response of the gateway.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Remote {
    /// A gateway at a known address. Over TLS it has to have the certificate in `certificate`: its own file, since the name in
    /// it is seldom that of the address.
    pub(crate) fn new(
        address: GatewayAddress,
        key: &ApiKey,
        certificate: Option<&Path>,
    ) -> Result<Self, Failure> {
        let url = address.url();
        let site = Site::new(&url, [("x-api-key", key.expose())]).map_err(Failure::usage)?;
        let Site {
            origin,
            mut headers,
            ..
        } = site;
        // Without it the gateway answers a message with JSON, never with an event stream.
        headers.remove(ACCEPT);
        let runtime = Builder::new_current_thread().enable_all().build();
        let mut pool = Pool::new(origin, 1);
        match (&address, certificate) {
            (GatewayAddress::Unix(path), _) => pool = pool.with_socket(path.clone()),
            (GatewayAddress::Https(_), Some(file)) => pool = pool.with_pinned(read_pinned(file)?),
            _ => {}
        }
        Ok(Self {
            address,
            pool: Arc::new(pool),
            headers,
            runtime: Arc::new(runtime.context("cannot start the runtime")?),
        })
    }

    /// The gateway that runs with this configuration; nothing if none does.
    pub(crate) fn find(config: &Config) -> Result<Option<Self>, Failure> {
        let announced = read_announcement(&config.data_dir);
        let key = key_for(config, announced.is_some()).map_err(Failure::usage)?;
        let address = announced.or_else(|| GatewayAddress::from_config(config));
        let (Some(key), Some(address)) = (key, address) else {
            return Ok(None);
        };
        let remote = Self::new(address, &key, config.tls.cert_file.as_deref())?;
        Ok(remote.is_listening().then_some(remote))
    }

    /// The same, where there is no doing without.
    pub(crate) fn require(config: &Config) -> Result<Self, Failure> {
        Self::find(config)?.ok_or_else(|| {
            let address = GatewayAddress::from_config(config);
            let address = address.map_or_else(String::new, |address| format!(" at {address}"));
            Failure::unreachable(anyhow!("no gateway is running{address}")).hint(
                "start one with `countersign serve`, or name its --config or --data-dir, or --demo",
            )
        })
    }

    /// Whether a connection can be made. The next request uses it.
    fn is_listening(&self) -> bool {
        let opened = self
            .runtime
            .block_on(async { timeout(CONNECT, self.pool.open()).await });
        matches!(opened, Ok(Ok(())))
    }

    /// Reads a resource of the REST interface.
    pub(crate) fn get(&self, path: &str) -> Result<Response, Failure> {
        self.ask(Method::GET, path, b"")
    }

    /// Sends a message to an endpoint of the protocol.
    pub(crate) fn post(&self, path: &str, message: &[u8]) -> Result<Response, Failure> {
        self.ask(Method::POST, path, message)
    }

    /// Removes a resource of the REST interface.
    pub(crate) fn delete(&self, path: &str) -> Result<Response, Failure> {
        self.ask(Method::DELETE, path, b"")
    }

    fn ask(&self, method: Method, path: &str, message: &[u8]) -> Result<Response, Failure> {
        let request = self.send(method, path, None, message);
        let answer = request.and_then(|(status, body)| Response::read(status, body));
        answer.map_err(|error| self.unreachable(error))
    }

    /// A resource that is read while it is written. With an event id, events begin after that one.
    pub(crate) fn stream(&self, path: &str, after: Option<u64>) -> Result<Body, Failure> {
        let sent = self.send(Method::GET, path, after, b"");
        let (status, body) = sent.map_err(|error| self.unreachable(error))?;
        if status == 200 {
            return Ok(body);
        }
        let answer = Response::read(status, body).map_err(|error| self.unreachable(error))?;
        Err(answer.json().err().unwrap_or_else(not_a_gateway))
    }

    fn send(
        &self,
        method: Method,
        path: &str,
        after: Option<u64>,
        message: &[u8],
    ) -> anyhow::Result<(u16, Body)> {
        let mut request = Request::new(Full::from(message.to_vec()));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse()?;
        request.headers_mut().clone_from(&self.headers);
        if let Some(event) = after {
            request.headers_mut().insert(LAST_EVENT_ID, event.into());
        }
        let sent = async { timeout(ANSWER, self.pool.send(request)).await };
        let (head, reply) = self.runtime.block_on(sent)??.into_parts();
        let body = Body::new(reply, Arc::clone(&self.runtime));
        Ok((head.status.as_u16(), body))
    }

    fn unreachable(&self, error: anyhow::Error) -> Failure {
        let asked = format!("cannot ask the gateway at {}", self.address);
        Failure::unreachable(error.context(asked))
    }
}

/// The certificate in a file.
fn read_pinned(file: &Path) -> Result<PinnedCertificate, Failure> {
    let read = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    let pinned = PinnedCertificate::from_pem(&read.map_err(Failure::usage)?);
    pinned.ok_or_else(|| Failure::usage(anyhow!("{} has no certificate", file.display())))
}

fn not_a_gateway() -> Failure {
    Failure::unreachable(anyhow!("the answer is not a gateway's"))
}

impl Response {
    fn read(status: u16, from: Body) -> anyhow::Result<Self> {
        let mut body = Vec::new();
        from.take(MAX_BYTES).read_to_end(&mut body)?;
        Ok(Self { status, body })
    }

    /// The answer as JSON, if all went well.
    pub(crate) fn json(&self) -> Result<Value, Failure> {
        if self.status == 401 {
            let error = anyhow!("the gateway does not accept this key");
            return Err(Failure::usage(error).hint(KEY_HINT));
        }
        let value: Value = serde_json::from_slice(&self.body).map_err(|_| not_a_gateway())?;
        if self.status == 200 {
            return Ok(value);
        }
        let said = value["error"]
            .as_str()
            .unwrap_or("no reason given")
            .to_owned();
        let failure = Failure::usage(anyhow!("the gateway answered {}: {said}", self.status));
        Err(match value["hint"].as_str() {
            Some(hint) => failure.hint(printable(hint)),
            None => failure,
        })
    }
}

/// The key to ask with: the admin key where a gateway has announced itself in the data directory, which only its owner
/// can write, and still runs; otherwise the clients' key, because another program may listen on the configured port.
pub(crate) fn key_for(config: &Config, is_announced: bool) -> Result<Option<ApiKey>, KeyError> {
    let stored =
        |given: &Option<ApiKey>, stored: fn(&Path) -> Result<Option<ApiKey>, KeyError>| match given
        {
            Some(key) => Ok(Some(key.clone())),
            None => stored(&config.data_dir),
        };
    if is_announced && let Some(key) = stored(&config.admin_key, stored_admin_key)? {
        return Ok(Some(key));
    }
    stored(&config.api_key, stored_api_key)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    /// A gateway that answers one request with these bytes and closes the connection.
    fn answering(bytes: String) -> Remote {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = [0; 4096];
            let read = stream.read(&mut request).expect("a request");
            assert!(request[..read].starts_with(b"GET /x HTTP/1.1\r\n"));
            stream.write_all(bytes.as_bytes()).expect("sent");
        });
        let key = ApiKey::new("k");
        Remote::new(GatewayAddress::Http(address), &key, None).expect("a client")
    }

    #[test]
    fn a_body_in_chunks_is_joined_and_a_missing_end_is_noticed() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunks = "5\r\n\"hell\r\nA;x=y\r\no chunked!\r\n1\r\n\"\r\n0\r\n\r\n";
        let whole = || answering(format!("{head}{chunks}"));
        let answer = whole().get("/x").expect("an answer");
        assert_eq!(answer.json().expect("JSON"), "hello chunked!");
        let mut streamed = whole().stream("/x", Some(7)).expect("a body");
        let line = streamed.line().map_err(|error| error.kind());
        assert_eq!(line, Err(std::io::ErrorKind::UnexpectedEof));
        for cut in [0, 3, 9, chunks.len() - 5] {
            let broken = answering(format!("{head}{}", &chunks[..cut]));
            assert!(broken.get("/x").is_err(), "{cut}");
        }
    }

    #[test]
    fn a_refusal_and_a_stranger_are_told_apart() {
        let refused = "HTTP/1.1 404 Not Found\r\nContent-Length: 14\r\n\r\n{\"error\":\"no\"}";
        let answer = answering(refused.to_owned()).get("/x").expect("an answer");
        assert_eq!(
            (answer.status, &answer.body[..]),
            (404, &refused.as_bytes()[46..])
        );
        assert!(answer.json().expect_err("refused").is_usage());
        let streamed = answering(refused.to_owned()).stream("/x", None);
        assert!(streamed.expect_err("refused").is_usage());
        assert!(answering("SSH-2.0-x\r\n".to_owned()).get("/x").is_err());
    }
}
