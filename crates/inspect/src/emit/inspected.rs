//! A result that passed all stages. Every reply is made from one, and the content of a blocked result
//! cannot be read out of it.

use std::fmt;

use bytes::Bytes;
use countersign_tape::members;
use serde::de::DeserializeOwned;

use crate::clean::listing::Listing;
use crate::clean::{self, Cleaning};
use crate::digest::Digest;
use crate::emit::authored;
use crate::emit::body::{Body, Original, respond};
use crate::emit::refusal::Refusal;
use crate::emit::segments::Segments;
use crate::era::ClientEra;
use crate::error::Error;
use crate::judge::contract::SchemaVersion;
use crate::verdict::{Decision, Finding, Mode};

/// A result that was inspected, with everything decided about it. `Debug` shows the verdict and
/// never the bytes.
pub struct Inspected {
    pub(crate) body: Body,
    pub(crate) decision: Decision,
    pub(crate) mode: Mode,
    pub(crate) findings: Vec<Finding>,
    pub(crate) reason: Option<String>,
    /// The text of an answer of our own, where it says more than the reason.
    pub(crate) answer: Option<String>,
    pub(crate) fuel_used: u64,
    pub(crate) judged_by: Option<SchemaVersion>,
    pub(crate) original: Original,
    /// Why there is no result to forward, where that is the case.
    pub(crate) refusal: Option<Refusal>,
    /// What was done to its texts, if anything.
    pub(crate) cleaning: Option<Box<Cleaning>>,
}

impl fmt::Debug for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspected")
            .field("decision", &self.decision)
            .field("reason", &self.reason)
            .field("findings", &self.findings.len())
            .field("received_bytes", &self.received_bytes())
            .finish_non_exhaustive()
    }
}

