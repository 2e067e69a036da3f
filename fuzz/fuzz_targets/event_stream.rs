//! Any bytes as an event stream that arrives in pieces. The messages are those that a plain reading of the whole text
//! finds, however the text was cut, and none is larger than the limit allows.
//!
//! The first byte chooses the size of the pieces, the second the limit.

#![no_main]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use countersign_dial::{Budget, EventStream, ReadError};
use hyper::body::{Body, Frame};
use libfuzzer_sys::fuzz_target;

struct Pieces(VecDeque<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }
}

/// The data of each event, by the rules of the HTML standard.
fn messages(text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let (mut found, mut data, mut start, mut at) = (Vec::new(), None::<Vec<u8>>, 0, 0);
    while let Some(byte) = text.get(at) {
        if !matches!(byte, b'\r' | b'\n') {
            at += 1;
            continue;
        }
        let line = &text[start..at];
        at += if text[at..].starts_with(b"\r\n") {
            2
        } else {
            1
        };
        start = at;
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        if line.is_empty() {
            found.extend(data.take().filter(|data| !data.is_empty()));
        } else if name == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            }
        }
    }
    found
}

async fn read(text: &[u8], piece: usize, limit: usize) -> (Vec<Vec<u8>>, Result<(), ReadError>) {
    let pieces = text.chunks(piece).map(Bytes::copy_from_slice).collect();
    let mut stream = EventStream::new(Pieces(pieces), limit, Budget::new(64 << 20));
    let mut found = Vec::new();
    loop {
        match stream.next().await {
            Ok(Some(message)) => found.push(message.to_vec()),
            Ok(None) => return (found, Ok(())),
            Err(error) => return (found, Err(error)),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [piece, limit, text @ ..] = data else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().expect("a runtime");
    runtime.block_on(async {
        let wanted = messages(text);
        let (found, ended) = read(text, usize::from(*piece) + 1, usize::MAX / 2).await;
        assert_eq!((found, ended), (wanted.clone(), Ok(())));
        // Whatever the limit, what comes before the stream is given up is the same.
        let limit = usize::from(*limit) * 8;
        let (found, ended) = read(text, usize::from(*piece) + 1, limit).await;
        assert!(wanted.starts_with(&found));
        assert!(ended.is_err() || found.len() == wanted.len());
        assert!(
            found
                .iter()
                .all(|message| message.len() <= limit + limit / 8 + 1024)
        );
    });
});
