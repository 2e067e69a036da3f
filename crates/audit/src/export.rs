//! `Exporter`: writes records one by one as JSON lines, CSV or SARIF. Holds no more than one of them.
//!
//! The output is opened by other programs: CSV cells that a spreadsheet would run are disarmed, and SARIF carries pointers and types, never
//! values. The same code serves `export`, `list -o csv` and the REST download.

use std::io::{self, Write};

use countersign_inspect::word_enum;

use crate::query::Filter;
use crate::store::{Reader, StoreError, StoredRecord};

mod csv;
mod sarif;

word_enum! {
    /// How records are written.
    pub enum ExportFormat("format") {
        /// One JSON object per line.
        Jsonl = "jsonl",
        /// Comma-separated values with a header line.
        Csv = "csv",
        /// SARIF 2.1.0: one result per finding.
        Sarif = "sarif",
    }
}

impl ExportFormat {
    /// The media type of the output.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Sarif => "application/sarif+json",
        }
    }
}

/// Writes records in one format.
pub struct Exporter<'w> {
    out: &'w mut dyn Write,
    state: State,
    count: u64,
}

enum State {
    Jsonl,
    Csv,
    Sarif(sarif::Run),
}

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl<'w> Exporter<'w> {
    /// Begins the output.
    pub fn start(format: ExportFormat, out: &'w mut dyn Write) -> io::Result<Self> {
        let state = match format {
            ExportFormat::Jsonl => State::Jsonl,
            ExportFormat::Csv => {
                csv::header(out)?;
                State::Csv
            }
            ExportFormat::Sarif => State::Sarif(sarif::Run::start(out)?),
        };
        Ok(Self {
            out,
            state,
            count: 0,
        })
    }

    /// Writes one record.
    pub fn write(&mut self, record: &StoredRecord) -> io::Result<()> {
        self.count += 1;
        match &mut self.state {
            State::Jsonl => {
                serde_json::to_writer(&mut *self.out, record)?;
                self.out.write_all(b"\n")
            }
            State::Csv => csv::row(self.out, record),
            State::Sarif(run) => run.record(self.out, record),
        }
    }

    /// Ends the output; gives the number of records written.
    pub fn finish(self) -> io::Result<u64> {
        if let State::Sarif(run) = self.state {
            run.finish(self.out)?;
        }
        self.out.flush()?;
        Ok(self.count)
    }
}
impl Reader {
    /// Writes every matching record there is now, oldest first. Memory does not depend on how many there are. Gives their number.
    pub fn export(
        &self,
        filter: &Filter,
        format: ExportFormat,
        out: &mut dyn Write,
    ) -> Result<u64, StoreError> {
        let mut exporter = Exporter::start(format, out).map_err(StoreError::Output)?;
        self.for_each(filter, |record| {
            exporter.write(record).map_err(StoreError::Output)
        })?;
        exporter.finish().map_err(StoreError::Output)
    }
}