impl Inspected {
    /// An answer of our own. It holds nothing an upstream wrote.
    pub fn from_refusal(refusal: Refusal, client: ClientEra) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::from_authored_text(Decision::Allowed, &refusal.to_string(), client)
        }
    }

    /// The answer to a call of a tool that does not exist: it names the tool as the client wrote it, shortened and with
    /// every character that a tool's name cannot have replaced. The reason, for records, is without the name.
    pub fn unknown_tool(name: &str, client: ClientEra) -> Self {
        let text = Refusal::UnknownTool.text_with_name(name);
        Self {
            body: Body::Authored(authored::error_result(&text, client)),
            answer: Some(text),
            ..Self::from_refusal(Refusal::UnknownTool, client)
        }
    }

    /// An answer about the tools there are: one text block, and nothing that was not admitted.
    pub fn from_listing(listing: &Listing, client: ClientEra) -> Self {
        let text = String::from_utf8_lossy(listing.bytes());
        Self {
            body: Body::Authored(authored::text_result(&text, client)),
            reason: None,
            ..Self::from_authored_text(Decision::Allowed, "", client)
        }
    }

    /// Arguments that were refused, in words the model can act on.
    pub(crate) fn refused_input(reason: &str, client: ClientEra) -> Self {
        Self::from_authored_text(Decision::Blocked, reason, client)
    }

    fn from_authored_text(decision: Decision, text: &str, client: ClientEra) -> Self {
        Self {
            body: Body::Authored(authored::error_result(text, client)),
            decision,
            mode: Mode::Off,
            findings: Vec::new(),
            reason: Some(text.to_owned()),
            answer: None,
            fuel_used: 0,
            judged_by: None,
            original: Original::default(),
            refusal: None,
            cleaning: None,
        }
    }

    /// Whether the answer is in our own words: a refusal, a block, or what a listing says.
    pub fn is_authored(&self) -> bool {
        matches!(self.body, Body::Authored(_))
    }

    /// Why there was no result to forward, if there was none.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// What was decided.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The mode in force.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What was found, by all stages, in the order of the stages.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// One sentence for records: why the decision is not `allowed`, or what our own answer says.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The sentence that a client reads in an answer of our own: the reason and, where a result was blocked, which tool it
    /// was, what was found and whether it helps to call again.
    pub fn answer(&self) -> Option<&str> {
        let answer = self.answer.as_deref().or(self.reason());
        answer.filter(|_| self.is_authored())
    }

    /// Units of work the schema cost.
    pub fn fuel_used(&self) -> u64 {
        self.fuel_used
    }

    /// The schema in force, if the tool declares one.
    pub fn schema_version(&self) -> Option<SchemaVersion> {
        self.judged_by
    }

    /// Whether the upstream reported a failure: a JSON-RPC error, or a result that says `isError`.
    pub fn is_error(&self) -> bool {
        self.original.is_error
    }

    /// Whether the upstream answered with a JSON-RPC error, which is passed on.
    pub fn is_rpc_error(&self) -> bool {
        self.original.is_error && self.original.result.is_none() && !self.is_authored()
    }

    /// The code of the JSON-RPC error that the upstream answered with, whatever became of it. Nothing if it answered with a
    /// result, or with a code that is not a whole number.
    pub fn received_error_code(&self) -> Option<i64> {
        if !self.original.is_error || self.original.result.is_some() {
            return None;
        }
        let bytes = &self.original.bytes;
        let find = |object, name: &str| {
            let mut members = members(bytes, object);
            let found = members.find(|(key, _)| key.is_text(bytes, name));
            found.map(|(_, value)| value)
        };
        let code = find(find(self.original.root(), "error")?, "code")?;
        std::str::from_utf8(code.bytes(bytes)).ok()?.parse().ok()
    }

    /// How many bytes arrived.
    pub fn received_bytes(&self) -> usize {
        self.original.bytes.len()
    }

    /// SHA-256 of everything that arrived.
    pub fn received_digest(&self) -> Digest {
        Digest::sha256(&self.original.bytes)
    }

    /// SHA-256 of the result as received, without the envelope around it; nothing if there is none.
    pub fn result_digest(&self) -> Option<Digest> {
        let result = self.original.result?;
        Some(Digest::sha256(result.bytes(&self.original.bytes)))
    }

    /// Length and SHA-256 of `structuredContent` as received, even if it was blocked.
    pub fn structured_digest(&self) -> Option<(u64, Digest)> {
        let value = self.original.structured()?;
        Some((value.len() as u64, Digest::sha256(value)))
    }

    /// Whether what leaves differs from what arrived.
    pub fn is_changed(&self) -> bool {
        match &self.body {
            Body::Forwarded(pieces) => !pieces.is_empty(),
            Body::Authored(_) => true,
        }
    }

    /// A short piece of what arrived, for an operator who wonders about a decision: letters, digits and a little
    /// punctuation, everything else a dot, so that it can do nothing.
    pub fn excerpt(&self) -> String {
        let cleaning = self.cleaning.as_ref();
        if let Some(excerpt) = cleaning.and_then(|cleaning| cleaning.excerpt.as_ref()) {
            return excerpt.clone();
        }
        let value = self.original.structured().unwrap_or(&self.original.bytes);
        let text = String::from_utf8_lossy(value.get(..1024).unwrap_or(value));
        clean::excerpt(&text, 0)
    }

    /// The structured content as text, exactly as received unless it was cleaned; nothing if it was blocked.
    pub fn structured_text(&self) -> Option<&str> {
        let Body::Forwarded(_) = self.body else {
            return None;
        };
        let cleaned = self.cleaning.as_ref();
        let cleaned = cleaned.and_then(|cleaning| cleaning.structured.as_deref());
        let value = cleaned.or_else(|| self.original.structured());
        std::str::from_utf8(value?).ok()
    }

    /// The structured content deserialised into a type of the caller's. Since protocol version
    /// 2026-07-28 it may be any JSON value. `None` if there is none or it was blocked.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let Some(text) = self.structured_text() else {
            return Ok(None);
        };
        serde_json::from_str(text).map(Some).map_err(Error::typed)
    }

    /// The result object the agent receives. `None` if the upstream answered with a JSON-RPC
    /// error, which has no result.
    pub fn result(&self) -> Option<Segments> {
        match &self.body {
            Body::Authored(result) => Some(result.clone().into()),
            Body::Forwarded(pieces) => {
                let result = self.original.result?;
                Some(self.original.forward(pieces, result, None))
            }
        }
    }

    /// The whole response, with the client's own id token in it.
    pub fn message(&self, id: &Bytes) -> Segments {
        match &self.body {
            Body::Forwarded(pieces) if self.original.id.is_some() => {
                self.original
                    .forward(pieces, self.original.root(), Some(id))
            }
            _ => respond(id, self.result().unwrap_or_default()),
        }
    }

    /// What leaves in the form it came: a whole response if it was one, else a bare result.
    pub fn emitted(&self) -> Segments {
        match (&self.body, self.original.id) {
            (Body::Forwarded(pieces), _) => {
                self.original.forward(pieces, self.original.all(), None)
            }
            (Body::Authored(result), Some(id)) => {
                let id = self
                    .original
                    .bytes
                    .slice_ref(id.bytes(&self.original.bytes));
                respond(&id, result.clone().into())
            }
            (Body::Authored(result), None) => result.clone().into(),
        }
    }
}
