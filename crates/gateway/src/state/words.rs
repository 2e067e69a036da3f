//! The words of a name or a sentence, as they are looked up: lower case, split where names are
//! (`get_file`, `getFile`, `HTTPServer`), without the plural. Serves search; decides nothing.

/// Longer words are cut.
const LONGEST: usize = 32;

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(end(rest));
        rest = after;
        Some(looked_up(word))
    })
}

/// Where the word at the start of a text ends.
fn end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, mut before)) = chars.next() else {
        return 0;
    };
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        // `fileName` and `2Files`, and in `HTTPServer` before the last of the capitals.
        let hump =
            c.is_uppercase() && (!before.is_uppercase() || next.is_some_and(char::is_lowercase));
        if !c.is_alphanumeric() || hump || is_word(c) || is_word(before) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Scripts that write no spaces: each sign counts as a word.
fn is_word(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

fn looked_up(word: &str) -> String {
    let mut word: String = word
        .chars()
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .collect();
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
    {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sentences_have_the_same_words() {
        for (text, expected) in [
            ("get_file-contents", "get file content"),
            ("getFileContents", "get file content"),
            ("HTTPServer2Go", "http server2 go"),
            (
                "List all repositories, issues & statuses!",
                "list all repository issue statuse",
            ),
            ("class status this", "class status this"),
            ("Dateien über Ärzte", "dateien über ärzte"),
            ("天気 API", "天 気 api"),
            ("", ""),
            ("__..__", ""),
        ] {
            assert_eq!(
                words(text).collect::<Vec<_>>().join(" "),
                expected,
                "{text}"
            );
        }
        assert_eq!(
            words(&"x".repeat(1000)).next().map(|word| word.len()),
            Some(LONGEST)
        );
    }
}
