//! The library's entry point: contracts by tool, and one call per result. An application with its own MCP
//! client calls it where a message is still bytes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use crate::emit::inspected::Inspected;
use crate::emit::randomness::Randomness;
use crate::examine::examine;
use crate::input::{InputVerdict, examine_arguments};
use crate::judge::contract::{Contract, Declaration, DeclaredSchema};
use crate::open::reply::RawReply;
use crate::policy::Policy;
use crate::screen::screening::{Screening, SkipReason};
use crate::tool::ToolName;
use crate::verdict::Finding;

/// A server may declare so many tools. Further ones are not known, so their results are held to no schema.
const MOST_TOOLS: usize = 16_384;

/// Contracts of one server's tools, and the policies for them. All methods take `&self`, so that several
/// connections and threads can share one inspector.
#[derive(Debug, Default)]
pub struct Inspector {
    server: Option<Arc<str>>,
    policy: Policy,
    /// Where a tool's policy differs, by the tool's own name.
    tool_policies: HashMap<String, Policy>,
    tools: RwLock<Tools>,
}

#[derive(Debug, Default)]
struct Tools {
    contracts: HashMap<ToolName, Arc<Contract>>,
    /// Tools that broke their contract at least once.
    violators: HashSet<ToolName>,
}

impl Inspector {
    /// An inspector that knows no tool yet, with one policy for all.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// Names the server, for records and reasons.
    #[must_use]
    pub fn for_server(mut self, server: &str) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Sets the policy of one tool, by the tool's own name.
    #[must_use]
    pub fn with_tool_policy(mut self, tool: impl Into<String>, policy: Policy) -> Self {
        self.tool_policies.insert(tool.into(), policy);
        self
    }

    /// The server's name, if it has one.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The policy of tools without one of their own.
    pub fn base_policy(&self) -> &Policy {
        &self.policy
    }

    /// The policy of a tool.
    pub fn policy(&self, tool: &ToolName) -> &Policy {
        self.tool_policies.get(tool.tool()).unwrap_or(&self.policy)
    }

    /// The full name of a tool of this inspector's server.
    pub fn tool_name(&self, tool: &str) -> ToolName {
        match &self.server {
            Some(server) => ToolName::on_server(Arc::clone(server), tool),
            None => ToolName::new(tool),
        }
    }

    /// Adds a tool, or a new version of one, and returns its contract. The same declaration again gives the
    /// same contract.
    pub fn declare(&self, declaration: Declaration) -> Arc<Contract> {
        let contract = self.capture(declaration);
        self.keep(&contract);
        contract
    }

    /// The contract that a declaration becomes, without making it known.
    pub(crate) fn capture(&self, declaration: Declaration) -> Arc<Contract> {
        let declaration = match &self.server {
            Some(server) if declaration.tool().server().is_none() => declaration.server(server),
            _ => declaration,
        };
        let known = self.tools().contracts.get(declaration.tool()).cloned();
        let generation = match known {
            Some(known) if known.declares_same(&declaration) => return known,
            Some(known) => known.generation() + 1,
            None => 1,
        };
        let config = self.policy(declaration.tool()).output;
        Arc::new(declaration.generation(generation).capture(&config))
    }

    /// Makes a contract known; false if there are too many tools already.
    pub(crate) fn keep(&self, contract: &Arc<Contract>) -> bool {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        let name = contract.tool();
        if tools.contracts.len() >= MOST_TOOLS && !tools.contracts.contains_key(name) {
            return false;
        }
        let before = tools.contracts.insert(name.clone(), Arc::clone(contract));
        if before.is_none_or(|before| before.generation() != contract.generation()) {
            tools.violators.remove(name);
        }
        true
    }

    /// The contract of a tool. Hold on to it from the call to the result, and the result is
    /// judged by what was declared when the call was made.
    pub fn contract(&self, tool: &ToolName) -> Arc<Contract> {
        let known = self.tools().contracts.get(tool).cloned();
        known.unwrap_or_else(|| Arc::new(Contract::undeclared(tool.clone())))
    }

    /// Inspects a result from beginning to end, without classifiers and without randomness: where
    /// the settings put texts between boundaries, use [`result_with_randomness`](Self::result_with_randomness).
    pub fn result(&self, tool: &ToolName, raw: RawReply) -> Inspected {
        self.result_with_contract(&self.contract(tool), raw)
    }

    /// The same with the contract that was in force when the call was made.
    pub fn result_with_contract(&self, contract: &Contract, raw: RawReply) -> Inspected {
        let policy = self.policy(contract.tool());
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        examine(raw, contract, policy).conclude(skipped)
    }

    /// The same with nonces for the boundaries around texts.
    pub fn result_with_randomness(
        &self,
        contract: &Contract,
        raw: RawReply,
        randomness: &dyn Randomness,
    ) -> Inspected {
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        examine(raw, contract, self.policy(contract.tool())).conclude_with(skipped, randomness)
    }

    /// Judges a call's arguments before it is sent.
    pub fn arguments(&self, tool: &ToolName, arguments: Option<&[u8]>) -> InputVerdict {
        examine_arguments(arguments, &self.contract(tool), self.policy(tool))
    }

    /// Takes note of a result that broke its contract: the schema is then no longer advertised, where the
    /// settings say `conforming`.
    pub(crate) fn note_violations(&self, inspected: &Inspected, contract: &Contract) {
        let broke = |finding: &Finding| {
            finding.rule.starts_with("schema.") || finding.rule == "contract.missing"
        };
        if inspected.findings().iter().any(broke) && !self.has_violated(contract.tool()) {
            let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
            if tools.contracts.contains_key(contract.tool()) {
                tools.violators.insert(contract.tool().clone());
            }
        }
    }

    /// Whether a tool broke the contract that it has now.
    pub(crate) fn has_violated(&self, tool: &ToolName) -> bool {
        self.tools().violators.contains(tool)
    }

    fn tools(&self) -> std::sync::RwLockReadGuard<'_, Tools> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contract {
    /// Whether a declaration says what this contract was captured from.
    fn declares_same(&self, declaration: &Declaration) -> bool {
        let same = |schema: Option<&DeclaredSchema>, bytes: Option<&[u8]>| {
            schema.map(DeclaredSchema::bytes) == bytes
        };
        let (input, output) = declaration.schemas();
        same(self.input(), input) && same(self.output(), output)
    }
}
