//! The declared schemas of a tool with the places that the findings of a record point at.

use std::collections::BTreeMap;

use countersign_audit::{Finding, Reader, Record};
use countersign_console::MarkedSchema;
use countersign_inspect::Stage;

use super::super::activity;
use super::visit::Visit;

/// The schemas that the findings of a record point into, as the tool declared them when the record was written.
pub(super) async fn of_record(visit: &Visit<'_>, record: &Record) -> Vec<MarkedSchema> {
    let has_pointer = |finding: &Finding| finding.schema_pointer.is_some();
    if !record.findings.iter().any(has_pointer) {
        return Vec::new();
    }
    let (Some(server), Some(tool)) = (record.server.clone(), record.tool.clone()) else {
        return Vec::new();
    };
    let generation = record.schema_generation;
    let read = move |reader: &Reader| reader.tool(&server, &tool, generation);
    let Ok(Some(captured)) = activity::read(visit.services, read).await else {
        return Vec::new();
    };
    // A record that does not name a generation may be older than the one that holds now.
    if generation.is_none() && captured.captured_at > record.timestamp {
        return Vec::new();
    }
    let number = captured.generation;
    let title = |words: &str| format!("{words}, generation {number}");
    [
        (Stage::Contract, "outputSchema", title("Output schema")),
        (Stage::Input, "inputSchema", title("Input schema")),
    ]
    .into_iter()
    .filter_map(|(stage, member, title)| {
        let pointers = pointers(record, stage);
        MarkedSchema::new(title, &captured.raw, member, &pointers)
    })
    .collect()
}

/// The places in the schema that findings of a stage point at, with the numbers of the findings.
fn pointers(record: &Record, stage: Stage) -> BTreeMap<&str, Vec<usize>> {
    let mut pointers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, finding) in (1..).zip(&record.findings) {
        if let Some(pointer) = finding.schema_pointer.as_deref()
            && finding.stage == stage
        {
            pointers.entry(pointer).or_default().push(number);
        }
    }
    pointers
}
