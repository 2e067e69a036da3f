//! Pieces of Markdown for the summary of a CI step. What a server wrote may be in a cell, so it
//! can neither leave the cell nor become a link, an image or HTML.

use std::fmt::Write as _;

/// A table with a heading row.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = String::new();
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    out.push_str(&line(&mut headings.iter().map(|heading| cell(heading))));
    out.push_str(&line(&mut headings.iter().map(|_| "---".to_owned())));
    for row in rows {
        out.push_str(&line(&mut row.iter().map(|text| cell(text))));
    }
    out
}

/// Text that means nothing to Markdown.
pub fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// A block of code, fenced by more backticks than it has in it.
pub fn code(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let written = writeln!(out, "{fence}\n{}\n{fence}", text.trim_end());
    debug_assert!(written.is_ok());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_only_text() {
        let rows = [vec![
            "a|b\nc".to_owned(),
            "[x](y) <b> `c` ![i](j)".to_owned(),
        ]];
        assert_eq!(
            table(&["one", "two"], &rows),
            "| one | two |\n| --- | --- |\n| a\\|b c | \\[x\\](y) &lt;b&gt; \\`c\\` \\!\\[i\\](j) |\n"
        );
    }

    #[test]
    fn code_stays_in_its_fence() {
        assert_eq!(code("a ```` b"), "`````\na ```` b\n`````\n");
        assert_eq!(code("plain\n"), "```\nplain\n```\n");
    }
}
