//! Records as comma-separated values (RFC 4180), decision and reason included.
//!
//! A cell that begins like a formula gets an apostrophe in front: tool and server names are chosen by strangers, and a spreadsheet
//! runs what begins with an equals sign. What would steer a terminal is written as a visible escape.
//!
//! The crate `csv` is not used: it quotes only what RFC 4180 asks for, and cells with a guard, a semicolon or a tab have
//! to be quoted too, which would leave nothing to it but the commas.

use std::io::{self, Write};

use countersign_sanitise::escape_controls;

use crate::store::Stored;

const COLUMNS: [&str; 26] = [
    "id",
    "timestamp",
    "type",
    "status",
    "server",
    "tool",
    "decision",
    "reason",
    "mode",
    "stages",
    "rules",
    "client",
    "session_id",
    "request_id",
    "parent_id",
    "source",
    "duration_ms",
    "schema_digest",
    "schema_generation",
    "payload_digest",
    "request_bytes",
    "response_bytes",
    "seq",
    "chain_id",
    "n",
    "hash",
];

pub(super) fn header(out: &mut dyn Write) -> io::Result<()> {
    line(out, COLUMNS.map(str::to_owned))
}

pub(super) fn row(out: &mut dyn Write, stored: &Stored) -> io::Result<()> {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let record = &stored.record;
    let joined = |mut words: Vec<&str>| {
        words.sort_unstable();
        words.dedup();
        words.join(" ")
    };
    line(
        out,
        [
            record.id().to_string(),
            record.timestamp.to_string(),
            record.kind().to_string(),
            record.status().to_string(),
            text(record.server.as_ref()),
            text(record.tool.as_ref()),
            text(
                record
                    .decision()
                    .map(super::super::record::verdict::Decision::as_str),
            ),
            text(record.reason.as_ref()),
            text(record.mode.map(super::super::record::verdict::Mode::as_str)),
            joined(record.findings.iter().map(|f| f.stage.as_str()).collect()),
            joined(record.findings.iter().map(|f| f.rule.as_ref()).collect()),
            text(record.client.as_ref()),
            text(record.session_id.as_ref()),
            text(record.request_id.as_ref()),
            text(record.parent_id),
            record.source.to_string(),
            text(record.duration_ms.map(crate::record::Millis::as_f64)),
            text(record.schema_digest.as_ref()),
            text(record.schema_generation),
            text(record.payload_digest.as_ref()),
            text(record.request_bytes),
            text(record.response_bytes),
            stored.seq.to_string(),
            stored.chain_id.to_string(),
            stored.n.to_string(),
            stored.hash.to_string(),
        ],
    )
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
