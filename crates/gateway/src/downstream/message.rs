//! One message of a client: scanned once, its interpreted members known by their spans. What could
//! be read in two ways is refused, because two readers would then decide about two messages.

use bytes::Bytes;
use countersign_tape::{Edits, Envelope, Kind, Member, ScanLimits, Span, members, quote, scan};
use countersign_wire::json::{member, path};
use countersign_wire::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION};

use crate::path::reply::Problem;

/// The longest id of a request. It is repeated in every message of a subscription.
const MAX_ID_BYTES: usize = 1024;

/// A message that can be read one way only.
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Bytes,
    envelope: Envelope,
    /// By [`MetaMember`]: where its value stands.
    meta: [Option<Span>; MetaMember::ALL.len()],
}

/// A member of `params._meta` that the gateway reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MetaMember {
    ProtocolVersion,
    ClientInfo,
    ClientCapabilities,
    LogLevel,
    ProgressToken,
}

impl MetaMember {
    const ALL: [(Self, &str); 5] = [
        (Self::ProtocolVersion, PROTOCOL_VERSION),
        (Self::ClientInfo, CLIENT_INFO),
        (Self::ClientCapabilities, CLIENT_CAPABILITIES),
        (Self::LogLevel, LOG_LEVEL),
        (Self::ProgressToken, "progressToken"),
    ];

    /// Finds all of them in one pass, each where it stands first.
    fn find_all(bytes: &[u8], meta: Span) -> [Option<Span>; Self::ALL.len()] {
        let mut found = [None; Self::ALL.len()];
        for (key, value) in members(bytes, meta) {
            let is_it = |(_, name): &&(Self, &str)| key.is_text(bytes, name);
            if let Some((member, _)) = Self::ALL.iter().find(is_it) {
                found[*member as usize].get_or_insert(value);
            }
        }
        found
    }
}

/// What a message wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// An answer, under this id token.
    Request { id: Bytes, method: String },
    /// Nothing.
    Notification { method: String },
    /// It is an answer itself.
    Response,
}

impl Message {
    /// Reads a message.
    pub(crate) fn read(bytes: Bytes) -> Result<Self, Problem> {
        let hard = ScanLimits {
            max_bytes: usize::MAX,
            ..ScanLimits::default()
        };
        let envelope = scan(&bytes, &hard).map_err(|_| Problem::Parse)?;
        if envelope.kind() != Kind::Object {
            return Err(Problem::Invalid("not a single message"));
        }
        if envelope.duplicates().next().is_some() {
            return Err(Problem::Invalid("a member is written twice"));
        }
        let version = envelope
            .get(Member::JsonRpc)
            .map(|value| value.bytes(&bytes));
        if version != Some(b"\"2.0\"") {
            return Err(Problem::Invalid("jsonrpc must be \"2.0\""));
        }
        let meta = envelope.get(Member::ParamsMeta);
        let meta = meta.map_or([None; _], |meta| MetaMember::find_all(&bytes, meta));
        Ok(Self {
            bytes,
            envelope,
            meta,
        })
    }

    /// What it wants.
    pub(crate) fn kind(&self) -> Result<MessageKind, Problem> {
        let Some(method) = self.envelope.method() else {
            let answers = self.envelope.result().is_some() || self.envelope.error().is_some();
            return answers
                .then_some(MessageKind::Response)
                .ok_or(Problem::Invalid("no method"));
        };
        let method = method
            .string(&self.bytes)
            .ok_or(Problem::Invalid("method is not a string"))?;
        let method = method.into_owned();
        let Some(id) = self.envelope.id() else {
            return Ok(MessageKind::Notification { method });
        };
        match id.kind(&self.bytes) {
            _ if id.bytes(&self.bytes).len() > MAX_ID_BYTES => {
                Err(Problem::Invalid("id is too long"))
            }
            Some(Kind::String | Kind::Number) => Ok(MessageKind::Request {
                id: self.slice(id),
                method,
            }),
            _ => Err(Problem::Invalid("id is neither a string nor a number")),
        }
    }

    /// Reads a message and says of which kind it is.
    pub(crate) fn parse(bytes: Bytes) -> Result<(MessageKind, Self), Problem> {
        let message = Self::read(bytes)?;
        Ok((message.kind()?, message))
    }

    /// The `params`, which are an object if they are there at all.
    pub(crate) fn params(&self) -> Result<Option<Bytes>, Problem> {
        match self.envelope.params() {
            None => Ok(None),
            Some(params) if params.kind(&self.bytes) == Some(Kind::Object) => {
                Ok(Some(self.slice(params)))
            }
            Some(_) => Err(Problem::Params("not an object")),
        }
    }

    /// A member of `params`, as a raw token.
    pub(crate) fn param(&self, name: &str) -> Option<Bytes> {
        let value = member(&self.bytes, self.envelope.params()?, name)?;
        Some(self.slice(value))
    }

    /// The text of a member of `params` that names something: nothing if it is not one, or if it
    /// is there twice, because two readers would then see two names.
    pub(crate) fn name_param(&self, by: &str) -> Option<String> {
        if by == "name" {
            // A message in which it is there twice was refused.
            let name = self.envelope.get(Member::ParamsName)?;
            return Some(name.string(&self.bytes)?.into_owned());
        }
        let params = self.envelope.params()?;
        let is_it = |key: Span| key.is_text(&self.bytes, by);
        let mut found = members(&self.bytes, params).filter(|(key, _)| is_it(*key));
        let (_, name) = found.next()?;
        let name = name.string(&self.bytes)?.into_owned();
        found.next().is_none().then_some(name)
    }

