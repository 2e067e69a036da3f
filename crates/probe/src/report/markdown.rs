//! Pieces of Markdown for the summary of a CI step. What a server wrote may be in a cell, so it
//! can neither leave the cell nor become a link, an image or HTML.

/// A table with a heading row.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(headings.iter().map(|heading| cell(heading)).collect());
    out += &line(vec!["---".to_owned(); headings.len()]);
    for row in rows {
        out += &line(row.iter().map(|text| cell(text)).collect());
    }
    out
}

/// Text that means nothing to Markdown.
pub(crate) fn cell(text: &str) -> String {
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
pub(crate) fn code(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    let longest = runs.max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
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
