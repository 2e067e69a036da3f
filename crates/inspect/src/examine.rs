//! The first half of inspection: everything up to classification, purely. It reports and never
//! decides. Stages 4a to 4d.

use std::fmt;

use bytes::Bytes;
use countersign_tape::{Envelope, Keep, Kind};

use crate::clean::{self, Cleaning};
use crate::config::{InputValidation, OutputValidation};
use crate::contract::{self, Conformance, Contract};
use crate::digest::Digest;
use crate::found::Found;
use crate::policy::{Overrides, decide};
use crate::reply::{ClientEra, RawReply, Source};
use crate::sanitisation::Sanitisation;
use crate::scratch::with_shelf;
use crate::shape;
use crate::texts::{self, Text};
use crate::transport;
use crate::verdict::{Decision, Mode};

/// Everything a verdict depends on beside the bytes and the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// `output_validation` as it holds for the tool.
    pub output: OutputValidation,
    /// `input_validation` as it holds for the tool.
    pub input: InputValidation,
    /// `output_sanitisation` as it holds for the tool, compiled.
    pub sanitisation: Sanitisation,
    /// Who will read the result.
    pub client: ClientEra,
    /// The largest message that is handled at all.
    pub max_message_bytes: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            output: OutputValidation::default(),
            input: InputValidation::default(),
            sanitisation: Sanitisation::default(),
            client: ClientEra::default(),
            max_message_bytes: 16 * 1024 * 1024,
        }
    }
}

/// Which schema judged a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedBy {
    /// SHA-256 of the schema as received.
    pub digest: Digest,
    /// The version of the tool list it is from.
    pub generation: u64,
}

/// A result whose findings are known and whose fate is not. `Debug` never shows the bytes.
pub struct Examined {
    pub(crate) bytes: Bytes,
    pub(crate) source: Source,
    /// `None`: the bytes could not be framed.
    pub(crate) envelope: Option<Envelope>,
    pub(crate) policy: Policy,
    pub(crate) found: Vec<Found>,
    pub(crate) conformance: Conformance,
    pub(crate) judged_by: Option<JudgedBy>,
    pub(crate) cleaning: Option<Box<Cleaning>>,
    free_text: bool,
}

/// Looks at a reply in the light of its contract.
pub fn examine(raw: RawReply, contract: &Contract, policy: &Policy) -> Examined {
    let mut found = Vec::new();
    let keep = wanted(contract, policy);
    let (envelope, conformance, cleaning) = with_shelf(|shelf| {
        let opened = match transport::open(&raw, policy, keep, shelf) {
            Ok(opened) => opened,
            Err(refused) => {
                found.push(*refused);
                return (None, Conformance::default(), None);
            }
        };
        let mut conformance = Conformance::default();
        if policy.output.mode != Mode::Off && opened.envelope.result().is_some() {
            let era = raw.source.era;
            shape::check(&opened, era, &mut found);
            conformance = contract::check(&opened, era, contract, &policy.output, &mut found);
        }
        // Not a matter of the validation mode: sanitising has its own switch.
        let (text, envelope) = (opened.text, &opened.envelope);
        let cleaning = clean::stage(text, envelope, contract, policy, &mut found);
        opened.kept.recycle(shelf);
        (Some(opened.envelope), conformance, cleaning)
    });
    Examined {
        bytes: raw.bytes,
        source: raw.source,
        envelope,
        policy: policy.clone(),
        found,
        conformance,
        judged_by: contract.output().map(|schema| JudgedBy {
            digest: schema.digest(),
            generation: contract.generation(),
        }),
        cleaning,
        free_text: contract.has_free_text(),
    }
}

/// The parts of a result that the stages will look into.
fn wanted(contract: &Contract, policy: &Policy) -> Keep {
    if policy.output.mode == Mode::Off {
        return Keep::default();
    }
    Keep {
        structured: contract
            .output()
            .filter(|declared| declared.schema().is_ok())
            .map(|_| contract::limits(&policy.output)),
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
    /// What the findings so far would lead to.
    pub fn decision(&self) -> Decision {
        let overrides = Overrides::from(&self.policy.output);
        let decide = |found: &Found| decide(&found.finding, self.policy.output.mode, &overrides);
        self.found.iter().map(decide).max().unwrap_or_default()
    }

    /// The texts a classifier should see: none if the result is blocked already or has no
    /// injection surface, that is, if its value conforms to a schema that admits no free text
    /// and no block says more than that value.
    pub fn texts(&self) -> Vec<Text<'_>> {
        let Some(envelope) = &self.envelope else {
            return Vec::new();
        };
        let is_object = |kind| kind == Some(Kind::Object);
        let readable = envelope
            .result()
            .is_some_and(|result| is_object(result.kind(&self.bytes)));
        if !readable || self.decision() == Decision::Blocked {
            return Vec::new();
        }
        let narrow = self.conformance.conforms && !self.free_text;
        let config = &self.policy.output;
        texts::collect(
            &self.bytes,
            envelope,
            config,
            narrow,
            self.cleaning.as_deref(),
        )
    }
}
