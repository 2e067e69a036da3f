//! What an operator is told, once, about a declaration that cannot be enforced as written. A
//! server must not be able to switch validation off silently.

use serde::Serialize;

use super::declared::{DeclaredSchema, SchemaKind};
use crate::text::long_for_record;
use crate::tool::ToolName;

/// One remark about a tool's declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The tool, as `server:tool`.
    pub tool: String,
    /// The version of the tool list it was declared in.
    pub generation: u64,
    /// `outputSchema` or `inputSchema`.
    pub member: &'static str,
    /// The rule a finding about it would have, or one of its own.
    pub rule: &'static str,
    /// What is wrong.
    pub detail: String,
}

impl Diagnostic {
    pub(super) fn for_schema(
        schema: &DeclaredSchema,
        tool: &ToolName,
        generation: u64,
    ) -> Vec<Self> {
        let remark = |rule, detail: String| Self {
            tool: tool.to_string(),
            generation,
            member: schema.kind().as_str(),
            rule,
            detail: long_for_record(&detail),
        };
        let mut all = Vec::new();
        match schema.schema() {
            Err(why) if why.is_external_ref() => {
                all.push(remark("contract.external_ref", why.to_string()));
            }
            Err(why) => all.push(remark("contract.uncompilable", why.to_string())),
            Ok(_) if schema.kind() == SchemaKind::Input && !schema.says_object() => {
                let detail = "the root does not say \"type\": \"object\"; advertised as {\"type\":\"object\"}";
                all.push(remark("contract.not_object", detail.to_owned()));
            }
            Ok(_) => {}
        }
        if schema.wraps_result() {
            let detail =
                "declares x-fastmcp-wrap-result; results are validated as sent, never unwrapped";
            all.push(remark("contract.wrapped_result", detail.to_owned()));
        }
        all
    }
}
