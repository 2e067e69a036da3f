//! What a client may read of one message of a server, and what was decided about it.

use bytes::Bytes;
use countersign_tape::quote;

use super::message::join;
use crate::emit::inspected::Inspected;
use crate::emit::refusal::Refusal;
use crate::era::ClientEra;
use crate::input::InputVerdict;
use crate::judge::contract::Contract;
use crate::tool::ToolName;

/// The outcome for one message of a server.
#[derive(Debug, Default)]
pub struct Passed {
    message: Option<Bytes>,
    calls: Vec<JudgedCall>,
    is_batch: bool,
}

/// A call whose result was judged.
#[derive(Debug)]
pub struct JudgedCall {
    client_id: Bytes,
    client: ClientEra,
    tool: ToolName,
    inspected: Inspected,
    input: Option<InputVerdict>,
}

impl JudgedCall {
    /// The id token of the client's request.
    pub fn client_id(&self) -> &Bytes {
        &self.client_id
    }

    /// The tool that was called.
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// What was decided about the result.
    pub fn inspected(&self) -> &Inspected {
        &self.inspected
    }

    /// What was decided about the arguments.
    pub fn input(&self) -> Option<&InputVerdict> {
        self.input.as_ref()
    }
}

impl Passed {
    pub(super) fn dropped() -> Self {
        Self::default()
    }

    pub(super) fn note(message: Bytes) -> Self {
        Self {
            message: Some(message),
            ..Self::default()
        }
    }

    pub(super) fn called(
        (client_id, client): (Bytes, ClientEra),
        contract: &Contract,
        inspected: Inspected,
        input: Option<InputVerdict>,
    ) -> Self {
        let message = inspected.message(&client_id).into_bytes();
        let call = JudgedCall {
            client_id,
            client,
            tool: contract.tool().clone(),
            inspected,
            input,
        };
        Self {
            message: Some(message),
            calls: vec![call],
            is_batch: false,
        }
    }

    /// The answer to a request that is no call. What is refused becomes an error, because an error result is not an
    /// answer to other methods.
    pub(super) fn other(client_id: &Bytes, inspected: &Inspected) -> Self {
        if !inspected.is_authored() {
            return Self::note(inspected.message(client_id).into_bytes());
        }
        let text = quote(inspected.answer().unwrap_or("blocked by policy"));
        let parts: [&[u8]; 5] = [
            br#"{"jsonrpc":"2.0","id":"#,
            client_id,
            br#","error":{"code":-32603,"message":"#,
            &text,
            b"}}",
        ];
        Self::note(parts.concat().into())
    }

    pub(super) fn batch(parts: impl Iterator<Item = Self>) -> Self {
        let (mut messages, mut calls) = (Vec::new(), Vec::new());
        for part in parts {
            messages.extend(part.message);
            calls.extend(part.calls);
        }
        let message = (!messages.is_empty()).then(|| join(messages.into_iter().map(Some)));
        Self {
            message,
            calls,
            is_batch: true,
        }
    }

    /// What the client may read; nothing if the message was dropped.
    pub fn message(&self) -> Option<&Bytes> {
        self.message.as_ref()
    }

    /// The same, by value.
    pub fn into_message(self) -> Option<Bytes> {
        self.message
    }

    /// The call that the message answers, if it answers one; of a batch, the first.
    pub fn call(&self) -> Option<&JudgedCall> {
        self.calls.first()
    }

    /// Every call that the message answers: more than one in a batch only.
    pub fn calls(&self) -> &[JudgedCall] {
        &self.calls
    }

    /// What the client may read if the decision could not be recorded and unrecorded results are not forwarded.
    pub fn unrecorded(&self) -> Option<Bytes> {
        let refuse = |call: &JudgedCall| {
            let refused = Inspected::from_refusal(Refusal::Unrecorded, call.client);
            refused.message(&call.client_id).into_bytes()
        };
        match &self.calls[..] {
            [] => self.message.clone(),
            [call] if !self.is_batch => Some(refuse(call)),
            calls => Some(join(calls.iter().map(refuse).map(Some))),
        }
    }
}
