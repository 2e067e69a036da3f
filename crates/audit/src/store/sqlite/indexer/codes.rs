//! `Codes`: what a record is found by, as the integers of the index.

use crate::record::indexed_fields::IndexedFields;
use crate::store::sqlite::index::{Dimension, PlacedStatus};
use crate::store::sqlite::keys::KeyKind;
use crate::store::sqlite::packed::Key;

/// Where names have their integers from.
pub(in crate::store::sqlite) trait Names {
    fn name(&mut self, text: &str) -> rusqlite::Result<i64>;
    /// The integer of a server and a tool together; either may be 0 for none.
    fn place(&mut self, server: i64, tool: i64) -> rusqlite::Result<i64>;
}

/// A record's dictionary integers.
pub(in crate::store::sqlite) struct Codes {
    /// 0 for none, as the tool and the caller.
    pub(in crate::store::sqlite) server: i64,
    tool: i64,
    caller: i64,
    pub(in crate::store::sqlite) place: i64,
    /// Rules found, without repetition; and stages.
    pub(in crate::store::sqlite) rules: Vec<i64>,
    stages: Vec<i64>,
}

impl Codes {
    pub(in crate::store::sqlite) fn new(
        names: &mut impl Names,
        record: &IndexedFields<'_>,
    ) -> rusqlite::Result<Self> {
        let mut optional = |text: Option<&str>| text.map_or(Ok(0), |text| names.name(text));
        let (server, tool) = (optional(record.server)?, optional(record.tool)?);
        let caller = optional(record.caller)?;
        let place = names.place(server, tool)?;
        let findings = record.findings.iter();
        let mut stages: Vec<i64> = findings.map(|finding| finding.stage as i64).collect();
        let findings = record.findings.iter();
        let mut rules: Vec<i64> = findings
            .map(|finding| names.name(&finding.rule))
            .collect::<Result<_, _>>()?;
        for values in [&mut stages, &mut rules] {
            values.sort_unstable();
            values.dedup();
        }
        Ok(Self {
            server,
            tool,
            caller,
            place,
            rules,
            stages,
        })
    }

    /// Every term under which the record has a place in the index. A filter cannot ask for records without a server, tool or
    /// caller.
    pub(in crate::store::sqlite) fn each_term(
        &self,
        record: &IndexedFields<'_>,
        mut each: impl FnMut(i64),
    ) {
        each(Dimension::Kind.term(record.kind.code()));
        each(Dimension::Status.term(record.status.code()));
        if let Some(decision) = record.decision_code() {
            each(Dimension::Decision.term(decision));
        }
        let placed = PlacedStatus::new(record.status);
        if self.server != 0 {
            each(Dimension::Server.term(self.server));
            if let Some(status) = placed {
                each(status.server_term(self.server));
            }
        }
        if self.tool != 0 {
            each(Dimension::Place.term(self.place));
            if let Some(status) = placed {
                each(status.place_term(self.place));
            }
        }
        if self.caller != 0 {
            each(Dimension::Caller.term(self.caller));
        }
        for rule in &self.rules {
            each(Dimension::Rule.term(*rule));
        }
        for stage in &self.stages {
            each(Dimension::Stage.term(*stage));
        }
    }
}

/// Every key that leads to the record.
pub(in crate::store::sqlite) fn keys(
    record: &IndexedFields<'_>,
    seq: u64,
) -> impl Iterator<Item = Key> {
    let id = KeyKind::Id.key(&record.id.to_bytes(), seq);
    let request = record
        .request_id
        .map(|id| KeyKind::Request.key(id.as_bytes(), seq));
    let parent = record
        .parent_id
        .map(|id| KeyKind::Parent.key(&id.to_bytes(), seq));
    [Some(id), request, parent].into_iter().flatten()
}
