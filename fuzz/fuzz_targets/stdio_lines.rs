//! Any bytes as what a server writes to its standard output, read in pieces. Each line comes out once and in order: whole
//! if it is within the limit, otherwise refused.
//!
//! The first byte chooses the size of the pieces, the second the limit.

#![no_main]

use std::pin::Pin;
use std::task::{Context, Poll};

use countersign_dial::{Budget, Line, LineRefusal, Lines};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, ReadBuf};

struct Pieces<'a>(std::slice::Chunks<'a, u8>);

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        buffer.put_slice(self.0.next().unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

fuzz_target!(|data: &[u8]| {
    let [piece, limit, text @ ..] = data else {
        return;
    };
    let limit = usize::from(*limit) * 16;
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().expect("a runtime");
    runtime.block_on(async {
        let pieces = Pieces(text.chunks(usize::from(*piece) + 1));
        let mut lines = Lines::new(pieces, limit, Budget::new(64 << 20));
        let mut wanted: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let rest = wanted.pop().expect("at least one part");
        let mut wanted = wanted.into_iter();
        let mut has_refused_rest = false;
        loop {
            match lines.next().await.expect("a piece") {
                Line::Whole(line) => {
                    assert_eq!(wanted.next(), Some(&*line));
                    assert!(line.len() <= limit);
                }
                Line::Refused(why, _) => {
                    assert_eq!(why, LineRefusal::TooLarge);
                    match wanted.next() {
                        Some(line) => assert!(line.len() > limit),
                        None => has_refused_rest = true,
                    }
                }
                Line::End => break,
            }
        }
        assert_eq!(wanted.next(), None, "a line is missing");
        assert!(!has_refused_rest || rest.len() > limit);
        if let Some(left) = lines.rest() {
            assert_eq!(left, rest);
        }
    });
});
