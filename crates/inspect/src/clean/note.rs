//! Messages a server sends beside its replies: progress, log messages and its own requests. A
//! model may read them, so they have a type of their own: limited in size and depth, cleaned, and without
//! members that JSON-RPC does not define for such a message. They are not recorded one by one.

use std::fmt;

use bytes::Bytes;
use countersign_sanitise::Sanitiser;
use countersign_tape::{Edits, Envelope, Kind, Member, ScanLimits, Span, members, scan};

use crate::clean::renamed;
use crate::json::splice::splice;
use crate::json::strings::{is_key, string_content, strings};
use crate::open::message::MessageKind;
use crate::policy::sanitisation::Sanitisation;
use crate::policy::{MAX_MESSAGE_DEPTH, Policy};

/// The largest note that is passed on, in bytes.
pub const MAX_NOTE_BYTES: usize = 64 * 1024;
/// The largest request of a server that is passed on, in bytes: what it asks a model about may be long.
const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// What notes are held to.
#[derive(Clone, Debug)]
pub struct NotePolicy {
    /// What holds for their texts.
    pub sanitisation: Sanitisation,
    /// The deepest note that is passed on.
    pub max_message_depth: u32,
}

impl Default for NotePolicy {
    fn default() -> Self {
        Self {
            sanitisation: Sanitisation::default(),
            max_message_depth: MAX_MESSAGE_DEPTH,
        }
    }
}

impl From<&Policy> for NotePolicy {
    fn from(policy: &Policy) -> Self {
        Self {
            sanitisation: policy.sanitisation.clone(),
            max_message_depth: policy.max_message_depth,
        }
    }
}

/// A notification or a request that may be passed on.
pub struct Note {
    bytes: Bytes,
    is_cleaned: bool,
}

