//! Data on its way to a terminal. What a terminal would act on (escape sequences in the names that servers choose, for
//! example) is written as an escape that JSON knows too: `\u001b`. Files and pipes get the bytes as they are.

use countersign_audit::steers_terminal;

/// Makes bytes harmless for a terminal, piece by piece.
#[derive(Debug, Default)]
pub(super) struct TerminalFilter {
    /// The beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl TerminalFilter {
    /// The next piece, with what would steer the terminal made visible.
    pub(super) fn apply(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let cut = all.len() - unfinished(&all);
        self.pending = all.split_off(cut);
        let mut visible = String::with_capacity(all.len());
        for character in String::from_utf8_lossy(&all).chars() {
            if steers_terminal(character) {
                visible.extend(["\\u", &format!("{:04x}", u32::from(character))]);
            } else {
                visible.push(character);
            }
        }
        visible.into_bytes()
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let last = last.map_or(&[][..], |chunk| chunk.invalid());
    // What cannot become a character is not waited for.
    let may_go_on = |error: std::str::Utf8Error| error.error_len().is_none();
    if std::str::from_utf8(last).is_err_and(may_go_on) {
        last.len()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_do_not_steer_the_terminal() {
        let mut filter = TerminalFilter::default();
        let shown = filter.apply("tool\u{1b}[2J \u{9b}31m é\n".as_bytes());
        assert_eq!(shown, "tool\\u001b[2J \\u009b31m é\n".as_bytes());
    }

    #[test]
    fn a_character_may_come_in_pieces() {
        let text = "é\u{9b}1\u{202e}x👩";
        let mut filter = TerminalFilter::default();
        let pieces = text.as_bytes().chunks(1);
        let shown: Vec<u8> = pieces.flat_map(|piece| filter.apply(piece)).collect();
        assert_eq!(shown, "é\\u009b1\\u202ex👩".as_bytes());
        let broken = filter.apply(b"a\xff\xc2b");
        assert_eq!(broken, "a\u{fffd}\u{fffd}b".as_bytes());
    }
}
