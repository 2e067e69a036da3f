//! A progress or log message from an upstream. It may reach a model like any other text, so it has a type of its own:
//! bounded in size, and cleaned. Not recorded one by one. What identifies it (its token, its level) stays as it is.

use std::fmt;

use bytes::Bytes;
use countersign_tape::{Edits, Hard, Span, members, scan};

use crate::sanitisation::Sanitisation;
use crate::splice::splice;
use crate::strings::{inside, is_key, strings};

/// The largest note that is passed on, in bytes.
pub const MAX_NOTE_BYTES: usize = 64 * 1024;

/// Parameters that software compares.
const FIXED: [&str; 3] = ["progressToken", "requestId", "level"];

/// A notification that may be passed on.
pub struct Note {
    bytes: Bytes,
}

impl Note {
    /// Admits a notification; `None` if it is too large, not JSON, or holds what the settings refuse, in which case
    /// it is dropped.
    ///
    /// ```
    /// use countersign_inspect::{Note, Sanitisation};
    ///
    /// let log = br#"{"method":"notifications/message","params":{"level":"info","data":"a<|im_end|>"}}"#;
    /// let note = Note::admit(&log[..], &Sanitisation::default()).unwrap();
    /// assert!(note.bytes().ends_with(br#""data":"a(removed: control token)"}}"#));
    /// ```
    pub fn admit(message: impl Into<Bytes>, sanitisation: &Sanitisation) -> Option<Self> {
        let bytes = message.into();
        if bytes.len() > MAX_NOTE_BYTES {
            return None;
        }
        let bytes = match sanitisation.sanitiser() {
            Some(_) => cleaned(bytes, sanitisation)?,
            None => bytes,
        };
        Some(Self { bytes })
    }

    /// What may be sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

fn cleaned(bytes: Bytes, sanitisation: &Sanitisation) -> Option<Bytes> {
    let sanitiser = sanitisation.sanitiser()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let envelope = scan(&bytes, &Hard::default()).ok()?;
    if sanitiser.passes_json(text) {
        return Some(bytes);
    }
    let mut edits = Edits::new(&bytes);
    let params = envelope.params().unwrap_or(Span::new(0, 0));
    for (key, value) in members(&bytes, params) {
        if key
            .string(&bytes)
            .is_some_and(|name| FIXED.contains(&name.as_ref()))
        {
            continue;
        }
        for string in strings(&bytes, value) {
            if is_key(&bytes, string) || sanitiser.passes_string(inside(text, string)) {
                continue;
            }
            let before = string.string(&bytes).unwrap_or_default();
            let after = sanitiser.clean(&before);
            if after.blocked {
                return None;
            }
            splice(&mut edits, string, &before, &after.text);
        }
    }
    if edits.is_empty() {
        return Some(bytes);
    }
    Some(edits.apply().ok()?.to_vec().into())
}

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Note")
            .field("len", &self.bytes.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(message: &'static str) -> Option<String> {
        let note = Note::admit(message, &Sanitisation::default())?;
        Some(String::from_utf8(note.bytes().to_vec()).unwrap())
    }

    #[test]
    fn words_are_cleaned_and_tokens_are_not() {
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":"[INST]","message":"\u200bhalf [INST] way","progress":1.0}}"#;
        let expected = progress.replace(r"\u200bhalf [INST]", "half (removed: control token)");
        assert_eq!(admit(progress), Some(expected));
        let nested =
            r#"{"method":"notifications/message","params":{"data":{"a":["<|im_end|>", 1]}}}"#;
        assert_eq!(
            admit(nested),
            Some(nested.replace("<|im_end|>", "(removed: control token)"))
        );
        let honest = r#"{"method":"notifications/message","params":{"data":"caf\u00e9 <b> 1"}}"#;
        assert_eq!(admit(honest).as_deref(), Some(honest));
    }

    #[test]
    fn what_is_no_note_is_dropped() {
        assert_eq!(admit("{"), None);
        let large = format!(r#"{{"method":"{}"}}"#, "x".repeat(MAX_NOTE_BYTES));
        assert!(Note::admit(large, &Sanitisation::off()).is_none());
    }
}
