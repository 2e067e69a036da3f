//! The eight levels of log messages, and from which one on a client wants to hear them.

use bytes::Bytes;
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
    pub(crate) fn named(name: &str) -> Option<Self> {
        let place = LEVELS.iter().position(|level| *level == name)?;
        u8::try_from(place).ok().map(Self)
    }

    /// The level a raw JSON token names.
    pub(crate) fn token(token: &Bytes) -> Option<Self> {
        Self::named(&Span::whole(token).string(token)?)
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

    /// Whether a client that listens from this level on hears a note. Progress is always heard; a
    /// message without a level counts as one of the lowest.
    pub(crate) fn hears(self, note: &Note) -> bool {
        let bytes = note.bytes();
        let whole = Span::whole(bytes);
        let method = path(bytes, whole, &["method"]).and_then(|method| method.string(bytes));
        if method.as_deref() != Some("notifications/message") {
            return true;
        }
        let level = path(bytes, whole, &["params", "level"]).and_then(|level| level.string(bytes));
        level
            .and_then(|level| Self::named(&level))
            .unwrap_or_default()
            >= self
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
        for (level, hears) in [("debug", true), ("warning", true), ("error", false)] {
            let level = Level::named(level).expect("a level");
            assert_eq!(level.hears(&warning), hears);
            assert!(level.hears(&progress));
            assert_eq!(Level::from_code(level.code()), level);
        }
        assert!(Level::default().hears(&note(r#"{"method":"notifications/message"}"#)));
        assert!(!Level::SILENT.hears(&warning) && Level::SILENT.hears(&progress));
        assert_eq!(Level::named("loud"), None);
        assert_eq!(
            Level::token(&Bytes::from_static(b"\"info\"")),
            Level::named("info")
        );
    }
}
