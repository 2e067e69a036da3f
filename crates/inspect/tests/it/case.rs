//! One case of `corpus/inspection`: what a tool declared, what arrived, under which
//! configuration, and what must come of it in each mode. The format is described beside the data.

use std::collections::BTreeMap;

use countersign_inspect::config::{RawOutputSanitisation, RawOutputValidation};
use countersign_inspect::{Decision, Era, Mode};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[expect(dead_code, reason = "for readers of the data")]
    pub(crate) about: String,
    pub(crate) cases: Vec<Case>,
}

/// One case; several tests if it says what happens in several modes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// An element of a tool list; absent if the tool declares nothing.
    pub(crate) tool: Option<Box<RawValue>>,
    /// A result or a whole response, byte for byte as it stands in the file.
    pub(crate) result: Option<Box<RawValue>>,
    /// The same for bytes that are not JSON.
    pub(crate) text: Option<String>,
    /// The same for bytes that are not UTF-8.
    pub(crate) hex: Option<String>,
    /// A call's arguments, in place of a result.
    pub(crate) arguments: Option<Box<RawValue>>,
    #[serde(default)]
    pub(crate) config: RawOutputValidation,
    #[serde(default)]
    pub(crate) sanitisation: RawOutputSanitisation,
    /// The era of both sides, unless one of the next two differs.
    #[serde(default)]
    pub(crate) era: Era,
    pub(crate) upstream: Option<Era>,
    pub(crate) client: Option<Client>,
    /// The id token the answer must carry.
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) max_message_bytes: Option<usize>,
    pub(crate) max_message_depth: Option<u32>,
    pub(crate) expect: BTreeMap<ModeKey, Expect>,
}

/// Who reads the result.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Client {
    Legacy,
    Modern,
    Unnegotiated,
}

/// A mode as a map key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModeKey(pub(crate) Mode);

impl<'de> Deserialize<'de> for ModeKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Mode::deserialize(from).map(Self)
    }
}

/// What must come of a case in one mode.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) decision: Decision,
    /// Rule ids, in order.
    #[serde(default)]
    pub(crate) findings: Vec<String>,
    /// The exact sentence.
    pub(crate) reason: Option<String>,
    /// The pointer of the first finding.
    pub(crate) pointer: Option<String>,
    /// The exact bytes that leave, if they are neither the same nor our error result.
    pub(crate) emitted: Option<Box<RawValue>>,
    /// The decoded text of the last content block that leaves.
    pub(crate) last_text: Option<String>,
}
