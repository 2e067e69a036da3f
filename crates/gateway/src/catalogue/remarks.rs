//! `Remarks`: what an operator should know about the declarations in one list, once per generation.
//!
//! Of each sort a few are recorded one by one and the others counted: a list has up to 10,000 tools, and its server chooses
//! what they say.

use countersign_audit::{Finding, Kind, Outcome, Record, Severity, Source, Stage};
use countersign_inspect::{Contract, Diagnostic};

use super::descriptions;
use crate::services::Services;
use crate::state::Tool;

/// Records of each sort about one list.
const MAX_EACH: usize = 8;

/// The records about one list, and how many there would be.
#[derive(Default)]
pub(super) struct Remarks {
    diagnostics: Vec<Record>,
    descriptions: Vec<Record>,
    left_out: u64,
}

impl Remarks {
    /// What there is to say about a tool that was not declared like this before.
    pub(super) fn add(&mut self, services: &Services, server: &str, tool: &Tool) {
        for diagnostic in tool.contract().take_diagnostics() {
            if self.diagnostics.len() < MAX_EACH {
                let record = diagnosed(services, server, tool.contract(), diagnostic);
                self.diagnostics.push(record);
            } else {
                self.left_out += 1;
            }
        }
        let described = descriptions::record(services, server, Some(tool.name()), tool.listing());
        if let Some(record) = described {
            if self.descriptions.len() < MAX_EACH {
                self.descriptions.push(record);
            } else {
                self.left_out += 1;
            }
        }
    }

    pub(super) fn into_records(self, services: &Services, server: &str) -> Vec<Record> {
        let mut records = self.diagnostics;
        records.extend(self.descriptions);
        if self.left_out > 0 {
            let mut record = internal(services, server);
            let count = self.left_out;
            record.reason = Some(format!(
                "{count} more remarks about schemas and descriptions of this list are not recorded one by one"
            ));
            records.push(record);
        }
        records
    }
}

fn internal(services: &Services, server: &str) -> Record {
    let id = services.store.next_id();
    let mut record = Record::new(id, Kind::SchemaDiagnostic, Outcome::Success);
    record.source = Source::Internal;
    record.server = Some(server.to_owned());
    record
}

fn diagnosed(services: &Services, server: &str, contract: &Contract, about: &Diagnostic) -> Record {
    let mut record = internal(services, server);
    record.tool = Some(contract.tool().tool().to_owned());
    record.schema_generation = Some(contract.generation());
    record.reason = Some(format!("{}: {}", about.member, about.detail));
    let finding = Finding::new(Stage::Contract, about.rule, Severity::Info);
    record.findings.push(finding.detail(about.detail.clone()));
    record
}
