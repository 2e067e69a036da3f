//! One request of a client that the server has not answered yet.

use std::sync::Arc;

use bytes::Bytes;

use crate::era::Era;
use crate::input::InputVerdict;
use crate::judge::contract::Contract;

/// A request under way.
pub(super) struct Request {
    /// The client's id token.
    pub(super) client_id: Bytes,
    pub(super) question: Question,
    /// What was decided about a call's arguments.
    pub(super) input: Option<InputVerdict>,
    /// The era that the request itself names.
    pub(super) era: Option<Era>,
}

/// What the request asks for.
pub(super) enum Question {
    /// A call keeps the contract it started under, whatever a later list says.
    Call(Arc<Contract>),
    ToolList,
    Initialize,
    /// Any other method, by its name.
    Other(String),
}