/// What of a message is replaced, by raw JSON tokens.
#[derive(Clone, Copy)]
enum Replaced<'a> {
    Nothing,
    ProgressToken(&'a [u8]),
    RequestId(&'a [u8]),
    Id(&'a [u8]),
}

impl Note {
    /// Admits a notification; `None` if it is too large, too deep, no notification, or holds what the settings refuse,
    /// in which case it is dropped.
    ///
    /// ```
    /// use countersign_inspect::{Note, NotePolicy};
    ///
    /// let log = br#"{"method":"notifications/message","params":{"level":"info","data":"a<|im_end|>"}}"#;
    /// let note = Note::admit(&log[..], &NotePolicy::default()).unwrap();
    /// assert!(note.bytes().ends_with(br#""data":"a(removed: control token)"}}"#));
    /// ```
    pub fn admit(message: impl Into<Bytes>, policy: &NotePolicy) -> Option<Self> {
        let (message, kind) = (message.into(), MessageKind::Notification);
        Self::read(message, kind, Replaced::Nothing, policy)
    }

    /// Admits a progress notification under the token of the client that waits for it, a raw JSON token.
    pub fn progress(message: impl Into<Bytes>, token: &[u8], policy: &NotePolicy) -> Option<Self> {
        let (message, kind) = (message.into(), MessageKind::Notification);
        Self::read(message, kind, Replaced::ProgressToken(token), policy)
    }

    /// Admits a notification that a server does not wait for its request any more, under the id that the client knows the
    /// request by, a raw JSON token.
    pub fn cancellation(message: impl Into<Bytes>, id: &[u8], policy: &NotePolicy) -> Option<Self> {
        let (message, kind) = (message.into(), MessageKind::Notification);
        Self::read(message, kind, Replaced::RequestId(id), policy)
    }

    /// Admits a request that a server makes of its client, under the id that the client knows it by, a raw JSON token.
    pub fn request(message: impl Into<Bytes>, id: &[u8], policy: &NotePolicy) -> Option<Self> {
        let (message, kind) = (message.into(), MessageKind::Request);
        Self::read(message, kind, Replaced::Id(id), policy)
    }

    fn read(
        bytes: Bytes,
        kind: MessageKind,
        replaced: Replaced<'_>,
        policy: &NotePolicy,
    ) -> Option<Self> {
        let hard = ScanLimits {
            max_bytes: match kind {
                MessageKind::Request => MAX_REQUEST_BYTES,
                _ => MAX_NOTE_BYTES,
            },
            max_depth: policy.max_message_depth,
        };
        let envelope = scan(&bytes, &hard).ok()?;
        if !is_sound(&bytes, &envelope, kind) {
            return None;
        }
        let mut edits = Edits::new(&bytes);
        if kind.has_foreign_members(&envelope) {
            kind.cut_foreign_members(&bytes, envelope.root(), &mut edits);
        }
        let params = envelope.params().unwrap_or(Span::new(0, 0));
        let place = match replaced {
            Replaced::Nothing => None,
            Replaced::ProgressToken(token) => {
                Some((only_member(&bytes, params, "progressToken")?, token))
            }
            Replaced::RequestId(id) => Some((only_member(&bytes, params, "requestId")?, id)),
            Replaced::Id(id) => Some((envelope.id()?, id)),
        };
        if let Some(sanitiser) = policy.sanitisation.sanitiser() {
            let text = std::str::from_utf8(&bytes).ok()?;
            let kept = place.map(|(place, _)| place);
            clean(text, &envelope, sanitiser, kept, &mut edits)?;
        }
        let is_cleaned = !edits.is_empty();
        if let Some((place, token)) = place {
            edits.replace(place, token);
        }
        let edited = (!edits.is_empty()).then(|| edits.apply());
        let edited = edited
            .transpose()
            .ok()?
            .map(|edited| edited.to_vec().into());
        Some(Self {
            bytes: edited.unwrap_or(bytes),
            is_cleaned,
        })
    }

    /// Whether something in it was removed or cleaned.
    pub fn is_cleaned(&self) -> bool {
        self.is_cleaned
    }

    /// What may be sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Whether a message reads the same to every reader, and as a message of this kind.
fn is_sound(bytes: &[u8], envelope: &Envelope, kind: MessageKind) -> bool {
    let is_string = |value: Span| value.kind(bytes) == Some(Kind::String);
    let is_version = |value: Span| value.is_text(bytes, "2.0");
    envelope.method().is_some_and(is_string)
        && envelope.get(Member::JsonRpc).is_none_or(is_version)
        && envelope.duplicates().next().is_none()
        && (kind != MessageKind::Request || envelope.id().is_some())
}

/// Where a member of `params` stands; nothing if there are two, because two readers would see two values.
fn only_member(bytes: &[u8], params: Span, name: &str) -> Option<Span> {
    let is_it = |key: Span| key.is_text(bytes, name);
    let mut found = members(bytes, params).filter(|(key, _)| is_it(*key));
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// Cleans every name and string of `params` but `_meta`, an address, and what is replaced anyway. `None`: the settings
/// refuse something in it.
fn clean(
    text: &str,
    envelope: &Envelope,
    sanitiser: &Sanitiser,
    replaced: Option<Span>,
    edits: &mut Edits<'_>,
) -> Option<()> {
    let bytes = text.as_bytes();
    let method = envelope.method()?;
    let params = envelope.params().unwrap_or(Span::new(0, 0));
    let raw = |value: Span| text.get(value.range()).unwrap_or_default();
    // No method has anything to clean: what software does not know is not passed on under another name.
    let name = method.string(bytes)?;
    if !sanitiser.passes_string(string_content(text, method)) && sanitiser.clean(&name).is_changed()
    {
        return None;
    }
    if sanitiser.passes_json(raw(params)) {
        return Some(());
    }
    if params.kind(bytes) != Some(Kind::Object) {
        return clean_value(text, params, sanitiser, edits);
    }
    for (key, value) in members(bytes, params) {
        clean_value(text, key, sanitiser, edits)?;
        let kept = match key.string(bytes).as_deref() {
            Some("_meta") => value.kind(bytes) == Some(Kind::Object),
            Some("uri") => value.kind(bytes) == Some(Kind::String),
            _ => replaced == Some(value),
        };
        if !kept {
            clean_value(text, value, sanitiser, edits)?;
        }
    }
    Some(())
}

fn clean_value(
    text: &str,
    value: Span,
    sanitiser: &Sanitiser,
    edits: &mut Edits<'_>,
) -> Option<()> {
    let bytes = text.as_bytes();
    for string in strings(bytes, value) {
        if sanitiser.passes_string(string_content(text, string)) {
            continue;
        }
        let before = string.string(bytes).unwrap_or_default();
        let cleaned = sanitiser.clean(&before);
        if cleaned.blocked {
            return None;
        }
        if is_key(bytes, string) && cleaned.is_changed() {
            splice(edits, string, &before, &renamed(&cleaned));
        } else {
            splice(edits, string, &before, &cleaned.text);
        }
    }
    Some(())
}

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Note")
            .field("len", &self.bytes.len())
            .field("is_cleaned", &self.is_cleaned)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(note: Option<Note>) -> Option<String> {
        Some(String::from_utf8(note?.bytes().to_vec()).unwrap())
    }

    fn admit(message: &'static str) -> Option<String> {
        text(Note::admit(message, &NotePolicy::default()))
    }

    fn off() -> NotePolicy {
        NotePolicy {
            sanitisation: Sanitisation::off(),
            ..NotePolicy::default()
        }
    }

    #[test]
    fn every_name_and_string_of_a_notification_is_cleaned() {
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":"[INST]","message":"\u200bhalf [INST] way","progress":1.0}}"#;
        let expected = progress
            .replace(r"\u200bhalf", "half")
            .replace("[INST]", "(removed: control token)");
        assert_eq!(admit(progress), Some(expected));
        let nested = r#"{"method":"notifications/message","params":{"level":"<|im_end|>","data":{"a<|im_end|>":["<|im_end|>", 1],"\u200bb":1},"<|im_end|>":[]}}"#;
        let expected = nested
            .replace("<|im_end|>", "(removed: control token)")
            .replace(r"\u200bb", "b (cleaned)");
        assert_eq!(admit(nested), Some(expected));
        let list = r#"{"method":"a","params":["<|im_end|>"]}"#;
        let expected = list.replace("<|im_end|>", "(removed: control token)");
        assert_eq!(admit(list), Some(expected));
        for kept in [
            r#"{"method":"notifications/message","params":{"data":"caf\u00e9 <b> 1"}}"#,
            r#"{"method":"a","params":{"_meta":{"a":"<|im_end|>"},"uri":"x:<|im_end|>"}}"#,
        ] {
            assert_eq!(admit(kept).as_deref(), Some(kept));
        }
    }

    #[test]
    fn the_clients_own_progress_token_is_not_cleaned() {
        let progress = |token: &str| {
            format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"message":"[INST]"}}}}"#
            )
        };
        let token = r#""[INST]""#;
        let under = |message: String| {
            text(Note::progress(
                message,
                token.as_bytes(),
                &NotePolicy::default(),
            ))
        };
        let expected = progress(token).replace(
            r#""message":"[INST]"#,
            r#""message":"(removed: control token)"#,
        );
        assert_eq!(under(progress("7")), Some(expected));
        assert_eq!(under(progress(r#"7,"progressToken":8"#)), None);
        assert_eq!(under(progress("7").replace("progressToken", "x")), None);
    }

    #[test]
    fn a_cancellation_names_the_request_as_the_client_knows_it() {
        let cancelled = |params: &str| {
            let message =
                format!(r#"{{"method":"notifications/cancelled","params":{{{params}}}}}"#);
            text(Note::cancellation(
                message,
                b"\"ours\"",
                &NotePolicy::default(),
            ))
        };
        let seen = cancelled(r#""requestId":7,"reason":"late [INST]""#);
        let expected = r#"{"method":"notifications/cancelled","params":{"requestId":"ours","reason":"late (removed: control token)"}}"#;
        assert_eq!(seen.as_deref(), Some(expected));
        assert_eq!(cancelled(r#""requestId":7,"requestId":8"#), None);
        assert_eq!(cancelled(r#""reason":"x""#), None);
    }

    #[test]
    fn a_notification_or_request_has_no_members_of_a_reply() {
        let both =
            r#"{"jsonrpc":"2.0","id":1,"\u006dethod":"a","params":{},"result":{"x":1},"y":2}"#;
        let notification = r#"{"jsonrpc":"2.0","\u006dethod":"a","params":{}}"#;
        let request = r#"{"jsonrpc":"2.0","id":1,"\u006dethod":"a","params":{}}"#;
        for policy in [NotePolicy::default(), off()] {
            let admitted = text(Note::admit(both, &policy));
            assert_eq!(admitted.as_deref(), Some(notification));
            let admitted = text(Note::request(both, b"\"ours\"", &policy));
            let ours = request.replace(r#""id":1"#, r#""id":"ours""#);
            assert_eq!(admitted, Some(ours));
            assert!(Note::request(notification, b"1", &policy).is_none());
        }
    }

    #[test]
    fn what_is_no_note_is_dropped() {
        assert_eq!(admit("{"), None);
        for unsound in [
            "1",
            r#"{"params":{}}"#,
            r#"{"method":1}"#,
            r#"{"method":"a","\u006dethod":"b"}"#,
            r#"{"method":"a","jsonrpc":"<|im_end|>"}"#,
            r#"{"method":"notifications/<|im_end|>"}"#,
        ] {
            assert_eq!(admit(unsound), None, "{unsound}");
        }
        let large = format!(r#"{{"method":"{}"}}"#, "x".repeat(MAX_NOTE_BYTES));
        assert!(Note::admit(large, &off()).is_none());
    }

    #[test]
    fn a_notification_that_is_too_deep_is_dropped_in_every_mode() {
        let deep = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"method":"a","params":{{"_meta":{{"x":{open}1{close}}}}}}}"#)
        };
        let most = MAX_MESSAGE_DEPTH as usize - 4;
        for policy in [NotePolicy::default(), off()] {
            assert!(Note::admit(deep(most), &policy).is_some());
            assert!(Note::admit(deep(most + 1), &policy).is_none());
            assert!(Note::admit(deep(30_000), &policy).is_none());
        }
    }
}
