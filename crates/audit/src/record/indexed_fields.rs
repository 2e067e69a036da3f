//! `IndexedFields`: what the index needs of a record.
//!
//! Most bodies are exactly as they were written here, with nothing rare in them, and are read member by member in the order
//! of writing, without a copy. Whatever is different in any way is left to the decoder, so that nothing is read here that
//! would be refused there, or read differently.

use memchr::memchr;

use super::body::VERSION_1;
use super::verdict::{Decision, Finding, Mode, REWRITTEN_AND_FLAGGED, is_also_flagged};
use super::{Kind, Record, Source, Status};
use crate::id::Ulid;
use crate::time::Timestamp;

/// The longest number that is looked at here.
const LONGEST_NUMBER: usize = 18;

/// The fields of a record that the index needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedFields<'a> {
    pub(crate) id: Ulid,
    pub(crate) kind: Kind,
    pub(crate) timestamp: Timestamp,
    pub(crate) server: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) client: Option<&'a str>,
    pub(crate) caller: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) parent_id: Option<Ulid>,
    pub(crate) status: Status,
    pub(crate) decision: Option<Decision>,
    pub(crate) mode: Option<Mode>,
    pub(crate) findings: &'a [Finding],
    pub(crate) validated: bool,
}

impl<'a> From<&'a Record> for IndexedFields<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            id: record.id,
            kind: record.kind,
            timestamp: record.timestamp,
            server: record.server.as_deref(),
            tool: record.tool.as_deref(),
            client: record.client.as_deref(),
            caller: record.caller.as_deref(),
            request_id: record.request_id.as_deref(),
            parent_id: record.parent_id,
            status: record.status,
            decision: record.decision,
            mode: record.mode,
            findings: &record.findings,
            validated: record.validated,
        }
    }
}

impl<'a> IndexedFields<'a> {
    /// A policy decision about a result that broke its contract: what the rejection rate counts.
    pub(crate) fn is_contract_rejection(&self) -> bool {
        let is_decision = self.kind == Kind::PolicyDecision;
        is_decision && self.findings.iter().any(Finding::breaks_contract)
    }

    /// The decision as the index has it.
    pub(crate) fn decision_code(&self) -> Option<i64> {
        let is_also_flagged = is_also_flagged(self.decision, self.mode, self.findings);
        let code = self.decision? as i64;
        Some(if is_also_flagged {
            REWRITTEN_AND_FLAGGED
        } else {
            code
        })
    }

    /// Control tokens found, one by one.
    pub(crate) fn control_tokens(&self) -> u64 {
        self.findings.iter().map(Finding::control_tokens).sum()
    }

    /// Reads a body with nothing rare in it: no findings, no payloads, nothing escaped. `None` says nothing about the body.
    pub(crate) fn plain(body: &'a [u8]) -> Option<Self> {
        // Looking at every byte takes less than stopping at the first.
        let is_special = |byte: &u8| u8::from(*byte == b'\\') | u8::from(*byte < 0x20);
        if body.iter().fold(0, |any, byte| any | is_special(byte)) != 0 {
            return None;
        }
        let mut rest = BodyReader(std::str::from_utf8(body.strip_prefix(VERSION_1)?).ok()?);
        let id = rest.text(",\"id\":\"")?.parse().ok()?;
        let kind = rest.text(",\"type\":\"")?.parse().ok()?;
        let timestamp = rest.text(",\"timestamp\":\"")?.parse().ok()?;
        rest.number(",\"duration_ms\":", true);
        rest.text(",\"source\":\"")?.parse::<Source>().ok()?;
        let server = rest.text(",\"server\":\"");
        let tool = rest.text(",\"tool\":\"");
        let client = rest.text(",\"client\":\"");
        let caller = rest.text(",\"caller\":\"");
        rest.text(",\"session_id\":\"");
        let request_id = rest.text(",\"request_id\":\"");
        let parent_id = rest.text(",\"parent_id\":\"").map(str::parse);
        let parent_id = parent_id.transpose().ok()?;
        let status = rest.text(",\"status\":\"")?.parse().ok()?;
        let decision = rest.text(",\"decision\":\"").map(str::parse);
        let decision = decision.transpose().ok()?;
        rest.text(",\"reason\":\"");
        let mode = rest.text(",\"mode\":\"").map(str::parse);
        let mode = mode.transpose().ok()?;
        let validated = rest.skip(",\"validated\":true");
        rest.text(",\"unvalidated\":\"");
        rest.text(",\"schema_digest\":\"");
        rest.number(",\"schema_generation\":", false);
        rest.text(",\"payload_digest\":\"");
        rest.number(",\"request_bytes\":", false);
        rest.number(",\"response_bytes\":", false);
        (rest.0 == "}").then_some(Self {
            id,
            kind,
            timestamp,
            server,
            tool,
            client,
            caller,
            request_id,
            parent_id,
            status,
            decision,
            mode,
            findings: &[],
            validated,
        })
    }
}

/// Reads a body member by member: holds the part that is not read yet, and nothing after the first unexpected byte.
struct BodyReader<'a>(&'a str);

impl<'a> BodyReader<'a> {
    fn skip(&mut self, expected: &str) -> bool {
        let rest = self.0.strip_prefix(expected);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// The text after this key and its opening quote, if the key is next. Nothing in the body is escaped.
    fn text(&mut self, key: &str) -> Option<&'a str> {
        if !self.skip(key) {
            return None;
        }
        // Not `split_once`, which takes twice the instructions for texts as short as most of these.
        let end = memchr(b'"', self.0.as_bytes()).unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at_checked(end).unwrap_or_default();
        self.0 = rest.get(1..).unwrap_or_default();
        Some(text)
    }

    /// Passes a number after this key, whole or with decimals, if the key is next.
    fn number(&mut self, key: &str, decimals: bool) {
        if !self.skip(key) {
            return;
        }
        let before = self.0.len();
        let whole = self.digits();
        let mut fits = !whole.is_empty() && (whole == "0" || !whole.starts_with('0'));
        if decimals && self.skip(".") {
            fits &= !self.digits().is_empty();
        }
        if !fits || before - self.0.len() > LONGEST_NUMBER {
            self.0 = "";
        }
    }

    fn digits(&mut self) -> &'a str {
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(end).unwrap_or_default();
        self.0 = rest;
        digits
    }
}
