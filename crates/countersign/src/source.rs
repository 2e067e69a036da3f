//! An input named on the command line: a file, or stdin as `-`. Reads whole, up to a limit, and never guesses.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use countersign_tape::{Limits, ParseError, Tape};

use crate::Console;
use crate::report::Failure;

/// Four times the largest message the gateway takes. A device or a runaway pipe must not fill memory.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Far beyond any real document, and small enough that a pointer into it can still be printed.
const MAX_DEPTH: u32 = 10_000;

/// Where one input comes from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl From<OsString> for Source {
    fn from(argument: OsString) -> Self {
        if argument == "-" {
            Self::Stdin
        } else {
            Self::File(argument.into())
        }
    }
}

impl Source {
    /// A second reader of stdin would find it empty and give a wrong answer.
    pub(crate) fn stdin_at_most_once<'a>(
        sources: impl IntoIterator<Item = &'a Self>,
    ) -> Result<(), Failure> {
        let stdin = sources
            .into_iter()
            .filter(|source| matches!(source, Self::Stdin));
        if stdin.count() > 1 {
            let error = anyhow!("'-' is given more than once");
            return Err(Failure::usage(error)
                .hint("stdin can be read only once; put the other input into a file"));
        }
        Ok(())
    }

    /// The name as it was given. Not safe for a terminal until made printable.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Stdin => Cow::Borrowed("-"),
            Self::File(path) => path.to_string_lossy(),
        }
    }

    pub(crate) fn read(&self, console: &mut Console<'_>) -> Result<Vec<u8>, Failure> {
        let bytes = match self {
            Self::Stdin => capped(console.input()),
            Self::File(path) => File::open(path).and_then(capped),
        };
        let bytes = bytes
            .with_context(|| format!("cannot read {}", self.quoted()))
            .map_err(|error| Failure::usage(error).hint("check the path; '-' reads from stdin"))?;
        if bytes.len() > MAX_BYTES {
            let error = anyhow!("{} is larger than {} MiB", self.quoted(), MAX_BYTES >> 20);
            return Err(Failure::usage(error).hint("split it, or validate the part that matters"));
        }
        Ok(bytes)
    }

    /// The tape of what was read from here.
    pub(crate) fn parse<'a>(&self, bytes: &'a [u8]) -> Result<Tape<'a>, Failure> {
        let limits = Limits {
            max_bytes: MAX_BYTES,
            max_depth: MAX_DEPTH,
        };
        Tape::parse(bytes, &limits).map_err(|error| {
            let hint = next_step(&error, bytes);
            let error = anyhow!(error)
                .context(format!("{} is not JSON that can be checked", self.quoted()));
            Failure::usage(error).hint(hint)
        })
    }

    fn quoted(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => format!("'{}'", path.to_string_lossy()),
        }
    }
}

/// One byte over the limit shows that there is more.
fn capped(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn next_step(error: &ParseError, bytes: &[u8]) -> String {
    if error.is_too_deep() {
        return format!("at most {MAX_DEPTH} levels are read");
    }
    let before = bytes.get(..error.offset()).unwrap_or(bytes);
    let line = before.split(|&byte| byte == b'\n').count();
    let column = before
        .rsplit(|&byte| byte == b'\n')
        .next()
        .map_or(1, |last| last.len() + 1);
    format!("look at line {line}, column {column}")
}
