//! `Record`: one thing that happened, in full. What the gateway writes and an auditor reads.
//!
//! Fields that must agree (type, status, decision) are private and set together. Refuses to be unbounded: every text is cut
//! to a limit before it is stored, because servers choose names and the number of findings. Serves the record stage.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::Ulid;
use crate::time::Timestamp;

pub(crate) mod body;
mod closed;
mod millis;
mod payload;
mod redact;
pub(crate) mod verdict;

pub use body::Undecodable;
pub use closed::{Kind, Source, Status, UnknownValue};
pub use millis::Millis;
pub use payload::{Payload, PayloadPolicy, Payloads};
pub use redact::Redactor;
pub use verdict::{
    DECISIONS, Decision, Finding, Mode, STAGES, Severity, Stage, parse_decision, parse_rule,
    parse_stage,
};

const MAX_NAME: usize = 256;
const MAX_REASON: usize = 2048;
const MAX_DETAIL: usize = 1024;
/// Findings kept per record; the number left out is kept too.
pub const MAX_FINDINGS: usize = 64;

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
    /// When it happened; by default the time in the id.
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
    /// The result was held against the declared schema.
    #[serde(default, skip_serializing_if = "is_false")]
    pub validated: bool,
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

/// What the first record of a chain says about the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The chain this record opens.
    pub chain_id: Ulid,
    /// The head that was the last record of the store at that moment, if one was visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Head>,
    /// The public key that signs this chain's checkpoints, in hexadecimal.
    pub key: String,
    /// What was started, as it calls itself.
    pub version: String,
}

/// A place in a chain: the record number `n` of `chain_id`, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The chain.
    pub chain_id: Ulid,
    /// The record's number in its chain, from 0.
    pub n: u64,
    /// The record's hash.
    pub hash: Digest,
}

impl Record {
    /// A record of anything but a policy decision. (Asked for a policy decision, it makes one: allowed, or blocked if not a success.)
    pub fn new(id: Ulid, kind: Kind, outcome: Outcome) -> Self {
        let status = match outcome {
            Outcome::Success => Status::Success,
            Outcome::Error => Status::Error,
            Outcome::Rejected => Status::Rejected,
        };
        match (kind, outcome) {
            (Kind::PolicyDecision, Outcome::Success) => Self::decided(id, Decision::Allowed),
            (Kind::PolicyDecision, _) => Self::decided(id, Decision::Blocked),
            _ => Self::blank(id, kind, status, None),
        }
    }

    /// A policy decision; its status is the decision.
    pub fn decided(id: Ulid, decision: Decision) -> Self {
        Self::blank(
            id,
            Kind::PolicyDecision,
            verdict::status_of(decision),
            Some(decision),
        )
    }

    /// The first record of a chain.
    pub(crate) fn opening(id: Ulid, opening: Opening) -> Self {
        let mut record = Self::blank(id, Kind::SystemStart, Status::Success, None);
        record.source = Source::Internal;
        record.reason = Some(format!("{} started", opening.version));
        record.opening = Some(opening);
        record
    }

    fn blank(id: Ulid, kind: Kind, status: Status, decision: Option<Decision>) -> Self {
        Self {
            id,
            kind,
            timestamp: id.timestamp(),
            duration_ms: None,
            source: Source::Mcp,
            server: None,
            tool: None,
            client: None,
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

    /// A contract finding in a policy decision: what the rejection rate counts.
    pub(crate) fn is_contract_rejection(&self) -> bool {
        let contract =
            |f: &Finding| f.stage == Stage::Contract && f.severity >= Severity::Violation;
        self.kind == Kind::PolicyDecision && self.findings.iter().any(contract)
    }

    /// Cuts every text to its limit.
    pub(crate) fn bound(&mut self) {
        let names = [
            &mut self.server,
            &mut self.tool,
            &mut self.client,
            &mut self.session_id,
            &mut self.request_id,
        ];
        for name in names
            .into_iter()
            .chain([&mut self.schema_digest, &mut self.payload_digest])
        {
            cut_option(name, MAX_NAME);
        }
        cut_option(&mut self.reason, MAX_REASON);
        let surplus = self.findings.len().saturating_sub(MAX_FINDINGS);
        self.findings.truncate(MAX_FINDINGS);
        self.findings_left_out += surplus as u64;
        for finding in &mut self.findings {
            if finding.rule.len() > MAX_NAME {
                cut(finding.rule.to_mut(), MAX_NAME);
            }
            let texts = [
                &mut finding.instance_pointer,
                &mut finding.schema_pointer,
                &mut finding.expected,
            ];
            for text in texts
                .into_iter()
                .chain([&mut finding.actual, &mut finding.detail])
            {
                cut_option(text, MAX_DETAIL);
            }
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

fn cut_option(text: &mut Option<String>, limit: usize) {
    if let Some(text) = text {
        cut(text, limit);
    }
}

/// Cuts to at most `limit` bytes, on a character boundary, with a visible mark.
pub(crate) fn cut(text: &mut String, limit: usize) {
    const MARK: char = '…';
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit.saturating_sub(MARK.len_utf8())));
        text.push(MARK);
    }
}

/// `request_id` as it is stored, so that a filter by a longer id still finds it.
pub(crate) fn stored_name(text: &str) -> String {
    let mut text = text.to_owned();
    cut(&mut text, MAX_NAME);
    text
}

#[cfg(test)]
mod tests;
