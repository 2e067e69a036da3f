//! SARIF 2.1.0: rules and results with fingerprints, so that code scanning can tell new from
//! known. A tool has no file, so results have logical locations.

use serde_json::{Value, json};

/// Where every rule is explained.
const HELP: &str = "docs/guides/contract.md lists every rule and what strict does about it.";

/// A rule that results refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SarifRule {
    /// The stable identifier.
    pub id: String,
    /// One sentence.
    pub text: String,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SarifResult {
    /// The rule it breaks.
    pub rule: String,
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// One sentence.
    pub text: String,
    /// The server and the tool.
    pub server: String,
    /// The tool; empty for what is about the server.
    pub tool: String,
    /// What makes it the same result in another run.
    pub fingerprint: String,
    /// Whether it was known before.
    pub is_known: bool,
    /// Why it was accepted, if it was.
    pub accepted: Option<String>,
    /// A command that shows it again.
    pub reproducer: Option<String>,
}

/// Renders one run.
pub fn render(server: &str, rules: &[SarifRule], results: &[SarifResult]) -> String {
    let described: Vec<Value> = rules.iter().map(described).collect();
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
fn described(rule: &SarifRule) -> Value {
    let help = format!("{}. {HELP}", rule.text);
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.text},
        "fullDescription": {"text": rule.text},
        "help": {"text": help},
    })
}

fn result(one: &SarifResult, rules: &[SarifRule]) -> Value {
    let index = rules.iter().position(|rule| rule.id == one.rule);
    let qualified = if one.tool.is_empty() {
        one.server.clone()
    } else {
        format!("{}/{}", one.server, one.tool)
    };
    let name = if one.tool.is_empty() {
        &one.server
    } else {
        &one.tool
    };
    let mut value = json!({
        "ruleId": one.rule,
        "level": one.level,
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
