//! The address that a browser comes back to: one request on 127.0.0.1. Whatever it says is passed on to the gateway, which
//! knows whether it belongs to a login.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::report::Failure;

/// As long as the gateway waits.
const PATIENCE: Duration = Duration::from_mins(10);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long one connection may take to send its request.
const REQUEST: Duration = Duration::from_secs(5);
/// The largest head of a request.
const MAX_HEAD: usize = 64 << 10;

const DONE: &str = "Logged in. You can close this window.";
const FAILED: &str = "The login failed. The terminal says why.";

/// A browser that came back and waits for a page.
#[derive(Debug)]
pub(super) struct Callback {
    stream: TcpStream,
    /// The query of its address.
    pub(super) query: String,
}

impl Callback {
    /// Waits for the browser. Requests for other addresses, such as an icon, are answered and forgotten.
    pub(super) fn wait(listener: &TcpListener) -> Result<Self, Failure> {
        listener.set_nonblocking(true).context("cannot listen")?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match listener.accept() {
                Ok((stream, _)) => {
                    if let Some(callback) = Self::read(stream) {
                        return Ok(callback);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK_AGAIN),
                Err(error) => return Err(anyhow!(error).context("cannot accept").into()),
            }
        }
        let error = anyhow!("the browser did not come back within ten minutes");
        Err(Failure::usage(error).hint("begin again with `countersign auth login`"))
    }

    fn read(mut stream: TcpStream) -> Option<Self> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(REQUEST)).ok()?;
        let mut head = Vec::new();
        let mut part = [0; 4096];
        while !head.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut part).ok()?;
            if read == 0 || head.len() > MAX_HEAD {
                return None;
            }
            head.extend_from_slice(part.get(..read)?);
        }
        let Some(query) = query_of(&head) else {
            respond(&mut stream, "404 Not Found", "Not found.");
            return None;
        };
        Some(Self { stream, query })
    }

    /// Shows the user how the login ended.
    pub(super) fn answer(mut self, is_done: bool) {
        let text = if is_done { DONE } else { FAILED };
        respond(&mut self.stream, "200 OK", text);
    }
}

/// The query of a request for the callback.
fn query_of(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix("/callback?")?;
    Some(query.to_owned())
}

fn respond(stream: &mut TcpStream, status: &str, text: &str) {
    let page =
        format!("<!doctype html><meta charset=utf-8><title>Countersign</title><p>{text}</p>");
    let length = page.len();
    // The address holds a code, so it must not travel on as a referrer, nor stay in a cache.
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
    );
    // A browser that has gone needs no page.
    drop(stream.write_all(head.as_bytes()));
    drop(stream.write_all(page.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::query_of;

    #[test]
    fn only_the_callback_has_a_query() {
        let query = |line: &str| query_of(format!("{line}\r\n\r\n").as_bytes());
        let found = query("GET /callback?code=a&state=b HTTP/1.1");
        assert_eq!(found.as_deref(), Some("code=a&state=b"));
        for other in [
            "GET /favicon.ico HTTP/1.1",
            "POST /callback?code=a HTTP/1.1",
            "GET /callback HTTP/1.1",
            "GET //callback?x HTTP/1.1",
        ] {
            assert_eq!(query(other), None, "{other}");
        }
    }
}
