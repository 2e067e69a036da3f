//! One reply held to the tool it came from: which sites of the contract it violates.
//!
//! The findings are the gateway's own, from the same inspection; this file only says which row
//! of the policy table each belongs to. It decides nothing: that is the policy's.

mod answer;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::config::{InputValidation, OutputValidation};
use countersign_inspect::{
    Contract, Declaration, Diagnostic, Digest, Era, Examined, Finding, Mode, Policy, RawReply,
    Sanitisation, Screening, Severity, Skipped, Source, Stage, examine, examine_arguments,
};
use countersign_schema::{Fuel, Outcome};
use countersign_tape::{Limits, Tape};

pub use answer::{Answer, texts};

use crate::policy::{Applied, CallOutcome, Date, ProtocolError, SchemaPolicy, Site, Validation};

/// Violations of one reply that are kept, at most.
const MAX_VIOLATIONS: usize = 128;

/// One place where a reply or a declaration does not keep its contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The row of the policy table.
    pub site: Site,
    /// What was found there; pointers and types, never values.
    pub findings: Vec<Finding>,
}

impl Violation {
    /// A violation that its site says all about.
    pub fn at(site: Site) -> Self {
        Self {
            site,
            findings: Vec::new(),
        }
    }

    fn with(site: Site, findings: Vec<Finding>) -> Self {
        Self { site, findings }
    }
}

/// Everything there is to say about one reply.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Violations of the contract, by site.
    pub violations: Vec<Violation>,
    /// Why it is not an answer MCP allows, if it is not.
    pub malformed: Vec<Finding>,
    /// What the reply says about itself.
    pub answer: Answer,
}

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
    tools: HashMap<String, Declared>,
}

/// A tool's contract, twice if its formats could be the only thing wrong with a result.
#[derive(Clone, Debug)]
struct Declared {
    contract: Arc<Contract>,
    with_formats: Option<Arc<Contract>>,
}

impl Judge {
    /// A judge of a server that negotiated this era, who knows no tool yet.
    pub fn new(era: Era) -> Self {
        let output = OutputValidation {
            mode: Mode::Warn,
            ..OutputValidation::default()
        };
        let policy = Policy {
            output,
            input: InputValidation { mode: Mode::Warn },
            sanitisation: Sanitisation::off(),
            ..Policy::default()
        };
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
            declared.schema().is_ok() && memory_contains(declared.bytes(), b"\"format\"")
        });
        let with_formats = has_formats.then(|| {
            let asserted = OutputValidation {
                assert_formats: true,
                ..self.policy.output
            };
            Arc::new(declaration.capture(&asserted))
        });
        let violations = declaration_violations(&contract);
        let name = contract.tool().tool().to_owned();
        self.tools.insert(
            name,
            Declared {
                contract,
                with_formats,
            },
        );
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
        let answer = Answer::read(&bytes);
        let mut judgement = Judgement {
            answer,
            ..Judgement::default()
        };
        let Some(declared) = self.tools.get(tool) else {
            let undeclared = Contract::undeclared(countersign_inspect::ToolName::new(tool));
            let examined = self.examine(bytes, &undeclared);
            judgement.violations.push(Violation::at(Site::Unlisted));
            judgement.read_findings(examined);
            return judgement;
        };
        let examined = self.examine(bytes.clone(), &declared.contract);
        judgement.read_mirror(&examined, self.era, &bytes);
        judgement.read_findings(examined);
        judgement.read_rest(&declared.contract, self.era, &bytes);
        let conforms = |judgement: &Judgement| {
            !judgement
                .violations
                .iter()
                .any(|one| one.site == Site::Result)
        };
        if conforms(&judgement)
            && let Some(with_formats) = &declared.with_formats
        {
            judgement.read_formats(self.examine(bytes, with_formats));
        }
        judgement
    }

    fn examine(&self, bytes: Bytes, contract: &Contract) -> Examined {
        examine(
            RawReply::new(bytes, Source::new(self.era)),
            contract,
            &self.policy,
        )
    }
}

impl Judgement {
    /// The outcome of the call and what is done about each violation.
    pub fn outcome(
        &self,
        tool: &str,
        validation: &Validation,
        today: Date,
    ) -> (CallOutcome, Vec<Applied>) {
        let applied: Vec<Applied> = self
            .violations
            .iter()
            .map(|one| validation.apply(tool, one.site, &one.findings, today))
            .collect();
        let gating = self
            .violations
            .iter()
            .zip(&applied)
            .find(|(_, applied)| applied.policy == SchemaPolicy::Fail);
        let outcome = if !self.malformed.is_empty() {
            CallOutcome::ProtocolError(ProtocolError::Malformed)
        } else if let Some(code) = self.answer.error_code {
            CallOutcome::ProtocolError(ProtocolError::Rpc { code })
        } else if let Some((violation, _)) = gating {
            CallOutcome::violation(validation.refined(violation.site, &violation.findings))
        } else if self.answer.is_error {
            CallOutcome::ToolError
        } else {
            CallOutcome::Success
        };
        (outcome, applied)
    }

