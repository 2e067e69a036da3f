//! The three streams of an invocation. Data goes to stdout, everything else to stderr; colours only where a person looks.
//! A reader that leaves early (`| head`) is no error: what follows is dropped and the command runs to its verdict.

mod terminal;

use std::io::{self, BufWriter, IsTerminal, Read, Write};

use anyhow::Context;
use serde::Serialize;

use crate::report::Failure;
use terminal::TerminalFilter;

/// Where an invocation reads from and writes to.
pub struct Console<'a> {
    stdin: Box<dyn Read + 'a>,
    stdout: Output<'a>,
    stderr: Output<'a>,
    /// A person watches what is said.
    watched: bool,
}

/// One output stream and whether it may carry colours.
struct Output<'a> {
    stream: Box<dyn Write + 'a>,
    colour: bool,
    /// A terminal: what would steer it is made visible.
    filter: Option<TerminalFilter>,
    closed: bool,
}

impl<'a> Console<'a> {
    /// Streams in memory, without colours.
    pub fn new(stdin: impl Read + 'a, stdout: impl Write + 'a, stderr: impl Write + 'a) -> Self {
        Self {
            stdin: Box::new(stdin),
            stdout: Output::new(stdout, false),
            stderr: Output::new(stderr, false),
            watched: false,
        }
    }

    /// The streams of this process.
    pub fn process() -> Console<'static> {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|value| value != "dumb");
        let [is_terminal, watched] = [io::stdout().is_terminal(), io::stderr().is_terminal()];
        let mut stdout = Output::new(BufWriter::new(io::stdout()), colours && is_terminal);
        stdout.filter = is_terminal.then(TerminalFilter::default);
        Console {
            stdin: Box::new(io::stdin()),
            stdout,
            stderr: Output::new(io::stderr(), colours && watched),
            watched,
        }
    }

    /// What the caller pipes in.
    pub(crate) fn input(&mut self) -> &mut dyn Read {
        &mut self.stdin
    }

    /// Writes data. Names and texts in it are foreign, so a terminal is shown escapes instead of obeying them.
    pub(crate) fn data(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        let filtered = self.stdout.filter.as_mut();
        let filtered = filtered.map(|filter| filter.apply(bytes.as_ref()));
        self.raw_data(filtered.as_deref().unwrap_or(bytes.as_ref()))
    }

    /// Writes a value as a line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(value).map_err(anyhow::Error::from)?;
        line.push(b'\n');
        self.data(line)
    }

    fn raw_data(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stdout
            .write(bytes)
            .context("cannot write to stdout")
            .map_err(Failure::from)
    }

    /// Writes text that may be styled, as data.
    pub(crate) fn styled_data(&mut self, text: &clap::builder::StyledStr) -> Result<(), Failure> {
        let text = if self.stdout.colour {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        self.raw_data(text.as_bytes())
    }

    /// Writes a message for the person at the keyboard. A failure to write it is ignored: without stderr there is no way to report it.
    pub(crate) fn message(&mut self, text: impl AsRef<[u8]>) {
        drop(self.stderr.write(text.as_ref()));
    }

    /// Says how far something has got, in place of what was said last; only where a person watches. Nothing: done.
    pub(crate) fn progress(&mut self, text: &str) {
        if self.watched {
            self.message(format!("\r{text}\x1b[K"));
        }
    }

    /// Whether a person watches what is said.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Whether the reader of stdout has closed it.
    pub(crate) fn is_left(&self) -> bool {
        self.stdout.closed
    }

    /// Whether messages may carry colours.
    pub(crate) fn colours_messages(&self) -> bool {
        self.stderr.colour
    }

    /// Pushes out what is still buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout
            .flush()
            .context("cannot write to stdout")
            .map_err(Failure::from)
    }
}

impl std::fmt::Debug for Console<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Console")
            .field("colour_stdout", &self.stdout.colour)
            .field("colour_stderr", &self.stderr.colour)
            .finish_non_exhaustive()
    }
}

impl<'a> Output<'a> {
    fn new(stream: impl Write + 'a, colour: bool) -> Self {
        Self {
            stream: Box::new(stream),
            colour,
            filter: None,
            closed: false,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = self.stream.write_all(bytes);
        self.forgive_a_closed_pipe(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.stream.flush();
        self.forgive_a_closed_pipe(flushed)
    }

    fn forgive_a_closed_pipe(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}
