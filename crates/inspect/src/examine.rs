//! The first half of inspection: runs the stages `open`, `judge` and `clean` and collects their findings.
//! It decides nothing.

use std::fmt;

use bytes::Bytes;
use countersign_tape::{Envelope, Kind, PartBuffers, ValueReader, WantedParts};

use crate::clean::{self, Cleaning};
use crate::json::scratch::with_part_buffers;
use crate::judge::contract::{self, Conformance, ConformanceReader, Contract, SchemaVersion};
use crate::judge::decide::{Overrides, decide};
use crate::judge::guards;
use crate::open::message::MessageKind;
use crate::open::mirror::Mirror;
use crate::open::reply::{RawReply, Source};
use crate::open::shape;
use crate::open::transport;
use crate::policy::Policy;
use crate::screen::texts::{self, Text};
use crate::tool::ToolName;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::{Decision, Mode};

/// A result with its findings, not decided yet. `Debug` never shows the bytes.
pub struct Examined {
    pub(crate) bytes: Bytes,
    pub(crate) source: Source,
    /// The tool that answered.
    pub(crate) tool: ToolName,
    pub(crate) envelope: Envelope,
    /// Whether the bytes could be read as a message; the envelope is empty if not.
    pub(crate) is_message: bool,
    pub(crate) policy: Policy,
    pub(crate) found: Vec<ExplainedFinding>,
    pub(crate) conformance: Conformance,
    pub(crate) judged_by: Option<SchemaVersion>,
    pub(crate) cleaning: Option<Box<Cleaning>>,
    free_text: bool,
}

/// Inspects a reply against its contract, up to the point where classifiers run.
pub fn examine(raw: RawReply, contract: &Contract, policy: &Policy) -> Examined {
    let mut examined = Examined {
        bytes: raw.bytes,
        source: raw.source,
        tool: contract.tool().clone(),
        envelope: Envelope::new(),
        is_message: false,
        policy: policy.clone(),
        found: Vec::new(),
        conformance: Conformance::default(),
        judged_by: contract.output().map(|schema| SchemaVersion {
            digest: schema.digest(),
            generation: contract.generation(),
        }),
        cleaning: None,
        free_text: policy.free_text.unwrap_or_else(|| contract.has_free_text()),
    };
    with_part_buffers(|buffers| examined.run_stages(contract, buffers));
    examined
}

/// The parts of a result that the stages will look into.
fn wanted_parts(contract: &Contract, policy: &Policy) -> WantedParts {
    if policy.output.mode == Mode::Off {
        return WantedParts::default();
    }
    WantedParts {
        structured: contract
            .output()
            .filter(|declared| declared.schema().is_ok())
            .map(|_| policy.output.value_limits()),
        content: true,
    }
}

impl fmt::Debug for Examined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Examined")
            .field("decision", &self.decision())
            .field("findings", &self.found.len())
            .field("received_bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl Examined {
    /// Runs the stages.
    fn run_stages(&mut self, contract: &Contract, buffers: &mut PartBuffers) {
        let (source, policy, found) = (&self.source, &self.policy, &mut self.found);
        let wanted = wanted_parts(contract, policy);
        let mut reader = wanted
            .structured
            .and_then(|_| ConformanceReader::new(contract, &policy.output));
        let as_reader = reader.as_mut().map(|reader| reader as &mut dyn ValueReader);
        let parts = (wanted, &mut *buffers, as_reader);
        let opened = match transport::open(&self.bytes, source, policy, parts, &mut self.envelope) {
            Ok(opened) => opened,
            Err(refused) => {
                found.push(*refused);
                return;
            }
        };
        self.is_message = true;
        if MessageKind::Response.has_foreign_members(opened.envelope) {
            let is_ambiguous = MessageKind::Response.is_ambiguous(opened.envelope);
            found.push(ExplainedFinding::foreign_members(is_ambiguous));
        }
        if policy.output.mode != Mode::Off && opened.envelope.result().is_some() {
            shape::check(&opened, source.era, found);
            let config = &policy.output;
            found.extend(guards::check_blocks(&opened, config));
            let terms = (contract, reader.as_ref());
            self.conformance = contract::check(&opened, source.era, terms, config, found);
        }
        // Sanitising has its own switch, so this does not depend on the validation mode. A result that strict mode blocks
        // for its number of blocks is not cleaned: none of its texts leave.
        let too_much = |found: &ExplainedFinding| found.finding.rule == "guard.max_blocks";
        if policy.output.mode == Mode::Strict && found.iter().any(too_much) {
            opened.tapes.recycle(buffers);
            return;
        }
        self.cleaning = clean::clean_message(opened.text, opened.envelope, contract, policy, found);
        opened.tapes.recycle(buffers);
    }

    /// What is where, if the bytes could be framed.
    pub(crate) fn envelope(&self) -> Option<&Envelope> {
        self.is_message.then_some(&self.envelope)
    }

    /// Compares the text blocks with the structured content; `None` if there is none.
    pub fn mirror(&self) -> Option<Mirror> {
        let limits = self.policy.output.value_limits();
        Mirror::compare(&self.bytes, self.envelope()?, &limits)
    }

    /// What the findings so far would lead to.
    pub fn decision(&self) -> Decision {
        let overrides = Overrides::from(&self.policy.output);
        let decide =
            |found: &ExplainedFinding| decide(&found.finding, self.policy.output.mode, &overrides);
        self.found.iter().map(decide).max().unwrap_or_default()
    }

    /// The texts a classifier should see: none if the result is blocked already or has no
    /// injection surface, that is, if its value conforms to a schema that admits no free text
    /// and no block says more than that value.
    pub fn texts(&self) -> Vec<Text<'_>> {
        let Some(envelope) = self.envelope() else {
            return Vec::new();
        };
        let is_object = |kind| kind == Some(Kind::Object);
        let readable = envelope
            .result()
            .is_some_and(|result| is_object(result.kind(&self.bytes)));
        let is_error = envelope.error().is_some();
        if !(readable || is_error) || self.decision() == Decision::Blocked {
            return Vec::new();
        }
        // A value with an attack in it is screened whatever its schema says.
        let cleaning = self.cleaning.as_deref();
        let attacked = cleaning.is_some_and(|cleaning| cleaning.structured.is_some());
        let narrow = self.conformance.conforms && !self.free_text && !attacked;
        let config = &self.policy.output;
        texts::collect(&self.bytes, envelope, config, narrow, cleaning)
    }
}
