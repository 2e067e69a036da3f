//! The body of an answer, read while it arrives: an export, or events. Only the part that is being read is held in memory.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use countersign_dial::Reply;
use http_body_util::BodyExt;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::ANSWER;

/// A line is no longer than this.
const MAX_LINE: u64 = 64 << 20;

/// The body of an answer. A read fails if the connection breaks, or if nothing arrives for a long time.
pub(crate) struct Body {
    reply: Reply,
    /// What has arrived and was not read yet.
    chunk: Bytes,
    runtime: Arc<Runtime>,
}

impl Body {
    pub(super) fn new(reply: Reply, runtime: Arc<Runtime>) -> Self {
        let chunk = Bytes::new();
        Self {
            reply,
            chunk,
            runtime,
        }
    }

    /// The next line without its end; nothing at the end of the body.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        self.take(MAX_LINE).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Some(text))
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunk.is_empty() {
            let next = async { timeout(ANSWER, self.reply.frame()).await };
            let Some(frame) = self.runtime.block_on(next)? else {
                break;
            };
            let frame = frame.map_err(io::Error::other)?;
            self.chunk = frame.into_data().unwrap_or_default();
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, amount: usize) {
        self.chunk.advance(amount);
    }
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
