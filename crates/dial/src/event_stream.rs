//! Reads server-sent events. Each event's data is one message; an event without data is none. The stream also says
//! where it can be resumed (`id`) and how long to wait before that (`retry`). Comments and unknown fields are ignored, and
//! lines may end in CR, LF or CRLF. An event larger than the message limit ends the stream without being buffered.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::header::HeaderValue;
use memchr::memchr2;

use crate::budget::{Budget, MemoryReservation};
use crate::gather::ReadError;

/// An id that is longer is not kept: it is sent back to the server in a header.
const MAX_ID_BYTES: usize = 1024;

/// Where a stream that has ended can be resumed, and when.
#[derive(Clone, Debug, Default)]
pub struct ResumePoint {
    /// The id of the last whole event that had one, as the value of a `Last-Event-ID` header. Nothing if the server
    /// took it back with an empty id, or sent one that is too long or that no header can carry.
    pub last_event_id: Option<HeaderValue>,
    /// How long the server wants its client to wait before it connects again.
    pub retry: Option<Duration>,
}

/// Reads the messages of an event stream.
#[derive(Debug)]
pub struct EventStream<B> {
    body: B,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// The data lines of the event under way.
    data: Data,
    /// The id that holds once the event under way is whole: its own, or the one before.
    id: Option<HeaderValue>,
    resume_point: ResumePoint,
    /// The last line ended with a carriage return, so a line feed now is part of that end.
    after_return: bool,
    begun: bool,
    limit: usize,
    budget: Budget,
    held: MemoryReservation,
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
            id: None,
            resume_point: ResumePoint::default(),
            after_return: false,
            begun: false,
            limit,
            budget,
            held: MemoryReservation::default(),
        }
    }

    /// The next message; nothing at the end of the stream, where an unfinished event is none.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        loop {
            while let Some(line) = self.line() {
                if !line.is_empty() {
                    self.read_field(&line);
                } else if let Some(message) = self.end_event() {
                    return Ok(Some(message));
                }
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    /// The same stream, as one that goes on where another ended.
    #[must_use]
    pub fn resumed_from(mut self, point: ResumePoint) -> Self {
        self.id.clone_from(&point.last_event_id);
        self.resume_point = point;
        self
    }

    /// Where the stream can be resumed, as far as it has been read.
    pub fn resume_point(&self) -> &ResumePoint {
        &self.resume_point
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

    fn read_field(&mut self, line: &Bytes) {
        if let Some(data) = field(line, "data") {
            self.data.add(data);
        } else if let Some(id) = field(line, "id") {
            self.id = header_value(&id);
        } else if let Some(millis) = field(line, "retry") {
            let retry = &mut self.resume_point.retry;
            *retry = duration(&millis).or(*retry);
        }
    }

    /// Ends the event under way; its message, if it has one.
    fn end_event(&mut self) -> Option<Bytes> {
        self.resume_point.last_event_id.clone_from(&self.id);
        let data = self.data.take().filter(|data| !data.is_empty())?;
        Some(std::mem::take(&mut self.held).attach(data))
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

/// The value of a line that is a field of this name.
fn field(line: &Bytes, name: &str) -> Option<Bytes> {
    match line.strip_prefix(name.as_bytes())? {
        [] => Some(Bytes::new()),
        [b':', b' ', ..] => Some(line.slice(name.len() + 2..)),
        [b':', ..] => Some(line.slice(name.len() + 1..)),
        _ => None,
    }
}

/// An id that can be sent back to the server. Copied, because a slice would keep the whole buffer.
fn header_value(id: &[u8]) -> Option<HeaderValue> {
    let sendable = !id.is_empty() && id.len() <= MAX_ID_BYTES;
    sendable.then(|| HeaderValue::from_bytes(id).ok())?
}

/// A number of milliseconds. Anything but digits is none; too many digits are the longest time there is.
fn duration(millis: &[u8]) -> Option<Duration> {
    if millis.is_empty() || !millis.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let millis = std::str::from_utf8(millis).ok()?.parse();
    Some(Duration::from_millis(millis.unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests;
