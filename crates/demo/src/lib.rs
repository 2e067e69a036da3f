//! The small MCP server behind `countersign serve --demo`, over standard input and output.
//!
//! Its tools keep their contracts, break them, or carry an attack, each in one way. The server answers both eras of the
//! protocol, keeps no state and ends with its input.
//!
//! ```
//! let request = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"integer"}}"#;
//! let mut answers = Vec::new();
//! countersign_demo::serve(&request[..], &mut answers)?;
//! assert!(answers.ends_with(b"\"structuredContent\":42}}\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod protocol;
mod tools;

use std::io::{self, BufRead, BufReader, Read, Write};

pub use tools::{Tool, tools};

/// The name the server gives itself.
pub const NAME: &str = "countersign-demo";
/// What the server says about itself to clients.
pub const INSTRUCTIONS: &str = "A demonstration server. Some of its tools misbehave on purpose.";

/// A longer line ends the server.
const MAX_LINE: u64 = 16 << 20;

/// Answers the requests in `input`, one message a line, until it ends. A client that went away is not an error.
pub fn serve(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let tools = tools();
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == MAX_LINE {
            return Err(io::Error::other("a line is longer than 16 MiB"));
        }
        let Some(mut answer) = protocol::answer(&tools, &line) else {
            continue;
        };
        answer.push('\n');
        let written = output
            .write_all(answer.as_bytes())
            .and_then(|()| output.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
}
