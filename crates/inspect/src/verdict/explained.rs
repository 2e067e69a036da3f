//! A finding together with the sentence about it that an agent may read. These sentences are written here and in
//! `reason` only. They hold keywords, type names, numbers and plain names that the schema declares; never a value,
//! and never an undeclared name, because error text is a way to inject instructions too.

use std::fmt::Write as _;

use countersign_schema::{Schema, Segment, Violation};

use crate::text::{for_agent, for_record, is_plain_name, pointer_for_record};
use crate::tool::ToolName;
use crate::verdict::{Finding, Severity, Stage};

/// How many findings one stage reports: a hostile result could repeat a violation without end.
pub(crate) const MAX_FINDINGS: usize = 16;

const OUTPUT: &str = "output schema validation failed";
const INPUT: &str = "input schema validation failed";

/// A finding and the sentence about it that an agent may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExplainedFinding {
    pub(crate) finding: Finding,
    /// `None` if the sentence depends on the decision; `reason` writes it then.
    pub(crate) sentence: Option<String>,
}

impl ExplainedFinding {
    /// A finding without a sentence: `reason` writes one when the decision is known.
    pub(crate) fn without_sentence(finding: Finding) -> Self {
        Self {
            finding,
            sentence: None,
        }
    }

    /// A finding with its sentence.
    pub(crate) fn with_sentence(finding: Finding, sentence: String) -> Self {
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
        Self::with_sentence(finding, sentence)
    }

    /// A finding of the contract stage that is about the schema, not about a place in a value.
    pub(crate) fn contract(finding: Finding, what: &str) -> Self {
        Self::with_sentence(finding, format!("{OUTPUT}: {what}"))
    }

    /// A limit of the configuration that a result exceeds.
    pub(crate) fn guard(guard: Guard, actual: u64, limit: u64) -> Self {
        let (key, pointer, what) = match guard {
            Guard::Bytes => ("max_bytes", "/structuredContent", "structured output"),
            Guard::Depth => ("max_depth", "/structuredContent", "structured output"),
            Guard::Blocks => ("max_blocks", "/content", "content"),
        };
        let rule = format!("guard.{key}");
        let finding = Finding::new(Stage::Guard, rule, Severity::Violation)
            .with_instance_pointer(pointer)
            .expecting(format!("at most {limit}"), actual.to_string());
        let sentence = format!("{OUTPUT}: {what} exceeds {key} ({actual} > {limit})");
        Self::with_sentence(finding, sentence)
    }

    /// A key that occurs twice in `structuredContent`.
    pub(crate) fn duplicate_key(pointer: &str) -> Self {
        let finding = Finding::new(
            Stage::Contract,
            "contract.duplicate_key",
            Severity::Violation,
        )
        .with_instance_pointer(pointer_for_record(pointer))
        .expecting("unique keys", "a repeated key");
        Self::contract(finding, "an object has a repeated key")
    }

    /// A schema's verdict on a result or on arguments.
    pub(crate) fn violation(violation: &Violation, context: &ViolationContext<'_>) -> Self {
        let (prefix, failed) = match context.stage {
            Stage::Input => ("input.", INPUT),
            _ => ("", OUTPUT),
        };
        let keyword = violation.keyword();
        let rule = format!("{prefix}schema.{keyword}");
        let finding = Finding::new(context.stage, rule, Severity::Violation)
            .with_instance_pointer(record_pointer(violation.path()))
            .with_schema_pointer(pointer_for_record(violation.schema_pointer()))
            .expecting(for_record(violation.expected()), violation.actual());
        let at = context.pointer(violation.path());
        let actual = violation.actual();
        let tool = context.tool.display();
        let expected = for_agent(violation.expected());
        let sentence =
            format!("{failed}: {keyword} at {at}: expected {expected}, got {actual} (tool {tool})");
        Self::with_sentence(finding, sentence)
    }
}

/// The limits on the size of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    Bytes,
    Depth,
    Blocks,
}

/// What a sentence about a schema violation needs to know beside the violation.
pub(crate) struct ViolationContext<'a> {
    /// `Input` for arguments, `Contract` for a result.
    pub(crate) stage: Stage,
    pub(crate) tool: &'a ToolName,
    pub(crate) schema: &'a Schema,
}

impl ViolationContext<'_> {
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
                Segment::Property { name, .. }
                    if is_plain_name(name) && self.schema.declares(name) =>
                {
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
