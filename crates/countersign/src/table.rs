//! Rows in columns, for people. Text from peers is made safe for the terminal here, once.

use crate::report::printable;

/// Lines with every column but the last as wide as its widest cell.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned))
        .chain(
            rows.iter()
                .map(|row| row.clone().map(|cell| printable(&cell))),
        )
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let gap = width.saturating_sub(cell.chars().count()) + 2;
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', gap));
        }
        text.push_str(line.trim_end());
        text.push('\n');
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
            ["tool", "decision", "reason"],
            &[
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
}
