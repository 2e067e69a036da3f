//! A running gateway, asked over HTTP. One request a connection, blocking: a command asks once and prints. Which
//! gateway is said by the data directory, where one that runs leaves its address.

mod announcement;
mod stream;

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use countersign_config::{ApiKey, Config};
use countersign_gateway::{KeyError, stored_admin_key, stored_api_key};
use serde_json::Value;

use crate::report::Failure;

pub(crate) use announcement::{Announcement, announced};
pub(crate) use stream::Stream;

const CONNECT: Duration = Duration::from_secs(2);
/// Longer than any call may take by default.
const ANSWER: Duration = Duration::from_mins(3);
const MAX_BYTES: u64 = 64 << 20;
/// What to do about a key that is not the running gateway's.
const KEY_HINT: &str = "the key is the one in COUNTERSIGN_ADMIN_KEY or COUNTERSIGN_API_KEY, in the configuration, or in the data directory; name those of the running gateway with --config or --data-dir";

/// A gateway that can be asked.
#[derive(Debug)]
pub(crate) struct Remote {
    address: SocketAddr,
    key: ApiKey,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Remote {
    /// A gateway at a known place.
    pub(crate) fn new(address: SocketAddr, key: ApiKey) -> Self {
        Self { address, key }
    }

    /// The gateway that runs with this configuration; nothing if none does.
    pub(crate) fn find(config: &Config) -> Result<Option<Self>, Failure> {
        let announced = announced(&config.data_dir);
        let key = key_for(config, announced.is_some()).map_err(Failure::usage)?;
        let address = announced.unwrap_or(reachable(config.listen));
        let Some(key) = key else {
            return Ok(None);
        };
        let runs = TcpStream::connect_timeout(&address, CONNECT).is_ok();
        Ok(runs.then_some(Self { address, key }))
    }

    /// The same, where there is no doing without.
    pub(crate) fn require(config: &Config) -> Result<Self, Failure> {
        Self::find(config)?.ok_or_else(|| {
            let address = reachable(config.listen);
            Failure::unreachable(anyhow!("no gateway is running at {address}")).hint(
                "start one with `countersign serve`, or name its --config or --data-dir, or --demo",
            )
        })
    }

    /// What a resource of the REST interface says.
    pub(crate) fn get(&self, path: &str) -> Result<Answer, Failure> {
        self.ask("GET", path, b"")
    }

    /// Sends a message to an endpoint of the protocol.
    pub(crate) fn post(&self, path: &str, message: &[u8]) -> Result<Answer, Failure> {
        self.ask("POST", path, message)
    }

    fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Answer, Failure> {
        self.exchange(method, path, body)
            .with_context(|| format!("cannot ask the gateway at {}", self.address))
            .map_err(Failure::unreachable)
    }

    /// An answer as it comes. With a place, events go on after it.
    pub(crate) fn stream(&self, path: &str, after: Option<u64>) -> Result<Stream, Failure> {
        let header = after.map(|place| format!("Last-Event-ID: {place}\r\n"));
        let begin = || {
            let stream = self.send("GET", path, &header.unwrap_or_default(), b"")?;
            // A gateway with nothing to tell still says so now and then.
            Stream::begin(stream)
        };
        let (status, stream) = begin()
            .with_context(|| format!("cannot ask the gateway at {}", self.address))
            .map_err(Failure::unreachable)?;
        if status == 200 {
            return Ok(stream);
        }
        let body = stream.rest().unwrap_or_default();
        let refused = Answer { status, body }.json();
        Err(refused
            .err()
            .unwrap_or_else(|| Failure::unreachable(anyhow!("the answer is not a gateway's"))))
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, CONNECT)?;
        stream.set_read_timeout(Some(ANSWER))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            self.key.expose(),
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat())?;
        Ok(stream)
    }

    fn exchange(&self, method: &str, path: &str, body: &[u8]) -> io::Result<Answer> {
        let stream = self.send(method, path, "", body)?;
        let mut answer = Vec::new();
        stream.take(MAX_BYTES).read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Answer {
    /// The answer as JSON, if all went well.
    pub(crate) fn json(&self) -> Result<Value, Failure> {
        if self.status == 401 {
            let error = anyhow!("the gateway does not accept this key");
            return Err(Failure::usage(error).hint(KEY_HINT));
        }
        let value: Value = serde_json::from_slice(&self.body)
            .map_err(|_| Failure::unreachable(anyhow!("the answer is not a gateway's")))?;
        if self.status == 200 {
            return Ok(value);
        }
        let said = value["error"]
            .as_str()
            .unwrap_or("no reason given")
            .to_owned();
        Err(Failure::usage(anyhow!(
            "the gateway answered {}: {said}",
            self.status
        )))
    }
}

/// The gateway closes the connection, so the body is all that follows the head.
fn parse(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = answer.get(end + 4..)?.to_vec();
    Some(Answer { status, body })
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

/// An address to connect to, for one to listen on.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_taken_apart() {
        let answer =
            parse(b"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n{\"error\":\"no\"}").expect("one");
        assert_eq!(
            (answer.status, &answer.body[..]),
            (404, &b"{\"error\":\"no\"}"[..])
        );
        assert!(answer.json().is_err());
        assert!(parse(b"HTTP/1.1").is_none());
    }

    #[test]
    fn an_open_address_is_reached_by_loopback() {
        let reach = |text: &str| reachable(text.parse().expect("an address")).to_string();
        assert_eq!(reach("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(reach("[::]:80"), "[::1]:80");
        assert_eq!(reach("10.0.0.1:80"), "10.0.0.1:80");
    }
}
