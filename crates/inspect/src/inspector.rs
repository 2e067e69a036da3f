//! The library's entry point: contracts by tool, and one call per result. An application with its own MCP
//! client calls it where a message is still bytes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::emit::inspected::Inspected;
use crate::emit::randomness::Randomness;
use crate::examine::examine;
use crate::input::{InputVerdict, examine_arguments};
use crate::judge::contract::{Contract, Declaration};
use crate::open::reply::RawReply;
use crate::policy::Policy;
use crate::screen::screening::{Screening, SkipReason};
use crate::tool::ToolName;

/// Contracts and a policy for all of them.
#[derive(Debug, Default)]
pub struct Inspector {
    policy: Policy,
    contracts: HashMap<ToolName, Arc<Contract>>,
}

impl Inspector {
    /// An inspector that knows no tool yet.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            contracts: HashMap::new(),
        }
    }

    /// Adds a tool, or a new version of one, and returns its contract.
    pub fn declare(&mut self, declaration: Declaration) -> Arc<Contract> {
        let contract = Arc::new(declaration.capture(&self.policy.output));
        let kept = Arc::clone(&contract);
        self.contracts.insert(contract.tool().clone(), kept);
        contract
    }

    /// The contract of a tool. Hold on to it from the call to the result, and the result is
    /// judged by what was declared when the call was made.
    pub fn contract(&self, tool: &ToolName) -> Arc<Contract> {
        let known = self.contracts.get(tool).cloned();
        known.unwrap_or_else(|| Arc::new(Contract::undeclared(tool.clone())))
    }

    /// Inspects a result from beginning to end, without classifiers and without randomness: where
    /// the settings put texts between boundaries, use [`result_with_randomness`](Self::result_with_randomness).
    pub fn result(&self, tool: &ToolName, raw: RawReply) -> Inspected {
        self.result_with_contract(&self.contract(tool), raw)
    }

    /// The same with the contract that was in force when the call was made.
    pub fn result_with_contract(&self, contract: &Contract, raw: RawReply) -> Inspected {
        examine(raw, contract, &self.policy).conclude(Screening::skipped(SkipReason::NotConfigured))
    }

    /// The same with nonces for the boundaries around texts.
    pub fn result_with_randomness(
        &self,
        contract: &Contract,
        raw: RawReply,
        randomness: &dyn Randomness,
    ) -> Inspected {
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        examine(raw, contract, &self.policy).conclude_with(skipped, randomness)
    }

    /// Judges a call's arguments before it is sent.
    pub fn arguments(&self, tool: &ToolName, arguments: Option<&[u8]>) -> InputVerdict {
        examine_arguments(arguments, &self.contract(tool), &self.policy)
    }
}
