//! Rows of values for arguments, from a CSV file with a header line or from a file with one JSON
//! object per line. Read once, before the run. CSV knows only text; JSON keeps its types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use countersign_tape::{Kind, ScanLimits, Span, members, quote, scan};
use serde::Deserialize;
use thiserror::Error;

use super::read_limited;

const MOST_BYTES: u64 = 64 << 20;

/// One row: raw JSON by column.
pub type Row = BTreeMap<String, Bytes>;

/// Rows to take values from.
#[derive(Clone, Debug)]
pub struct Feeder {
    /// The file, as the plan names it.
    pub file: PathBuf,
    /// The rows.
    pub rows: Vec<Row>,
    /// Which row comes next.
    pub order: Order,
}

/// Which row comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// One after the other, and round again.
    #[default]
    Sequential,
    /// Any, by the run's seed.
    Random,
}

/// Why a feeder cannot be used.
#[derive(Debug, Error)]
pub enum FeederError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is neither `.csv` nor `.jsonl`.
    #[error("{0} is neither .csv nor .jsonl")]
    Kind(PathBuf),
    /// A line is not a row.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// There are no rows.
    #[error("{0} has no rows")]
    Empty(PathBuf),
}

impl Feeder {
    /// Reads a file.
    pub fn load(folder: &Path, file: &Path, order: Order) -> Result<Self, FeederError> {
        let path = folder.join(file);
        let text = read_limited(&path, MOST_BYTES).map_err(|source| FeederError::Read {
            path: file.to_owned(),
            source,
        })?;
        let rows = match path.extension().and_then(|kind| kind.to_str()) {
            Some("csv") => csv(&text),
            Some("jsonl" | "ndjson") => jsonl(&text),
            _ => return Err(FeederError::Kind(file.to_owned())),
        };
        let rows = rows.map_err(|(line, problem)| FeederError::Line {
            path: file.to_owned(),
            line,
            problem,
        })?;
        if rows.is_empty() {
            return Err(FeederError::Empty(file.to_owned()));
        }
        Ok(Self {
            file: file.to_owned(),
            rows,
            order,
        })
    }

    /// Whether every row has the column.
    pub fn has(&self, column: &str) -> bool {
        self.rows.iter().all(|row| row.contains_key(column))
    }
}

/// A line number, and what is wrong with the line.
type RowError = (usize, &'static str);

fn jsonl(text: &str) -> Result<Vec<Row>, RowError> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let bytes = Bytes::copy_from_slice(line.as_bytes());
        let whole = Span::whole(&bytes);
        let good = scan(&bytes, &ScanLimits::default()).is_ok();
        if !good || whole.kind(&bytes) != Some(Kind::Object) {
            return Err((number + 1, "not a JSON object"));
        }
        let cells = members(&bytes, whole).map(|(key, value)| {
            let name = key.string(&bytes).unwrap_or_default().into_owned();
            (name, bytes.slice_ref(value.bytes(&bytes)))
        });
        rows.push(cells.collect());
    }
    Ok(rows)
}

fn csv(text: &str) -> Result<Vec<Row>, RowError> {
    let mut records = records(text)?.into_iter();
    let Some((_, names)) = records.next() else {
        return Ok(Vec::new());
    };
    let mut rows = Vec::new();
    for (line, cells) in records {
        if cells.len() != names.len() {
            return Err((line, "not as many cells as the first line has"));
        }
        let cells = cells.iter().map(|cell| Bytes::from(quote(cell)));
        rows.push(names.iter().cloned().zip(cells).collect());
    }
    Ok(rows)
}

/// Records with the line each starts on; quotes may hold commas, line breaks and doubled quotes.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, RowError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut all, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut started) = (1, 1);
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            other if quoted => cell.push(other),
            '"' if cell.is_empty() => quoted = true,
            ',' => cells.push(std::mem::take(&mut cell)),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' => {
                cells.push(std::mem::take(&mut cell));
                let record = std::mem::take(&mut cells);
                // A blank line is no record.
                if record.iter().any(|cell| !cell.is_empty()) {
                    all.push((started, record));
                }
                started = line;
            }
            other => cell.push(other),
        }
    }
    if quoted {
        return Err((started, "a quote is not closed"));
    }
    if !cell.is_empty() || !cells.is_empty() {
        cells.push(cell);
        all.push((started, cells));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[Row]) -> Vec<String> {
        let row = |row: &Row| {
            let cells = row
                .iter()
                .map(|(name, raw)| format!("{name}={}", String::from_utf8_lossy(raw)));
            cells.collect::<Vec<_>>().join(" ")
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn csv_is_text_with_quotes() {
        let text = "\u{feff}id,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\n3,last";
        let rows = csv(text).expect("rows");
        assert_eq!(
            shown(&rows),
            [
                r#"id="1" name="a, \"b\"\nc""#,
                r#"id="2" name="""#,
                r#"id="3" name="last""#
            ]
        );
        assert_eq!(
            csv("a,b\n1"),
            Err((2, "not as many cells as the first line has"))
        );
        assert_eq!(csv("a\n\"1\n2"), Err((2, "a quote is not closed")));
        assert_eq!(csv("").expect("none"), Vec::<Row>::new());
    }

    #[test]
    fn json_lines_keep_their_types() {
        let rows = jsonl("{\"id\": 7, \"o\": {\"a\": 1.0}}\n\n{\"id\":\"x\"}\n").expect("rows");
        assert_eq!(shown(&rows), [r#"id=7 o={"a": 1.0}"#, r#"id="x""#]);
        assert_eq!(jsonl("{}\n[1]"), Err((2, "not a JSON object")));
    }
}