    fn push(&mut self, violation: Violation) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(violation);
        }
    }

    fn read_findings(&mut self, examined: Examined) {
        let inspected = examined.conclude(Screening::skipped(Skipped::NotConfigured));
        let mut mismatches = Vec::new();
        for finding in inspected.findings() {
            match (finding.stage, finding.rule.as_ref()) {
                (Stage::Transport | Stage::Shape, _) => self.malformed.push(finding.clone()),
                (Stage::Guard, _) | (Stage::Contract, "contract.exhausted") => {
                    self.push(Violation::with(Site::Guard, vec![finding.clone()]));
                }
                (Stage::Contract, "contract.missing") => {
                    self.push(Violation::with(Site::Missing, vec![finding.clone()]));
                }
                // An unenforceable schema is said once, when the tool is declared.
                (Stage::Contract, "contract.uncompilable" | "contract.external_ref")
                | (Stage::Sanitise | Stage::Classify | Stage::Input, _) => {}
                (Stage::Contract, _) => mismatches.push(finding.clone()),
            }
        }
        if !mismatches.is_empty() {
            let site = Site::Result.refine(&mismatches);
            self.push(Violation::with(site, mismatches));
        }
    }

    /// Row 7: it conforms as long as formats are annotations, and not when they are asserted.
    fn read_formats(&mut self, examined: Examined) {
        let inspected = examined.conclude(Screening::skipped(Skipped::NotConfigured));
        let contract = inspected.findings().iter();
        let findings: Vec<Finding> = contract
            .filter(|finding| finding.rule.starts_with("schema."))
            .cloned()
            .collect();
        let known = self.violations.iter().any(|one| one.site == Site::Extra);
        if !findings.is_empty() && !known {
            self.push(Violation::with(Site::Format, findings));
        }
    }

    /// Row 12: the text beside the structured content.
    fn read_mirror(&mut self, examined: &Examined, era: Era, bytes: &[u8]) {
        let absent = era == Era::Legacy && self.answer.structured(bytes) == Some(b"null");
        if absent {
            return;
        }
        let Some(mirror) = examined.mirror().filter(|_| !self.answer.is_error) else {
            return;
        };
        if !self.answer.is_final || mirror.repeats {
            return;
        }
        let site = if mirror.of_object || mirror.has_text {
            Site::Differs
        } else {
            Site::Unmirrored
        };
        self.push(Violation::at(site));
    }

    /// Rows 9 to 11, which inspection has no finding for because nothing is to be done about them.
    fn read_rest(&mut self, contract: &Contract, era: Era, bytes: &[u8]) {
        if !self.malformed.is_empty() || self.answer.error_code.is_some() {
            return;
        }
        let structured = self.answer.structured(bytes);
        if !self.answer.is_final {
            self.push(Violation::at(Site::Unfinished));
        } else if self.answer.is_error {
            if let Some(declared) = contract.output() {
                let findings = structured.map_or_else(
                    || {
                        vec![Finding::new(
                            Stage::Contract,
                            "contract.missing",
                            Severity::Info,
                        )]
                    },
                    |value| mismatches(declared, value),
                );
                if !findings.is_empty() {
                    self.push(Violation::with(Site::ErrorResult, findings));
                }
            }
        } else if contract.output().is_none() && structured.is_some() {
            let null = era == Era::Legacy && structured == Some(b"null");
            if !null {
                self.push(Violation::at(Site::Undeclared));
            }
        }
    }
}

/// What the schema of a tool has against a value of an `isError` result. For counting only.
fn mismatches(declared: &countersign_inspect::DeclaredSchema, value: &[u8]) -> Vec<Finding> {
    let Ok(schema) = declared.schema() else {
        return Vec::new();
    };
    let Ok(tape) = Tape::parse(value, &Limits::default()) else {
        return Vec::new();
    };
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    let Outcome::Invalid(violations) = schema.validate(&tape, &mut fuel) else {
        return Vec::new();
    };
    let found = violations.iter().map(|violation| {
        Finding::new(
            Stage::Contract,
            format!("schema.{}", violation.keyword()),
            Severity::Info,
        )
        .by(violation.schema_pointer())
        .expecting(violation.expected(), violation.actual())
    });
    found.collect()
}

/// Rows 13 to 15, once per tool.
fn declaration_violations(contract: &Contract) -> Vec<Violation> {
    let limit = |member: &str| {
        let declared = if member == "outputSchema" {
            contract.output()
        } else {
            contract.input()
        };
        declared.is_some_and(|one| {
            one.schema()
                .is_err_and(countersign_schema::Unenforceable::is_limit)
        })
    };
    let of = |diagnostic: &Diagnostic| {
        let site = match diagnostic.rule {
            "contract.external_ref" => Site::ExternalRef,
            "contract.uncompilable" if limit(diagnostic.member) => Site::Guard,
            "contract.uncompilable" | "contract.not_object" => Site::Schema,
            _ => return None,
        };
        let finding = Finding::new(Stage::Contract, diagnostic.rule, Severity::Violation)
            .by(format!("/{}", diagnostic.member))
            .detail(diagnostic.detail.clone());
        Some(Violation::with(site, vec![finding]))
    };
    let mut all: Vec<Violation> = contract.diagnostics().iter().filter_map(of).collect();
    if contract.input().is_none() {
        let finding = Finding::new(Stage::Contract, "contract.not_object", Severity::Violation)
            .by("/inputSchema")
            .detail("a tool must declare an inputSchema");
        all.push(Violation::with(Site::Schema, vec![finding]));
    }
    all
}

fn memory_contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

#[cfg(test)]
mod tests;
