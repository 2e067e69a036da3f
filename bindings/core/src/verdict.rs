//! What was decided about one result, as every language shows it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{Contract, Inspected};

use crate::fidelity::Fidelity;

/// A verdict. It holds the bytes that may be passed on, never those of a blocked result.
pub struct Verdict {
    pub(crate) inspected: Inspected,
    pub(crate) contract: Arc<Contract>,
    pub(crate) fidelity: Fidelity,
}

impl Verdict {
    /// The decision's word.
    pub fn decision(&self) -> &'static str {
        self.inspected.decision().as_str()
    }

    /// One sentence: why the decision is not an allowance.
    pub fn reason(&self) -> Option<&str> {
        self.inspected.reason()
    }

    /// The mode in force.
    pub fn mode(&self) -> &'static str {
        self.inspected.mode().as_str()
    }

    /// The tool's full name.
    pub fn tool(&self) -> String {
        self.contract.tool().to_string()
    }

    /// What was judged.
    pub fn fidelity(&self) -> &'static str {
        self.fidelity.as_str()
    }

    /// Whether the bytes that may be passed on differ from those received.
    pub fn is_changed(&self) -> bool {
        self.inspected.is_changed()
    }

    /// The findings as JSON text.
    pub fn findings_json(&self) -> String {
        crate::json_array(self.inspected.findings())
    }

    /// The bytes that may be passed on, in the form they came: a response or a bare result.
    pub fn emitted(&self) -> Bytes {
        self.inspected.emitted().into_bytes()
    }

    /// The structured content as JSON text; `None` if there is none or the result was blocked.
    pub fn structured_text(&self) -> Option<&str> {
        self.inspected.structured_text()
    }
}
