//! `countersign activity export`: every matching record, oldest first, to stdout or a file. A file is there as a whole or
//! not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_audit::{ExportFormat, Filter, Timestamp};

use super::GatewayOption;
use super::filter::{Pairs, RecordFilter, TimeRange};
use super::log::Log;
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity export > activity.jsonl
  countersign activity export -o csv > activity.csv
  countersign activity export --format csv --since 7d --output week.csv
  countersign activity export --format sarif --decision blocked --output findings.sarif";
/// Words that name a format after `-o`, as they do after the `-o` of other commands; the last two are refused by name.
const FORMATS: [&str; 5] = ["jsonl", "csv", "sarif", "json", "text"];
/// How often progress is shown.
const PACE: Duration = Duration::from_millis(100);

/// Write every matching record as JSON lines, CSV or SARIF
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How records are written: jsonl (the default), csv or sarif
    #[arg(long)]
    format: Option<String>,
    /// A file to write to; default: stdout. A format's name is the same as --format (for a file of that name: ./csv)
    #[arg(short = 'o', long, value_name = "FILE|FORMAT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filter: RecordFilter,
    #[command(flatten)]
    range: TimeRange,
    #[command(flatten)]
    gateway: GatewayOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let mut pairs = arguments.filter.pairs();
    pairs.extend(arguments.range.pairs());
    let filter = Filter::from_pairs(pairs.clone(), Timestamp::now()).map_err(Failure::usage)?;
    let (name, file) = arguments.format_and_file()?;
    let format: ExportFormat = name.parse().map_err(Failure::usage)?;
    pairs.push(("format", name.to_owned()));
    let log = Log::from_config(&arguments.gateway.config(console)?)?;
    match file {
        Some(path) => to_file(&log, (&filter, format), &pairs, path, console)?,
        None => to_stdout(&log, (&filter, format), &pairs, console)?,
    }
    Ok(Exit::Ok)
}

impl Arguments {
    /// How to write and where to: `-o` takes a file or, as in other commands, a format.
    fn format_and_file(&self) -> Result<(&str, Option<&Path>), Failure> {
        let file = self.output.as_deref();
        let named = file
            .and_then(Path::to_str)
            .filter(|word| FORMATS.contains(word));
        match (self.format.as_deref(), named) {
            (Some(format), Some(named)) if format != named => {
                let error = anyhow!("both --format {format} and -o {named} name a format");
                let hint = format!("name one; a file called {named} is --output ./{named}");
                Err(Failure::usage(error).hint(hint))
            }
            (_, Some(named)) => Ok((named, None)),
            (format, None) => Ok((format.unwrap_or("jsonl"), file)),
        }
    }
}

fn to_stdout(
    log: &Log,
    what: (&Filter, ExportFormat),
    pairs: &Pairs,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let mut sink = Sink::new(None, console);
    let exported = log.export(what, pairs, &mut sink);
    let left = sink.console.is_left();
    sink.end();
    // The reader of stdout has closed it: that is no failure.
    if left { Ok(()) } else { exported }
}

fn to_file(
    log: &Log,
    what: (&Filter, ExportFormat),
    pairs: &Pairs,
    path: &Path,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let part = PathBuf::from(format!("{}.part", path.display()));
    let cannot = || format!("cannot write {}", path.display());
    let file = private(&part)
        .with_context(cannot)
        .map_err(Failure::usage)?;
    let mut sink = Sink::new(Some(BufWriter::new(file)), console);
    let exported = log.export(what, pairs, &mut sink);
    sink.end();
    let bytes = sink.bytes;
    drop(sink);
    if let Err(failure) = exported {
        drop(std::fs::remove_file(&part));
        return Err(failure);
    }
    std::fs::rename(&part, path)
        .with_context(cannot)
        .map_err(Failure::usage)?;
    console.message(format!("wrote {} to {}\n", size(bytes), path.display()));
    Ok(())
}

/// Records are for the operator alone, whatever the umask says.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// Where the records are written, and how much of them.
struct Sink<'a, 'c> {
    file: Option<BufWriter<File>>,
    console: &'a mut Console<'c>,
    bytes: u64,
    told: Instant,
}

impl<'a, 'c> Sink<'a, 'c> {
    fn new(file: Option<BufWriter<File>>, console: &'a mut Console<'c>) -> Self {
        Self {
            file,
            console,
            bytes: 0,
            told: Instant::now(),
        }
    }

    fn end(&mut self) {
        self.console.progress("");
    }
}

impl Write for Sink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        } else {
            let written = self.console.data(bytes);
            written.map_err(|_| io::Error::other("cannot write to stdout"))?;
            if self.console.is_left() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        self.bytes += bytes.len() as u64;
        if self.told.elapsed() >= PACE {
            self.told = Instant::now();
            let told = format!("exported {}", size(self.bytes));
            self.console.progress(&told);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// A number of bytes as people read it.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes / 100 % 10),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_read_well() {
        let sizes = [0, 999, 1_000, 45_678, 999_999, 12_345_678].map(size);
        assert_eq!(
            sizes,
            [
                "0 bytes",
                "999 bytes",
                "1.0 kB",
                "45.6 kB",
                "999.9 kB",
                "12.3 MB"
            ]
        );
    }
}
