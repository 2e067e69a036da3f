//! Changing a string and nothing around it: what the old and the new text have in common at both ends stays as it was
//! written, escapes included.

use countersign_tape::{Edits, Span};

/// Replaces the text of the string at `string`, given with its quotes.
pub(crate) fn splice(edits: &mut Edits<'_>, string: Span, before: &str, after: &str) {
    if before == after {
        return;
    }
    let same = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b);
    let head = before.floor_char_boundary(same.count());
    let (old, new) = (
        before.get(head..).unwrap_or_default(),
        after.get(head..).unwrap_or_default(),
    );
    let same = old.bytes().rev().zip(new.bytes().rev());
    let same = same.take_while(|(a, b)| a == b).count();
    let tail = old.ceil_char_boundary(old.len() - same);
    let kept = old.len() - tail;
    let text = new.get(..new.len() - kept).unwrap_or_default();
    edits.replace_within_string(string, head..head + tail, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(json: &str, after: &str) -> String {
        let string = Span::whole(json.as_bytes());
        let before = string.string(json.as_bytes()).unwrap();
        let mut edits = Edits::new(json.as_bytes());
        splice(&mut edits, string, &before, after);
        String::from_utf8(edits.apply().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn only_the_difference_is_written_anew() {
        assert_eq!(
            spliced(r#""caf\u00e9 X \u00e9""#, "caf\u{e9} YY \u{e9}"),
            r#""caf\u00e9 YY \u00e9""#
        );
        assert_eq!(spliced(r#""a\u0062c""#, "abc"), r#""a\u0062c""#);
        assert_eq!(spliced(r#""""#, "new\n"), r#""new\n""#);
        assert_eq!(spliced(r#""old""#, ""), r#""""#);
        assert_eq!(spliced(r#""aaa""#, "aa"), r#""aa""#);
        assert_eq!(spliced(r#""\u00e9""#, "\u{e8}"), "\"\u{e8}\"");
        assert_eq!(spliced(r#""x\u00e9""#, "x\u{169}"), "\"x\u{169}\"");
    }
}
