//! The eight levels of log messages, and from which one on a client wants to hear them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_dial::lock;
use countersign_inspect::Note;
use countersign_tape::Span;

use countersign_wire::json::path;

const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The least important messages that are still heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(u8);

impl Level {
    /// Hears no log message.
    pub(crate) const SILENT: Self = Self(u8::MAX);

    /// The level of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let place = LEVELS.iter().position(|level| *level == name)?;
        u8::try_from(place).ok().map(Self)
    }

    /// The level a raw JSON token names.
    pub(crate) fn token(token: &Bytes) -> Option<Self> {
        Self::from_name(&Span::whole(token).string(token)?)
    }

    /// The name of the level; none for silence.
    pub(crate) fn name(self) -> Option<&'static str> {
        LEVELS.get(usize::from(self.0)).copied()
    }

    /// The level as a small number; `from_code` gives it back.
    pub(crate) fn code(self) -> u8 {
        self.0
    }

    pub(crate) fn from_code(code: u8) -> Self {
        Self(code)
    }

    /// Whether a note reaches a client that asked for this level. Progress always does; a message without a level counts as
    /// one of the lowest.
    pub(crate) fn passes(self, note: &Note) -> bool {
        let bytes = note.bytes();
        let whole = Span::whole(bytes);
        let method = path(bytes, whole, &["method"]).and_then(|method| method.string(bytes));
        if method.as_deref() != Some("notifications/message") {
            return true;
        }
        let level = path(bytes, whole, &["params", "level"]).and_then(|level| level.string(bytes));
        level
            .and_then(|level| Self::from_name(&level))
            .unwrap_or_default()
            >= self
    }
}

/// The lowest level that the clients of each shared server have set.
#[derive(Debug, Default)]
pub(crate) struct Levels(Mutex<HashMap<Arc<str>, Level>>);

impl Levels {
    /// Notes a level; true if it is lower than those before, so that the server has to be told.
    pub(crate) fn lower(&self, server: &Arc<str>, level: Level) -> bool {
        let mut all = lock(&self.0);
        let is_lower = all.get(server).is_none_or(|lowest| level < *lowest);
        if is_lower {
            all.insert(Arc::clone(server), level);
        }
        is_lower
    }
}

#[cfg(test)]
mod tests {
    use countersign_inspect::NotePolicy;

    use super::*;

    fn note(text: &'static str) -> Note {
        Note::admit(Bytes::from_static(text.as_bytes()), &NotePolicy::default())
            .expect("a notification")
    }

    #[test]
    fn messages_are_heard_from_a_level_on() {
        let warning = note(r#"{"method":"notifications/message","params":{"level":"warning"}}"#);
        let progress = note(r#"{"method":"notifications/progress","params":{"level":"debug"}}"#);
        for (level, passes) in [("debug", true), ("warning", true), ("error", false)] {
            let level = Level::from_name(level).expect("a level");
            assert_eq!(level.passes(&warning), passes);
            assert!(level.passes(&progress));
            assert_eq!(Level::from_code(level.code()), level);
        }
        assert!(Level::default().passes(&note(r#"{"method":"notifications/message"}"#)));
        assert!(!Level::SILENT.passes(&warning) && Level::SILENT.passes(&progress));
        assert_eq!(Level::from_name("loud"), None);
        assert_eq!(
            Level::token(&Bytes::from_static(b"\"info\"")),
            Level::from_name("info")
        );
    }
}
