//! Files of published log heads: signed notes one after the other, with an empty line between them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::proof::Note;

/// Longer lines, and longer notes, were not written by a gateway.
const MAX_LINE: u64 = 1 << 16;
const MAX_NOTE: usize = 1 << 19;
const DASH: &str = "\u{2014} ";

/// Does the file hold notes, rather than the lines of `checkpoints.log`, which are JSON objects? An empty one holds neither.
pub(super) fn holds_notes(path: &Path) -> io::Result<bool> {
    let mut first = [0];
    Ok(File::open(path)?.read(&mut first)? > 0 && first != *b"{")
}

/// Hands every note to `each`; `None` for text that is none. A last note that is not complete is what a crash leaves, and
/// is passed over.
pub(super) fn read_notes(path: &Path, mut each: impl FnMut(Option<Note>)) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?);
    let mut lines = Vec::new();
    let mut note = String::new();
    // After the empty line and a signature, the note may end.
    let (mut is_signed, mut count) = (false, 0);
    loop {
        lines.clear();
        (&mut file).take(MAX_LINE).read_until(b'\n', &mut lines)?;
        let line = String::from_utf8_lossy(&lines);
        let is_whole = line.ends_with('\n');
        let is_signature = line.starts_with(DASH) && is_whole;
        if is_signed && !is_signature {
            each(Note::parse(&note).ok());
            count += 1;
            note.clear();
            is_signed = false;
        }
        if !is_whole || note.len() > MAX_NOTE {
            let is_too_long = line.len() as u64 >= MAX_LINE || note.len() > MAX_NOTE;
            if is_too_long || count == 0 && !note.is_empty() {
                each(None);
            }
            return Ok(());
        }
        if note.is_empty() && line == "\n" {
            continue;
        }
        is_signed = is_signature && note.ends_with("\n\n") || is_signed;
        note.push_str(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Option<String>> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        let mut notes = Vec::new();
        let each = |note: Option<Note>| notes.push(note.map(|note| note.to_string()));
        read_notes(file.path(), each).expect("read");
        notes
    }

    #[test]
    fn notes_follow_each_other_and_a_torn_one_is_passed_over() {
        let note = "origin\n7\nroot\n\n\u{2014} name AAAAAAAA\n\u{2014} other AAAAAAAA\n";
        let expected = Some(note.to_owned());
        assert_eq!(read(note), std::slice::from_ref(&expected));
        assert_eq!(read(&note.repeat(2)), [expected.clone(), expected.clone()]);
        let apart = format!("\n{note}\n\n{note}\n");
        assert_eq!(read(&apart), [expected.clone(), expected.clone()]);
        for torn in [
            "origin\n7\nroot\n",
            "origin\n7\nroot\n\n",
            "origin\n7\nroot\n\n\u{2014} na",
        ] {
            assert_eq!(
                read(&format!("{note}\n{torn}")),
                std::slice::from_ref(&expected)
            );
        }
        assert_eq!(read(""), []);
        assert_eq!(read("nonsense\n"), [None]);
        let forged = note.replace("AAAAAAAA", "????");
        assert_eq!(read(&format!("{forged}{note}")), [None, expected]);
    }
}
