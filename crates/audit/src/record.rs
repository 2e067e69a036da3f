//! `Record`: one thing that happened, in full. What the gateway writes and an auditor reads.
//!
//! Fields that must agree (type, status, decision) are private and set together. Refuses to be unbounded: every text is cut
//! to a limit before it is stored, because servers choose names and the number of findings. Serves the record stage.

use serde::{Deserialize, Serialize};

use crate::id::{NewId, Ulid};
use crate::time::Timestamp;

pub(crate) mod body;
mod bound;
mod closed;
pub(crate) mod indexed_fields;
mod millis;
mod opening;
mod payload;
mod redact;
pub(crate) mod verdict;

pub use body::DecodeError;
pub use bound::MAX_FINDINGS;
pub(crate) use bound::stored_name;
pub use closed::{Kind, Source, Status};
pub use millis::Millis;
pub use opening::{Head, Opening};
pub use payload::{Payload, PayloadPolicy, Payloads};
pub use redact::Redactor;
pub use verdict::{Decision, Finding, Mode, Severity, Stage, parse_rule};
/// How something other than a policy decision ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out.
    Success,
    /// It failed.
    Error,
    /// It was refused before the upstream saw it.
    Rejected,
}

/// One thing that happened. Immutable once committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    id: Ulid,
    #[serde(rename = "type")]
    kind: Kind,
    /// When it happened, by the clock. Records are ordered by their place in the store, not by this.
    pub timestamp: Timestamp,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// Which entrance it came through.
    pub source: Source,
    /// The upstream server's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool's own name, without the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the client calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Who called, as the gateway has established it: by a key, a token, a certificate or a user id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The session, as a name that opens nothing: never the session token itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The client's request id, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The record this one belongs to: a decision points to its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Ulid>,
    status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    /// One sentence for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// What was found; at most [`MAX_FINDINGS`] are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How many findings were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    findings_left_out: u64,
    /// The result was checked against its contract: the declared schema, or a guard or shape that it broke before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validated: bool,
    /// Why a result with a declared schema was allowed without being held to it: the rule `contract.missing` or
    /// `contract.uncompilable`. Strict mode blocks such a result if the configuration says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unvalidated: Option<String>,
    /// The digest of the schema that judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_digest: Option<String>,
    /// The generation of that schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_generation: Option<u64>,
    /// The digest of what was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_digest: Option<String>,
    /// Length of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u64>,
    /// Length of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u64>,
    /// The request, if the payload policy keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Payload>,
    /// The response, if the payload policy keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Payload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opening: Option<Opening>,
}

impl Record {
    /// A record of anything but a policy decision. (Asked for a policy decision, it makes one: allowed, or blocked if not a success.)
    pub fn new(id: impl Into<NewId>, kind: Kind, outcome: Outcome) -> Self {
        let status = match outcome {
            Outcome::Success => Status::Success,
            Outcome::Error => Status::Error,
            Outcome::Rejected => Status::Rejected,
        };
        match (kind, outcome) {
            (Kind::PolicyDecision, Outcome::Success) => Self::decided(id, Decision::Allowed),
            (Kind::PolicyDecision, _) => Self::decided(id, Decision::Blocked),
            _ => Self::blank(id.into(), kind, status, None),
        }
    }

    /// A policy decision; its status is the decision.
    pub fn decided(id: impl Into<NewId>, decision: Decision) -> Self {
        Self::blank(
            id.into(),
            Kind::PolicyDecision,
            verdict::status_of(decision),
            Some(decision),
        )
    }

    /// The first record of a chain.
    pub(crate) fn opening(id: NewId, opening: Opening) -> Self {
        let mut record = Self::blank(id, Kind::SystemStart, Status::Success, None);
        record.source = Source::Internal;
        record.reason = Some(format!("{} started", opening.version));
        record.opening = Some(opening);
        record
    }

    fn blank(new: NewId, kind: Kind, status: Status, decision: Option<Decision>) -> Self {
        Self {
            id: new.id,
            kind,
            timestamp: new.at,
            duration_ms: None,
            source: Source::Mcp,
            server: None,
            tool: None,
            client: None,
            caller: None,
            session_id: None,
            request_id: None,
            parent_id: None,
            status,
            decision,
            reason: None,
            mode: None,
            findings: Vec::new(),
            findings_left_out: 0,
            validated: false,
            unvalidated: None,
            schema_digest: None,
            schema_generation: None,
            payload_digest: None,
            request_bytes: None,
            response_bytes: None,
            request: None,
            response: None,
            opening: None,
        }
    }

    /// The record's public name.
    pub fn id(&self) -> Ulid {
        self.id
    }

    /// What it is about.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How it ended.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The decision, for policy decisions.
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// What a chain's first record says about the chain.
    pub fn chain_opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }

    /// How many findings were left out of [`Record::findings`].
    pub fn findings_left_out(&self) -> u64 {
        self.findings_left_out
    }

    /// A decision `rewritten` about a result with more to it than its text: one that breaks its contract in warn mode, or that
    /// a classifier flagged.
    pub fn is_also_flagged(&self) -> bool {
        verdict::is_also_flagged(self.decision, self.mode, &self.findings)
    }

    /// A policy decision about a result that broke its contract: what the rejection rate counts.
    pub fn is_contract_rejection(&self) -> bool {
        indexed_fields::IndexedFields::from(self).is_contract_rejection()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests;
