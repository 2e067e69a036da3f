//! Records as comma-separated values (RFC 4180), decision and reason included.
//!
//! A cell that begins like a formula gets an apostrophe in front: tool and server names are chosen by strangers, and a spreadsheet
//! runs what begins with an equals sign. What would steer a terminal is written as a visible escape.
//!
//! The crate `csv` is not used: it quotes only what RFC 4180 asks for, and cells with a guard, a semicolon or a tab have
//! to be quoted too, which would leave nothing to it but the commas.

use std::collections::BTreeSet;
use std::io::{self, Write};

use countersign_sanitise::escape_controls;

use crate::record::{Finding, Millis, Record};
use crate::store::StoredRecord;

/// Writes one cell of a record.
type Cell = fn(&Record, &StoredRecord) -> String;

/// The columns, in order: the name in the header line, and the cell of a record.
const COLUMNS: [(&str, Cell); 27] = [
    ("id", |record, _| record.id().to_string()),
    ("timestamp", |record, _| record.timestamp.to_string()),
    ("type", |record, _| record.kind().to_string()),
    ("status", |record, _| record.status().to_string()),
    ("server", |record, _| text(record.server.as_ref())),
    ("tool", |record, _| text(record.tool.as_ref())),
    ("decision", |record, _| text(record.decision())),
    ("reason", |record, _| text(record.reason.as_ref())),
    ("mode", |record, _| text(record.mode)),
    ("stages", |record, _| {
        joined(record, |finding| finding.stage.as_str())
    }),
    ("rules", |record, _| joined(record, |finding| &finding.rule)),
    ("client", |record, _| text(record.client.as_ref())),
    ("session_id", |record, _| text(record.session_id.as_ref())),
    ("request_id", |record, _| text(record.request_id.as_ref())),
    ("parent_id", |record, _| text(record.parent_id)),
    ("source", |record, _| record.source.to_string()),
    ("duration_ms", |record, _| {
        text(record.duration_ms.map(Millis::as_f64))
    }),
    ("schema_digest", |record, _| {
        text(record.schema_digest.as_ref())
    }),
    ("schema_generation", |record, _| {
        text(record.schema_generation)
    }),
    ("payload_digest", |record, _| {
        text(record.payload_digest.as_ref())
    }),
    ("request_bytes", |record, _| text(record.request_bytes)),
    ("response_bytes", |record, _| text(record.response_bytes)),
    ("seq", |_, stored| stored.seq.to_string()),
    ("chain_id", |_, stored| stored.chain_id.to_string()),
    ("n", |_, stored| stored.n.to_string()),
    ("hash", |_, stored| stored.hash.to_string()),
    ("caller", |record, _| text(record.caller.as_ref())),
];

pub(super) fn header(out: &mut dyn Write) -> io::Result<()> {
    line(out, COLUMNS.map(|(name, _)| name.to_owned()))
}

pub(super) fn row(out: &mut dyn Write, stored: &StoredRecord) -> io::Result<()> {
    line(out, COLUMNS.map(|(_, cell)| cell(&stored.record, stored)))
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A word of each finding, without repetition.
fn joined(record: &Record, word: fn(&Finding) -> &str) -> String {
    let words: BTreeSet<&str> = record.findings.iter().map(word).collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

fn line(out: &mut dyn Write, cells: [String; COLUMNS.len()]) -> io::Result<()> {
    let cells = cells.map(|cell| guarded(&escape_controls(&cell)));
    out.write_all(cells.join(",").as_bytes())?;
    out.write_all(b"\r\n")
}

/// A cell that is only ever read as text. Full-width forms count: some spreadsheets fold them.
fn guarded(cell: &str) -> String {
    let first = cell
        .trim_start_matches([' ', '\u{a0}', '\u{feff}', '\u{200b}'])
        .chars()
        .next();
    let formula = first.is_some_and(|c| {
        matches!(
            c,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '＝' | '＋' | '－' | '＠'
        )
    });
    let guard = if formula { "'" } else { "" };
    if formula || cell.contains([',', '"', '\r', '\n', ';', '\t']) {
        return format!("\"{guard}{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_disarmed_and_cells_quoted() {
        for (cell, expected) in [
            ("plain", "plain"),
            (
                "=HYPERLINK(\"http://x\")",
                "\"'=HYPERLINK(\"\"http://x\"\")\"",
            ),
            ("+1", "\"'+1\""),
            ("-cmd|' /C calc'!A0", "\"'-cmd|' /C calc'!A0\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("  =1", "\"'  =1\""),
            ("＝1", "\"'＝1\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), expected);
        }
    }

    #[test]
    fn a_name_with_escapes_does_not_steer_the_terminal() {
        let mut out = Vec::new();
        line(
            &mut out,
            COLUMNS.map(|_| "tool\u{1b}[2J\u{9b}\r".to_owned()),
        )
        .expect("memory");
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(text.starts_with(r"tool\u{1b}[2J\u{9b}\u{d},"), "{text}");
        assert!(!text.trim_end().contains(char::is_control), "{text}");
    }
}
