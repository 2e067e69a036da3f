//! The top-level members that JSON-RPC gives each kind of message. Everything else at the top level of a server's
//! message is cut before the message leaves, in every mode: a reply that also has `method` and `params` is a request
//! to some clients, and nothing outside `result` and `error` is inspected.

use countersign_tape::{Edits, Envelope, Member, Span, members};

/// What a message of a server is to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Response,
    Notification,
    Request,
}

impl MessageKind {
    /// The members a message of this kind may have.
    const fn members(self) -> &'static [Member] {
        match self {
            Self::Response => &[Member::JsonRpc, Member::Id, Member::Result, Member::Error],
            Self::Notification => &[Member::JsonRpc, Member::Method, Member::Params],
            Self::Request => &[Member::JsonRpc, Member::Id, Member::Method, Member::Params],
        }
    }

    /// The members of the other kinds.
    const fn members_of_other_kinds(self) -> &'static [Member] {
        match self {
            Self::Response => &[Member::Method, Member::Params],
            Self::Notification => &[Member::Id, Member::Result, Member::Error],
            Self::Request => &[Member::Result, Member::Error],
        }
    }

    /// Whether a scanned message has a member of another kind, which would let it be read as that.
    pub(crate) fn is_ambiguous(self, envelope: &Envelope) -> bool {
        let present = |member: &Member| envelope.get(*member).is_some();
        self.members_of_other_kinds().iter().any(present)
    }

    /// Whether a scanned message has members that are to be cut. Costs nothing where there are none.
    #[inline]
    pub(crate) fn has_foreign_members(self, envelope: &Envelope) -> bool {
        envelope.has_unknown_members() || self.is_ambiguous(envelope)
    }

    /// Cuts every member that a message of this kind may not have, whatever the spelling of its name.
    pub(crate) fn cut_foreign_members(self, bytes: &[u8], message: Span, edits: &mut Edits<'_>) {
        let is_own = |name: &str| self.members().iter().any(|own| own.as_str() == name);
        for (key, _) in members(bytes, message) {
            if !key.string(bytes).is_some_and(|name| is_own(&name)) {
                edits.remove_member(message, key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_tape::{ScanLimits, scan};

    use super::*;

    fn cut(kind: MessageKind, text: &str) -> String {
        let envelope = scan(text.as_bytes(), &ScanLimits::default()).unwrap();
        let mut edits = Edits::new(text.as_bytes());
        kind.cut_foreign_members(text.as_bytes(), envelope.root(), &mut edits);
        assert_eq!(kind.has_foreign_members(&envelope), !edits.is_empty());
        String::from_utf8(edits.apply().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_response_keeps_its_four_members_and_their_bytes() {
        let own = r#" {"\u006asonrpc" :"2.0", "id": 1,"result":{ "method":"a" }} "#;
        assert_eq!(cut(MessageKind::Response, own), own);
        let request = r#"{"\u006dethod":"a","jsonrpc":"2.0", "params":{"b":1},"id":1 ,"x":[],"method":"b","result":{}, "" : 2}"#;
        assert_eq!(
            cut(MessageKind::Response, request),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
        );
    }

    #[test]
    fn notifications_and_requests_keep_theirs() {
        let both =
            r#"{"jsonrpc":"2.0","method":"a","params":{"x":1},"id":7,"result":{},"error":1,"y":0}"#;
        assert_eq!(
            cut(MessageKind::Notification, both),
            r#"{"jsonrpc":"2.0","method":"a","params":{"x":1}}"#
        );
        assert_eq!(
            cut(MessageKind::Request, both),
            r#"{"jsonrpc":"2.0","method":"a","params":{"x":1},"id":7}"#
        );
    }
}
