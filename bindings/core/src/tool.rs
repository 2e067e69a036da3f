//! A declared tool, as every language shows it.

use std::sync::Arc;

use countersign_inspect::Contract;

/// A declared tool.
#[derive(Clone)]
pub struct Tool {
    pub(crate) contract: Arc<Contract>,
}

impl Tool {
    /// The tool's own name.
    pub fn name(&self) -> &str {
        self.contract.tool().tool()
    }

    /// Why a declared schema cannot be enforced as written, in words for the operator.
    pub fn diagnostics(&self) -> Vec<String> {
        let remarks = self.contract.diagnostics().iter();
        remarks
            .map(|remark| format!("{}: {}: {}", remark.member, remark.rule, remark.detail))
            .collect()
    }
}
