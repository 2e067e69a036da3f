//! SARIF 2.1.0: rules and results with fingerprints, so that code scanning can tell new from
//! known. A tool has no file, so results have logical locations.

use serde_json::{Value, json};

use crate::policy::SchemaPolicy;

/// Where every rule is explained.
const HELP: &str = "docs/guides/contract.md lists every rule and what strict does about it.";

/// A rule that results refer to: the stable identifier, and one sentence.
pub(crate) type SarifRule<'a> = (&'a str, &'static str);

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SarifResult {
    /// The rule it breaks.
    pub(crate) rule: String,
    /// What is done about it.
    pub(crate) policy: SchemaPolicy,
    /// One sentence.
    pub(crate) text: String,
    /// The server and the tool.
    pub(crate) server: String,
    /// The tool; empty for what is about the server.
    pub(crate) tool: String,
    /// What makes it the same result in another run.
    pub(crate) fingerprint: String,
    /// Whether it was known before.
    pub(crate) is_known: bool,
    /// Why it was accepted, if it was.
    pub(crate) accepted: Option<String>,
    /// A command that shows it again.
    pub(crate) reproducer: Option<String>,
}

/// Renders one run.
pub(crate) fn render(server: &str, rules: &[SarifRule<'_>], results: &[SarifResult]) -> String {
    let described: Vec<Value> = rules.iter().map(describe).collect();
    let results: Vec<Value> = results.iter().map(|one| result(one, rules)).collect();
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "countersign",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": described,
            }},
            "automationDetails": {"id": format!("countersign/contract/{server}")},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// A rule with every text that code scanning shows.
fn describe((id, text): &SarifRule<'_>) -> Value {
    let help = format!("{text}. {HELP}");
    json!({
        "id": id,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": help},
    })
}

fn result(one: &SarifResult, rules: &[SarifRule<'_>]) -> Value {
    let index = rules.iter().position(|(id, _)| *id == one.rule);
    let (name, qualified) = if one.tool.is_empty() {
        (&one.server, one.server.clone())
    } else {
        (&one.tool, format!("{}/{}", one.server, one.tool))
    };
    let mut value = json!({
        "ruleId": one.rule,
        "level": match one.policy {
            SchemaPolicy::Fail => "error",
            SchemaPolicy::Warn => "warning",
            SchemaPolicy::Ignore => "note",
        },
        "message": {"text": one.text},
        "locations": [{"logicalLocations": [{"name": name, "fullyQualifiedName": qualified, "kind": "function"}]}],
        "partialFingerprints": {"countersign/v1": one.fingerprint},
        "baselineState": if one.is_known { "unchanged" } else { "new" },
    });
    if let Some(index) = index {
        value["ruleIndex"] = json!(index);
    }
    if let Some(why) = &one.accepted {
        value["suppressions"] = json!([{"kind": "external", "justification": why}]);
    }
    if let Some(command) = &one.reproducer {
        value["properties"] = json!({"reproducer": command});
    }
    value
}