    /// `params.arguments`.
    pub(crate) fn arguments(&self) -> Option<Bytes> {
        self.envelope
            .get(Member::ParamsArguments)
            .map(|value| self.slice(value))
    }

    /// `params._meta`.
    pub(crate) fn meta(&self) -> Option<Bytes> {
        self.envelope
            .get(Member::ParamsMeta)
            .map(|value| self.slice(value))
    }

    /// A member of `params._meta`.
    pub(crate) fn meta_member(&self, member: MetaMember) -> Option<Bytes> {
        let value = self.meta[member as usize]?;
        Some(self.slice(value))
    }

    /// Its id, as a raw token.
    pub(crate) fn id(&self) -> Option<Bytes> {
        self.envelope.id().map(|id| self.slice(id))
    }

    /// The whole of it.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The text at a path of member names in `params`.
    pub(crate) fn text_at(&self, names: &[&str]) -> Option<String> {
        let value = path(&self.bytes, self.envelope.params()?, names)?;
        Some(value.string(&self.bytes)?.into_owned())
    }

    /// The same message with another text at a path of member names in `params`. Nothing if a member there is written
    /// twice, because its readers would then see two texts.
    pub(crate) fn replacing(&self, names: &[&str], text: &str) -> Option<Self> {
        let mut value = self.envelope.params()?;
        for name in names {
            let is_it = |key: Span| key.is_text(&self.bytes, name);
            let mut found = members(&self.bytes, value).filter(|(key, _)| is_it(*key));
            let (_, member) = found.next()?;
            if found.next().is_some() {
                return None;
            }
            value = member;
        }
        let mut edits = Edits::new(&self.bytes);
        edits.replace(value, quote(text));
        Self::read(edits.apply().ok()?.to_vec().into()).ok()
    }

    /// The same under another id.
    pub(crate) fn with_id(&self, id: &[u8]) -> Option<Bytes> {
        let mut edits = Edits::new(&self.bytes);
        edits.replace(self.envelope.id()?, id);
        Some(edits.apply().ok()?.to_vec().into())
    }

    fn slice(&self, span: Span) -> Bytes {
        self.bytes.slice_ref(span.bytes(&self.bytes))
    }
}

/// The text of a raw string token.
pub(crate) fn text(token: &Bytes) -> Option<String> {
    Some(Span::whole(token).string(token)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &'static str) -> Result<MessageKind, Problem> {
        Message::read(Bytes::from_static(text.as_bytes()))?.kind()
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let request = kind(r#"{"id":1.0,"method":"a\u002fb","jsonrpc":"2.0"}"#);
        let id = Bytes::from_static(b"1.0");
        assert_eq!(
            request,
            Ok(MessageKind::Request {
                id,
                method: "a/b".to_owned()
            })
        );
        let method = "n".to_owned();
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","method":"n"}"#),
            Ok(MessageKind::Notification { method })
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Ok(MessageKind::Response)
        );
    }

    #[test]
    fn a_name_is_there_once() {
        let named = |params: &'static str, by| {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
            Message::read(text.into())
                .expect("a message")
                .name_param(by)
        };
        assert_eq!(
            named(r#"{"uri":"a\u002fb"}"#, "uri").as_deref(),
            Some("a/b")
        );
        assert_eq!(named(r#"{"uri":"a","ur\u0069":"b"}"#, "uri"), None);
        assert_eq!(named(r#"{"uri":5}"#, "uri"), None);
        assert_eq!(named("{}", "uri"), None);
    }

    #[test]
    fn a_text_is_replaced_where_it_stands_once() {
        let message = |params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0", "method":"m","params":{params}}}"#);
            Message::read(text.into()).expect("a message")
        };
        let replaced = message(r#"{"ref":{ "name":"a\u0062" },"x":1.0}"#);
        let replaced = replaced.replacing(&["ref", "name"], "c\"").expect("a text");
        let expected =
            r#"{"jsonrpc":"2.0", "method":"m","params":{"ref":{ "name":"c\"" },"x":1.0}}"#;
        assert_eq!(replaced.bytes(), expected);
        assert_eq!(replaced.text_at(&["ref", "name"]).as_deref(), Some("c\""));
        for twice in [
            r#"{"ref":{"name":"a","n\u0061me":"b"}}"#,
            r#"{"ref":{"name":"a"},"ref":{}}"#,
        ] {
            assert!(message(twice).replacing(&["ref", "name"], "c").is_none());
        }
    }

    #[test]
    fn what_can_be_read_two_ways_is_refused() {
        assert_eq!(kind("{"), Err(Problem::Parse));
        for bad in [
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","method":"m","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":null}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":{}}"#,
            r#"{"jsonrpc":"2.0","method":5,"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":1,"id":2}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":1,"params":{"name":"a","n\u0061me":"b"}}"#,
        ] {
            assert!(matches!(kind(bad), Err(Problem::Invalid(_))), "{bad}");
        }
    }
}
