//! The members of a JSON-RPC message that the gateway interprets, and where they stand.
//! The set is closed: everything else in a message passes through unread.

use crate::kind::Kind;
use crate::span::Span;

/// The objects whose members are interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Message,
    Params,
    Result,
    Error,
}

/// Declares the members, each with the object it stands in, its name there and its path in a message.
macro_rules! members {
    ($($variant:ident = $scope:ident, $name:literal, $path:literal;)+) => {
        /// A member of a message that is interpreted somewhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Member {
            $(#[doc = concat!("`", $path, "`")] $variant,)+
        }

        impl Member {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The dotted path of the member in a message.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $path),+ }
            }

            /// The member of `scope` with this decoded name.
            pub(crate) fn from_name(scope: Scope, name: &[u8]) -> Option<Self> {
                match (scope, name) {
                    $((Scope::$scope, $name) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

members! {
    JsonRpc = Message, b"jsonrpc", "jsonrpc";
    Id = Message, b"id", "id";
    Method = Message, b"method", "method";
    Params = Message, b"params", "params";
    Result = Message, b"result", "result";
    Error = Message, b"error", "error";
    ParamsName = Params, b"name", "params.name";
    ParamsArguments = Params, b"arguments", "params.arguments";
    ParamsMeta = Params, b"_meta", "params._meta";
    StructuredContent = Result, b"structuredContent", "result.structuredContent";
    IsError = Result, b"isError", "result.isError";
    Content = Result, b"content", "result.content";
    ResultType = Result, b"resultType", "result.resultType";
    ResultMeta = Result, b"_meta", "result._meta";
    ErrorCode = Error, b"code", "error.code";
    ErrorMessage = Error, b"message", "error.message";
    ErrorData = Error, b"data", "error.data";
}

impl Member {
    /// The scope that opens inside this member.
    pub(crate) const fn scope(self) -> Option<Scope> {
        match self {
            Self::Params => Some(Scope::Params),
            Self::Result => Some(Scope::Result),
            Self::Error => Some(Scope::Error),
            _ => None,
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl std::fmt::Display for Member {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

/// What a [`Scan`](crate::Scan) found: spans of the interpreted members, never their meaning.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub(crate) root: Span,
    pub(crate) kind: Kind,
    pub(crate) depth: u32,
    pub(crate) structured_depth: u32,
    pub(crate) lone_surrogate: Option<u32>,
    pub(crate) has_unknown_members: bool,
    /// Meaningful where `present` says so. Not options: an envelope goes through many hands.
    spans: [Span; Member::ALL.len()],
    present: u32,
    repeated: u32,
}

impl Default for Envelope {
    fn default() -> Self {
        Self::new()
    }
}

impl Envelope {
    /// An envelope to be filled by a [`Scan`](crate::Scan): of nothing, with no members.
    pub const fn new() -> Self {
        Self {
            root: Span::new(0, 0),
            kind: Kind::Null,
            depth: 1,
            structured_depth: 0,
            lone_surrogate: None,
            has_unknown_members: false,
            spans: [Span::new(0, 0); Member::ALL.len()],
            present: 0,
            repeated: 0,
        }
    }

    /// Forget what an earlier scan found.
    pub(crate) fn clear(&mut self) {
        self.structured_depth = 0;
        self.lone_surrogate = None;
        self.has_unknown_members = false;
        self.present = 0;
        self.repeated = 0;
    }

    /// Record a member; a second one of the same name is only marked as repeated. True if it was the first.
    pub(crate) fn record(&mut self, member: Member, span: Span) -> bool {
        if self.present & member.bit() != 0 {
            self.repeated |= member.bit();
            return false;
        }
        self.present |= member.bit();
        self.spans[member as usize] = span;
        true
    }

    /// What the whole text is; a message is an object, a batch is an array.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The whole value, without the whitespace around it.
    pub fn root(&self) -> Span {
        self.root
    }

    /// Nesting of the whole text: a scalar or an empty container is 1, a container is 1 + its deepest child.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The value of an interpreted member; of its first occurrence if there are several.
    #[inline]
    pub fn get(&self, member: Member) -> Option<Span> {
        (self.present & member.bit() != 0).then(|| self.spans[member as usize])
    }

    /// The `id` token.
    pub fn id(&self) -> Option<Span> {
        self.get(Member::Id)
    }

    /// The `method` token.
    pub fn method(&self) -> Option<Span> {
        self.get(Member::Method)
    }

    /// The `params` value.
    pub fn params(&self) -> Option<Span> {
        self.get(Member::Params)
    }

    /// The `result` value; of a bare result, the whole text.
    pub fn result(&self) -> Option<Span> {
        self.get(Member::Result)
    }

    /// The `error` value.
    pub fn error(&self) -> Option<Span> {
        self.get(Member::Error)
    }

    /// The `result.content` value.
    pub fn content(&self) -> Option<Span> {
        self.get(Member::Content)
    }

    /// The `result.structuredContent` value.
    pub fn structured_content(&self) -> Option<Span> {
        self.get(Member::StructuredContent)
    }

    /// Nesting of `result.structuredContent` alone; 0 when it is absent.
    pub fn structured_content_depth(&self) -> u32 {
        self.structured_depth
    }

    /// The value of `result.isError` when it is a boolean. `bytes` is the scanned input.
    pub fn is_error(&self, bytes: &[u8]) -> Option<bool> {
        match self.get(Member::IsError)?.kind(bytes)? {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Interpreted members that occur more than once in their object, by decoded name.
    #[inline]
    pub fn duplicates(&self) -> impl Iterator<Item = Member> + '_ {
        let any = if self.repeated == 0 {
            0
        } else {
            Member::ALL.len()
        };
        let all = Member::ALL.iter().copied().take(any);
        all.filter(|member| self.repeated & member.bit() != 0)
    }

    /// Whether a message has a top-level member that JSON-RPC does not know: none of `jsonrpc`, `id`, `method`,
    /// `params`, `result` and `error`. Always false for a bare result.
    #[inline]
    pub fn has_unknown_members(&self) -> bool {
        self.has_unknown_members
    }

    /// Where the first string with an unpaired surrogate escape starts, anywhere in the text.
    pub fn lone_surrogate(&self) -> Option<u32> {
        self.lone_surrogate
    }
}
