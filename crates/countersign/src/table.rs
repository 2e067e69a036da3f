//! Rows in columns, for people. Text from peers is made safe for the terminal here, once.

use unicode_width::UnicodeWidthStr;

use crate::report::printable;

/// Lines with every column but the last as wide as its widest cell, in terminal columns: a CJK character takes two.
pub(crate) fn table<R>(head: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: AsRef<[String]>,
{
    let mut widths = vec![0; head.len()];
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(ToString::to_string).collect()];
    for row in rows {
        lines.push(row.as_ref().iter().map(|cell| printable(cell)).collect());
    }
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.width().max(*width);
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths);
        let cells = cells.map(|(cell, &width)| cell.clone() + &" ".repeat(width - cell.width()));
        text.extend([cells.collect::<Vec<_>>().join("  ").trim_end(), "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up_and_foreign_text_is_safe() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        let text = table(
            &["tool", "decision", "reason"],
            [
                row(["a", "blocked", "no\x1b[2J"]),
                row(["longer", "ok", ""]),
            ],
        );
        insta::assert_snapshot!(text, @r"
        tool    decision  reason
        a       blocked   no\u{1b}[2J
        longer  ok
        ");
    }

    #[test]
    fn wide_characters_line_up_and_combining_marks_are_escaped() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let rows = [["天気", "a"], ["cafe\u{301}", "b"], ["cafés", "c"]].map(row);
        // The second column begins 13 terminal columns from the left in each line.
        let lines = [
            "tool         reason",
            "天気         a",
            r"cafe\u{301}  b",
            "cafés        c",
        ];
        assert_eq!(
            table(&["tool", "reason"], rows).lines().collect::<Vec<_>>(),
            lines
        );
    }
}
