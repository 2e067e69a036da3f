//! A finding together with the one sentence that may be shown to an agent. The sentences are
//! made here and in `reason`, and nowhere else: keywords, type names, numbers and plain declared names, never a
//! value and never a name the schema does not declare, because error text is an injection
//! channel too.

use std::fmt::Write as _;

use countersign_schema::{Segment, Violation};

use crate::text::{for_agent, for_record, is_plain_name, pointer_for_record};
use crate::tool::ToolName;
use crate::verdict::{Finding, Severity, Stage};

/// How many findings one stage reports. What a hostile result could repeat has a bound.
pub(crate) const MAX_FINDINGS: usize = 16;

const OUTPUT: &str = "output schema validation failed";
const INPUT: &str = "input schema validation failed";

/// A finding and what an agent may be told about it, whatever is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    /// Nothing where what is said depends on the decision; see `reason`.
    pub(crate) sentence: Option<String>,
}

impl Found {
    /// A finding that has no sentence of its own: what is said about it depends on what is decided.
    pub(crate) fn plain(finding: Finding) -> Self {
        Self {
            finding,
            sentence: None,
        }
    }

    /// A finding with its sentence.
    pub(crate) fn explained(finding: Finding, sentence: String) -> Self {
        Self {
            finding,
            sentence: Some(sentence),
        }
    }

    /// Top-level members of a reply that were cut; `is_ambiguous`: they made a request of it.
    pub(crate) fn foreign_members(is_ambiguous: bool) -> Self {
        let (severity, actual) = if is_ambiguous {
            (Severity::Attack, "members of a request")
        } else {
            (Severity::Info, "members that JSON-RPC does not know")
        };
        let rule = "transport.foreign_member";
        let finding = Finding::new(Stage::Transport, rule, severity)
            .expecting("jsonrpc, id, and result or error", actual)
            .detail("cut before the reply was passed on");
        let sentence = format!("{actual} were cut from the top level of the reply");
        Self::explained(finding, sentence)
    }

    /// A finding of the contract stage that is about the schema, not about a place in a value.
    pub(crate) fn contract(finding: Finding, what: &str) -> Self {
        Self::explained(finding, format!("{OUTPUT}: {what}"))
    }

    /// A breached guard.
    pub(crate) fn guard(guard: &'static str, rule: &'static str, actual: u64, limit: u64) -> Self {
        let finding = Finding::new(Stage::Guard, rule, Severity::Violation)
            .at("/structuredContent")
            .expecting(format!("at most {limit}"), actual.to_string());
        let sentence = format!("{OUTPUT}: structured output exceeds {guard} ({actual} > {limit})");
        Self::explained(finding, sentence)
    }

    /// More content blocks than allowed.
    pub(crate) fn too_many_blocks(blocks: u64, limit: u64) -> Self {
        let finding = Finding::new(Stage::Guard, "guard.max_blocks", Severity::Violation)
            .at("/content")
            .expecting(format!("at most {limit}"), blocks.to_string());
        let sentence = format!("{OUTPUT}: content exceeds max_blocks ({blocks} > {limit})");
        Self::explained(finding, sentence)
    }

    /// A key that occurs twice in `structuredContent`.
    pub(crate) fn duplicate_key(pointer: &str) -> Self {
        let finding = Finding::new(
            Stage::Contract,
            "contract.duplicate_key",
            Severity::Violation,
        )
        .at(pointer_for_record(pointer))
        .expecting("unique keys", "a repeated key");
        Self::contract(finding, "an object has a repeated key")
    }

    /// A schema's verdict on a result.
    pub(crate) fn output(violation: &Violation, scene: &Scene<'_>) -> Self {
        Self::violation(violation, scene, Stage::Contract, "", OUTPUT)
    }

    /// A schema's verdict on arguments.
    pub(crate) fn input(violation: &Violation, scene: &Scene<'_>) -> Self {
        Self::violation(violation, scene, Stage::Input, "input.", INPUT)
    }

    fn violation(
        violation: &Violation,
        scene: &Scene<'_>,
        stage: Stage,
        prefix: &str,
        failed: &str,
    ) -> Self {
        let keyword = violation.keyword();
        let rule = format!("{prefix}schema.{keyword}");
        let finding = Finding::new(stage, rule, Severity::Violation)
            .at(record_pointer(violation.path()))
            .by(pointer_for_record(violation.schema_pointer()))
            .expecting(for_record(violation.expected()), violation.actual());
        let at = scene.pointer(violation.path());
        let actual = violation.actual();
        let tool = scene.tool.shown();
        let expected = for_agent(violation.expected());
        let sentence =
            format!("{failed}: {keyword} at {at}: expected {expected}, got {actual} (tool {tool})");
        Self::explained(finding, sentence)
    }
}

/// What a sentence about a schema violation needs to know beside the violation.
pub(crate) struct Scene<'a> {
    pub(crate) tool: &'a ToolName,
    pub(crate) declares: &'a dyn Fn(&str) -> bool,
}

impl Scene<'_> {
    /// A pointer for an agent: indexes and plain declared names; any other name is its ordinal.
    fn pointer(&self, path: &[Segment]) -> String {
        if path.is_empty() {
            return "the root".to_owned();
        }
        let mut pointer = String::new();
        for segment in path {
            pointer.push('/');
            // Writing to a string cannot fail.
            let written = match segment {
                Segment::Index(index) => write!(pointer, "{index}"),
                Segment::Property { name, .. } if is_plain_name(name) && (self.declares)(name) => {
                    pointer.push_str(name);
                    Ok(())
                }
                Segment::Property { ordinal, .. } => write!(pointer, "<property #{ordinal}>"),
            };
            debug_assert!(written.is_ok());
        }
        pointer
    }
}

/// A pointer for the operator: every name, cleaned and shortened.
fn record_pointer(path: &[Segment]) -> String {
    let mut pointer = String::new();
    for segment in path {
        pointer.push('/');
        match segment {
            Segment::Index(index) => pointer.push_str(&index.to_string()),
            Segment::Property { name, .. } => {
                pointer.push_str(&for_record(name).replace('~', "~0").replace('/', "~1"));
            }
        }
    }
    pointer
}
