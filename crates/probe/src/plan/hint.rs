//! What is wrong with a plan's text, and the word that was probably meant.

use std::ops::Range;

use super::PlanError;

/// A message for a text that is not a plan, in one line: messages are printed escaped, so a line
/// break in one would be shown as `\n`.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> PlanError {
    let said = error.message();
    let mut quoted = said.split('`').skip(1).step_by(2);
    let nearest = if said.starts_with("unknown field") || said.starts_with("unknown variant") {
        let wrong = quoted.next().unwrap_or_default();
        nearest(wrong, quoted).map(str::to_owned)
    } else {
        None
    };
    PlanError::Syntax {
        message: format!("{}{}", place(text, error.span()), one_line(said)),
        nearest,
    }
}

/// Where in the text, as a person counts lines and columns.
fn place(text: &str, span: Option<Range<usize>>) -> String {
    let before = span.and_then(|span| text.get(..span.start));
    before.map_or_else(String::new, |before| {
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: ")
    })
}

/// The lines of a message after one another.
fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    lines.join("; ")
}

/// The candidate that is closest to a word, if any is close.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and substitutions between two words.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().take(64).enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (wanted, above) in to.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(letter != *wanted))
                .min(*above + 1)
                .min(left + 1);
            diagonal = *above;
            *above = best;
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_a_near_word_is_named() {
        let keys = ["rate", "duration", "think_time"];
        assert_eq!(nearest("rat", keys), Some("rate"));
        assert_eq!(nearest("think-time", keys), Some("think_time"));
        assert_eq!(nearest("durtion", keys), Some("duration"));
        assert_eq!(nearest("colour", keys), None);
    }
}
