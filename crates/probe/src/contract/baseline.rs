//! Known violations, in a file that is committed beside the tests. An entry says where, never
//! what: no values and no messages, because those change and may be secret. What is known does
//! not gate, what is new does, and what is known but gone makes the file stale, so that it only
//! ever shrinks by a person's decision.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::record::{Pass, Record};
use super::run::{NO_SUCH_TOOL, Run, ToolRun};
use crate::policy::{PolicySource, SchemaPolicy, Site};

/// The version of the file's form.
const VERSION: u32 = 1;

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of this form.
    pub version: u32,
    /// What the server calls itself.
    pub server: String,
    /// What is known.
    pub entries: Vec<Entry>,
}

/// A known violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What makes it the same finding in another run.
    pub fingerprint: String,
    /// The tool.
    pub tool: String,
    /// The rule.
    pub rule: String,
    /// The site.
    pub site: String,
    /// Where in the schema.
    pub keyword_location: Option<String>,
    /// Where in the value, indexes starred.
    pub instance_pointer: Option<String>,
    /// SHA-256 over the tool's schemas; another one opens the entry again.
    pub schema_digest: String,
    /// The pass that found it.
    pub pass: Pass,
}

/// What comparing a run with a baseline showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Findings that are known.
    pub known: usize,
    /// Findings that were known under another schema, and count again.
    pub reopened: usize,
    /// Known findings that are gone although everything that showed them was asked again.
    pub stale: Vec<Entry>,
    /// Known findings of a random pass that were not seen; that proves nothing.
    pub unproven: Vec<Entry>,
}

impl Baseline {
    /// Everything a run found that would be shown, and what `older` knows about tools that were
    /// not reached.
    pub fn from_run(run: &Run, older: Option<&Self>) -> Self {
        let kept = run.findings.iter().filter(|one| is_kept(one));
        let mut entries: Vec<Entry> = kept.map(entry).collect();
        let unreached = older.into_iter().flat_map(|older| &older.entries);
        entries.extend(unreached.filter(|one| !is_reached(run, &one.tool)).cloned());
        entries.sort_by(|a, b| {
            (&a.tool, &a.rule, &a.fingerprint).cmp(&(&b.tool, &b.rule, &b.fingerprint))
        });
        entries.dedup();
        Self {
            version: VERSION,
            server: run.server.clone(),
            entries,
        }
    }

    /// Reads a file's text; a form of another version is an error.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let baseline: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if baseline.version != VERSION {
            return Err(format!("version {} is not supported", baseline.version));
        }
        Ok(baseline)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Marks what is known in a run, and says what has become of the rest.
    pub fn apply(&self, run: &mut Run) -> Comparison {
        let mut comparison = Comparison::default();
        let mut seen = HashSet::new();
        for record in &mut run.findings {
            let mut entries = self.entries.iter();
            let Some(entry) = entries.find(|one| one.fingerprint == record.fingerprint) else {
                continue;
            };
            seen.insert(entry.fingerprint.as_str());
            if entry.schema_digest != record.schema_digest {
                comparison.reopened += 1;
            } else if record.rule != Site::Guard.rule() && record.policy != SchemaPolicy::Ignore {
                comparison.known += 1;
                record.policy = SchemaPolicy::Ignore;
                record.why = PolicySource::Baseline;
            }
        }
        let gone = self.entries.iter();
        let gone = gone.filter(|entry| !seen.contains(entry.fingerprint.as_str()));
        for entry in gone.filter(|entry| is_reached(run, &entry.tool)) {
            let place = if entry.pass.is_repeatable() {
                &mut comparison.stale
            } else {
                &mut comparison.unproven
            };
            place.push(entry.clone());
        }
        comparison
    }
}

fn is_kept(record: &Record) -> bool {
    let shown = record.policy != SchemaPolicy::Ignore || record.why == PolicySource::Baseline;
    shown && record.rule != Site::Guard.rule()
}

fn entry(record: &Record) -> Entry {
    Entry {
        fingerprint: record.fingerprint.clone(),
        tool: record.tool.clone(),
        rule: record.rule.clone(),
        site: record.site.clone(),
        keyword_location: record.keyword_location.clone(),
        instance_pointer: record.instance_pointer.clone(),
        schema_digest: record.schema_digest.clone(),
        pass: record.pass,
    }
}

/// Whether the enumerated pass came to the tool. What is about the server is reached always.
fn is_reached(run: &Run, tool: &str) -> bool {
    let coverage = Pass::Coverage.as_str();
    let was_called = |one: &ToolRun| one.cases.get(coverage).is_some_and(|cases| *cases > 0);
    let mut tools = run.tools.iter();
    ["", NO_SUCH_TOOL].contains(&tool) || tools.any(|one| one.name == tool && was_called(one))
}

#[cfg(test)]
mod tests;
