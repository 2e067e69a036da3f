//! One reply held to the tool it came from: which sites of the contract it violates.
//!
//! The findings are the gateway's own, from the same inspection; this file only says which row
//! of the policy table each belongs to. It decides nothing: that is the policy's.

mod declaration;
mod judgement;
mod reply_facts;
mod violation;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::config::{InputValidation, OutputValidation};
use countersign_inspect::{
    Contract, Declaration, Digest, Era, Examined, Finding, Mode, Policy, RawReply, Sanitisation,
    Source, ToolName, examine, examine_arguments,
};
use memchr::memmem;

pub use judgement::Judgement;
pub use reply_facts::{ReplyFacts, texts};
pub use violation::Violation;

use crate::policy::Site;

/// Tools with their schemas compiled once.
///
/// ```
/// use countersign_inspect::Era;
/// use countersign_probe::{judge::Judge, policy::Site};
///
/// let mut judge = Judge::new(Era::Modern);
/// judge.declare(br#"{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}"#)?;
/// let reply = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{}"}],"structuredContent":{}}}"#;
/// let judgement = judge.reply("count", &reply[..]);
/// assert_eq!(judgement.violations[0].site, Site::Result);
/// assert_eq!(judgement.violations[0].findings[0].rule, "schema.required");
/// # Ok::<(), countersign_inspect::Error>(())
/// ```
#[derive(Debug)]
pub struct Judge {
    era: Era,
    policy: Policy,
    tools: HashMap<String, ToolContracts>,
}

/// A tool's contract, twice if its formats could be the only thing wrong with a result.
#[derive(Clone, Debug)]
struct ToolContracts {
    contract: Arc<Contract>,
    with_formats: Option<Arc<Contract>>,
}

impl Judge {
    /// A judge of a server that negotiated this era, who knows no tool yet.
    pub fn new(era: Era) -> Self {
        let mut policy = Policy {
            input: InputValidation { mode: Mode::Warn },
            sanitisation: Sanitisation::off(),
            ..Policy::default()
        };
        policy.output.mode = Mode::Warn;
        Self {
            era,
            policy,
            tools: HashMap::new(),
        }
    }

    /// Learns a tool from its element of the tool list, and says what is wrong with its schemas.
    pub fn declare(&mut self, tool: &[u8]) -> Result<Vec<Violation>, countersign_inspect::Error> {
        let declaration = Declaration::read(tool)?;
        let contract = Arc::new(declaration.clone().capture(&self.policy.output));
        let has_formats = contract.output().is_some_and(|declared| {
            declared.schema().is_ok() && memmem::find(declared.bytes(), b"\"format\"").is_some()
        });
        let with_formats = has_formats.then(|| {
            let asserted = OutputValidation {
                assert_formats: true,
                ..self.policy.output
            };
            Arc::new(declaration.capture(&asserted))
        });
        let violations = declaration::violations(&contract);
        let name = contract.tool().tool().to_owned();
        let declared = ToolContracts {
            contract,
            with_formats,
        };
        self.tools.insert(name, declared);
        Ok(violations)
    }

    /// The contract of a tool, if it was declared.
    pub fn contract(&self, tool: &str) -> Option<&Arc<Contract>> {
        self.tools.get(tool).map(|declared| &declared.contract)
    }

    /// SHA-256 of a tool's declared `outputSchema`.
    pub fn output_digest(&self, tool: &str) -> Option<Digest> {
        Some(self.contract(tool)?.output()?.digest())
    }

    /// Whether arguments fit the declared `inputSchema`; the findings say why not. What cannot be
    /// enforced has nothing against them.
    pub fn arguments(&self, tool: &str, arguments: &[u8]) -> Vec<Finding> {
        let Some(declared) = self.tools.get(tool) else {
            return Vec::new();
        };
        examine_arguments(Some(arguments), &declared.contract, &self.policy).findings
    }

    /// Judges a reply: a whole JSON-RPC response, or a bare result.
    pub fn reply(&self, tool: &str, reply: impl Into<Bytes>) -> Judgement {
        let bytes = reply.into();
        let mut judgement = Judgement {
            answer: ReplyFacts::read(&bytes),
            ..Judgement::default()
        };
        let Some(declared) = self.tools.get(tool) else {
            let undeclared = Contract::undeclared(ToolName::new(tool));
            let examined = self.examine(bytes, &undeclared);
            judgement
                .violations
                .push(Violation::of_site(Site::Unlisted));
            judgement.read_findings(examined);
            return judgement;
        };
        let examined = self.examine(bytes.clone(), &declared.contract);
        judgement.read_mirror(&examined, self.era, &bytes);
        judgement.read_findings(examined);
        judgement.read_rest(&declared.contract, self.era, &bytes);
        let mut violations = judgement.violations.iter();
        if violations.all(|one| one.site != Site::Result)
            && let Some(with_formats) = &declared.with_formats
        {
            judgement.read_formats(self.examine(bytes, with_formats));
        }
        judgement
    }

    fn examine(&self, bytes: Bytes, contract: &Contract) -> Examined {
        let reply = RawReply::new(bytes, Source::new(self.era));
        examine(reply, contract, &self.policy)
    }
}

#[cfg(test)]
mod tests;
