//! Reads server-sent events. Each event's data is one message; comments and unknown fields are ignored, and
//! lines may end in CR, LF or CRLF. An event larger than the message limit ends the stream without being
//! buffered.

use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use memchr::memchr2;

use crate::budget::{Budget, Held};
use crate::gather::ReadError;

/// Reads the messages of an event stream.
#[derive(Debug)]
pub struct EventStream<B> {
    body: B,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// The data lines of the event under way.
    data: Data,
    /// The last line ended with a carriage return, so a line feed now is part of that end.
    after_return: bool,
    begun: bool,
    limit: usize,
    budget: Budget,
    held: Held,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// Nearly every event has one.
    One(Bytes),
    Many(BytesMut),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(line) => line.len(),
            Self::Many(lines) => lines.len(),
        }
    }

    fn add(&mut self, line: Bytes) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(line),
            Self::One(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + 1 + line.len());
                lines.extend_from_slice(&first);
                Self::joined(lines, &line)
            }
            Self::Many(lines) => Self::joined(lines, &line),
        };
    }

    fn joined(mut lines: BytesMut, line: &[u8]) -> Self {
        lines.extend_from_slice(b"\n");
        lines.extend_from_slice(line);
        Self::Many(lines)
    }

    fn take(&mut self) -> Option<Bytes> {
        match std::mem::take(self) {
            Self::None => None,
            Self::One(line) => Some(line),
            Self::Many(lines) => Some(lines.freeze()),
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> EventStream<B> {
    /// No message is larger than `limit`, and what is held of one is taken from `budget`.
    pub fn new(body: B, limit: usize, budget: Budget) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            searched: 0,
            data: Data::None,
            after_return: false,
            begun: false,
            limit,
            budget,
            held: Held::default(),
        }
    }

    /// The next message; nothing at the end of the stream, where an unfinished event is none.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        loop {
            while let Some(line) = self.line() {
                if line.is_empty() {
                    if let Some(data) = self.data.take() {
                        return Ok(Some(std::mem::take(&mut self.held).attach(data)));
                    }
                } else if let Some(data) = data_of(&line) {
                    self.data.add(data);
                }
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    /// The body, of which the messages wanted have been read.
    pub fn into_body(self) -> B {
        self.body
    }

    /// Reads on; false at the end.
    async fn more(&mut self) -> Result<bool, ReadError> {
        let Some(frame) = self.body.frame().await else {
            return Ok(false);
        };
        let frame = frame.map_err(|_| ReadError::Broken)?;
        if let Ok(data) = frame.into_data() {
            let length = self.data.len() + self.buffer.len() + data.len();
            // The names of the fields and the line ends come on top of the data.
            if length
                > self
                    .limit
                    .saturating_add(self.limit / 8)
                    .saturating_add(1024)
            {
                return Err(ReadError::TooLarge);
            }
            self.budget
                .cover(&mut self.held, length)
                .await
                .map_err(|_| ReadError::Busy)?;
            self.buffer.extend_from_slice(&data);
        }
        Ok(true)
    }

    /// The next line in the buffer, without its end.
    fn line(&mut self) -> Option<Bytes> {
        if self.after_return {
            match self.buffer.first() {
                None => return None,
                Some(b'\n') => self.buffer.advance(1),
                Some(_) => {}
            }
            self.after_return = false;
        }
        let unseen = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(end) = memchr2(b'\n', b'\r', unseen) else {
            self.searched = self.buffer.len();
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + end).freeze();
        self.after_return = self.buffer.first() == Some(&b'\r');
        self.buffer.advance(1);
        self.searched = 0;
        if !std::mem::replace(&mut self.begun, true) && line.starts_with("\u{feff}".as_bytes()) {
            line.advance(3);
        }
        Some(line)
    }
}

/// What a line adds to the data of its event.
fn data_of(line: &Bytes) -> Option<Bytes> {
    match line.strip_prefix(b"data")? {
        [] => Some(Bytes::new()),
        [b':', b' ', ..] => Some(line.slice(6..)),
        [b':', ..] => Some(line.slice(5..)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
