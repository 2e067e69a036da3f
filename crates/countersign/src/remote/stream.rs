//! An answer that is read while it is written: an export, or events. Its length is not known in advance, so it comes in
//! chunks, and one that ends without the last of them was broken off. Nothing is held but what is being read.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

/// The head of a response, and a line of a stream, at most.
const MAX_HEAD: u64 = 64 << 10;
const MAX_LINE: u64 = 64 << 20;

/// The body of a response, as it comes.
#[derive(Debug)]
pub(crate) struct Stream {
    chunks: BufReader<Chunks<BufReader<TcpStream>>>,
}

impl Stream {
    /// Reads the head; gives the status and the rest.
    pub(super) fn begin(connection: TcpStream) -> io::Result<(u16, Self)> {
        let mut reader = BufReader::new(connection);
        let status = head(&mut reader)?;
        let first = status.0;
        let chunks = Chunks {
            from: reader,
            left: 0,
            state: if status.1 {
                State::Between
            } else {
                State::UntilClose
            },
        };
        let chunks = BufReader::with_capacity(64 << 10, chunks);
        Ok((first, Self { chunks }))
    }

    /// The next line without its end; nothing at the end of the stream.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        line(&mut self.chunks, MAX_LINE)
    }

    /// What is left, if it is short.
    pub(super) fn rest(self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.chunks.take(MAX_HEAD).read_to_end(&mut rest)?;
        Ok(rest)
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.chunks.read(into)
    }
}

/// The status, and whether the body comes in chunks.
fn head(reader: &mut impl BufRead) -> io::Result<(u16, bool)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let first = line(reader, MAX_HEAD)?.ok_or_else(invalid)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut chunked = false;
    loop {
        let field = line(reader, MAX_HEAD)?.ok_or_else(invalid)?;
        if field.is_empty() {
            return Ok((status.ok_or_else(invalid)?, chunked));
        }
        let field = field.to_ascii_lowercase();
        chunked |= field.starts_with("transfer-encoding:") && field.ends_with("chunked");
    }
}

fn line(reader: &mut impl BufRead, limit: u64) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.take(limit).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(Some(text))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A chunk's length comes next.
    Between,
    Within,
    Ended,
    /// Not in chunks at all.
    UntilClose,
}

/// A body taken out of its chunks.
#[derive(Debug)]
struct Chunks<R> {
    from: R,
    left: u64,
    state: State,
}

impl<R: BufRead> Chunks<R> {
    fn next_chunk(&mut self) -> io::Result<()> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let length = line(&mut self.from, 64)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let length = length.split(';').next().unwrap_or_default().trim();
        self.left = u64::from_str_radix(length, 16).map_err(|_| invalid())?;
        self.state = State::Within;
        if self.left == 0 {
            // The empty line after the last chunk; we ask for no trailers.
            line(&mut self.from, MAX_HEAD)?;
            self.state = State::Ended;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.state == State::Between {
            self.next_chunk()?;
        }
        match self.state {
            State::UntilClose => self.from.read(into),
            State::Within => {
                let read = (&mut self.from).take(self.left).read(into)?;
                if read == 0 && !into.is_empty() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.left -= read as u64;
                if self.left == 0 {
                    line(&mut self.from, 2)?;
                    self.state = State::Between;
                }
                Ok(read)
            }
            State::Ended | State::Between => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(wire: &str) -> io::Result<String> {
        let mut reader = wire.as_bytes();
        let (_, chunked) = head(&mut reader)?;
        let state = if chunked {
            State::Between
        } else {
            State::UntilClose
        };
        let mut chunks = Chunks {
            from: reader,
            left: 0,
            state,
        };
        let mut body = String::new();
        chunks.read_to_string(&mut body)?;
        Ok(body)
    }

    #[test]
    fn chunks_are_joined_and_a_missing_end_is_noticed() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = format!("{head}5\r\nhello\r\nA;x=y\r\n, chunked!\r\n0\r\n\r\n");
        assert_eq!(read(&whole).expect("whole"), "hello, chunked!");
        for cut in head.len()..whole.len() - 4 {
            assert!(read(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(read(&format!("{head}zz\r\n")).is_err());
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(read(plain).expect("plain"), "hi");
    }
}
