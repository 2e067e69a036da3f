//! Just enough HTTP/1.1 for both ends of an exchange: heads, lengths, chunks. Kept small and open so that one
//! connection serves many thousand exchanges a second.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request or a response that was read to its end, or as far as it came.
#[derive(Debug)]
pub(crate) struct HttpMessage {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// False for a stream of events that was still open when it fell silent.
    pub(crate) ended: bool,
}

impl HttpMessage {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}

/// A connection and what was read of it too early.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        drop(stream.set_nodelay(true));
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).await.ok()
    }

    /// The next message; nothing if the connection ends before it does.
    pub(crate) async fn read(&mut self) -> Option<HttpMessage> {
        let end = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let rest = self.buffer.split_off(end);
        let head = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).ok()?;
        let mut received = HttpMessage {
            head,
            body: Vec::new(),
            ended: true,
        };
        if received.header("transfer-encoding").is_some() {
            let patient = !received.is_stream();
            self.chunks(&mut received, patient).await?;
        } else {
            let length = received
                .header("content-length")
                .and_then(|it| it.parse().ok());
            let length = length.unwrap_or(0);
            while self.buffer.len() < length {
                self.more().await?;
            }
            let rest = self.buffer.split_off(length);
            received.body = std::mem::replace(&mut self.buffer, rest);
        }
        Some(received)
    }

    async fn chunks(&mut self, received: &mut HttpMessage, patient: bool) -> Option<()> {
        loop {
            let line = loop {
                if let Some(at) = find(&self.buffer, b"\r\n") {
                    break at;
                }
                if patient {
                    self.more().await?;
                } else if !self.more_soon().await? {
                    received.ended = false;
                    return Some(());
                }
            };
            let size = std::str::from_utf8(&self.buffer[..line]).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            while self.buffer.len() < line + 2 + size + 2 {
                self.more().await?;
            }
            received
                .body
                .extend_from_slice(&self.buffer[line + 2..line + 2 + size]);
            self.buffer.drain(..line + 2 + size + 2);
            if size == 0 {
                return Some(());
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.buffer).await.ok()?;
        (read > 0).then_some(())
    }

    /// Reads once more if something comes while everything else in the process has its turn; false if nothing does.
    async fn more_soon(&mut self) -> Option<bool> {
        for _ in 0..super::rigs::TURNS {
            match self.stream.try_read_buf(&mut self.buffer) {
                Ok(0) => return None,
                Ok(_) => return Some(true),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    tokio::task::yield_now().await;
                }
                Err(_) => return None,
            }
        }
        Some(false)
    }
}

/// The data of the events of a stream, each as one piece.
pub(crate) fn events(body: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut data: Option<Vec<u8>> = None;
    for line in body.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(text) = line.strip_prefix(b"data:") {
            let text = text.strip_prefix(b" ").unwrap_or(text);
            let data = data.get_or_insert_default();
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(text);
        }
    }
    events
}

/// The value of a header in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
