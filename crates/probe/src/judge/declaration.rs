//! What is wrong with a tool before it is ever called: its schemas, said once when it is declared.

use countersign_inspect::{Contract, Diagnostic, Finding, Severity, Stage};
use countersign_schema::Unenforceable;

use super::violation::Violation;
use crate::policy::Site;

/// Rows 13 to 15, once per tool.
pub(super) fn violations(contract: &Contract) -> Vec<Violation> {
    let limit = |member: &str| {
        let declared = if member == "outputSchema" {
            contract.output()
        } else {
            contract.input()
        };
        declared.is_some_and(|one| one.schema().is_err_and(Unenforceable::is_limit))
    };
    let violation = |diagnostic: &Diagnostic| {
        let site = match diagnostic.rule {
            "contract.external_ref" => Site::ExternalRef,
            "contract.uncompilable" if limit(diagnostic.member) => Site::Guard,
            "contract.uncompilable" | "contract.not_object" => Site::Schema,
            _ => return None,
        };
        let finding = Finding::new(Stage::Contract, diagnostic.rule, Severity::Violation)
            .with_schema_pointer(format!("/{}", diagnostic.member))
            .detail(diagnostic.detail.clone());
        Some(Violation::new(site, vec![finding]))
    };
    let mut all: Vec<Violation> = contract
        .diagnostics()
        .iter()
        .filter_map(violation)
        .collect();
    if contract.input().is_none() {
        let finding = Finding::new(Stage::Contract, "contract.not_object", Severity::Violation)
            .with_schema_pointer("/inputSchema")
            .detail("a tool must declare an inputSchema");
        all.push(Violation::new(Site::Schema, vec![finding]));
    }
    all
}
