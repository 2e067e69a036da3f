//! A stream of events, of which only the data matters: each is one message. Comments and unknown
//! fields are passed over; an event larger than a message may be ends the stream.

use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use memchr::memchr2;

use super::exchange::Fault;

/// Reads the messages of an event stream.
#[derive(Debug)]
pub(super) struct Events<B> {
    pub(super) body: B,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// The data lines of the event under way.
    data: Option<BytesMut>,
    /// The last line ended with a carriage return, so a line feed now is part of that end.
    after_return: bool,
    begun: bool,
    limit: usize,
}

impl<B: Body<Data = Bytes> + Unpin> Events<B> {
    pub(super) fn new(body: B, limit: usize) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            searched: 0,
            data: None,
            after_return: false,
            begun: false,
            limit,
        }
    }

    /// The next message; nothing at the end of the stream, where an unfinished event is none.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            while let Some(line) = self.line() {
                if line.is_empty() {
                    if let Some(data) = self.data.take() {
                        return Ok(Some(data.freeze()));
                    }
                } else if let Some(text) = data_of(&line) {
                    match &mut self.data {
                        Some(data) => {
                            data.extend_from_slice(b"\n");
                            data.extend_from_slice(text);
                        }
                        none => *none = Some(BytesMut::from(text)),
                    }
                }
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let frame = frame.map_err(|_| Fault::Closed)?;
            if let Ok(part) = frame.into_data() {
                self.add(&part)?;
            }
        }
    }

    fn add(&mut self, part: &[u8]) -> Result<(), Fault> {
        let held = self.data.as_ref().map_or(0, BytesMut::len) + self.buffer.len();
        // The names of the fields and the line ends come on top of the data.
        let most = self
            .limit
            .saturating_add(self.limit / 8)
            .saturating_add(1024);
        if held + part.len() > most {
            return Err(Fault::TooLarge);
        }
        self.buffer.extend_from_slice(part);
        Ok(())
    }

    /// The next line in the buffer, without its end.
    fn line(&mut self) -> Option<Bytes> {
        if self.after_return {
            if *self.buffer.first()? == b'\n' {
                self.buffer.advance(1);
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
fn data_of(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', data @ ..] | [b':', data @ ..] => Some(data),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::Frame;

    use super::*;

    struct Chunks(VecDeque<Bytes>);

    impl Body for Chunks {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|chunk| Ok(Frame::data(chunk))))
        }
    }

    async fn read(stream: &[u8], chunk: usize, limit: usize) -> Result<Vec<String>, Fault> {
        let chunks = stream.chunks(chunk).map(Bytes::copy_from_slice).collect();
        let mut events = Events::new(Chunks(chunks), limit);
        let mut all = Vec::new();
        while let Some(data) = events.next().await? {
            all.push(String::from_utf8_lossy(&data).into_owned());
        }
        Ok(all)
    }

    #[tokio::test]
    async fn messages_come_out_however_they_are_cut_and_ended() {
        let stream = "\u{feff}: hi\n\nid: 7\ndata: {\"a\":1}\n\ndata:one\r\ndata\r\ndata:  two\r\n\r\nretry: 5\rdata: x\r\rdatax: no\n\ndata: unfinished\n";
        for chunk in 1..=stream.len() {
            let all = read(stream.as_bytes(), chunk, 1000).await.expect("events");
            assert_eq!(all, ["{\"a\":1}", "one\n\n two", "x"], "{chunk}");
        }
    }

    #[tokio::test]
    async fn an_event_without_end_is_refused() {
        for endless in ["data: x\n".repeat(10_000), "x".repeat(10_000)] {
            assert_eq!(
                read(endless.as_bytes(), 100, 1000).await,
                Err(Fault::TooLarge)
            );
        }
        let many = "data: x\n\n".repeat(10_000);
        let all = read(many.as_bytes(), 100, 1000).await;
        assert_eq!(all.map(|all| all.len()), Ok(10_000));
    }
}
