//! The findings of a run, each once, counted when seen again.

use std::collections::HashMap;

use serde_json::Value;

use super::super::case::Case;
use super::super::examine::Examined;
use super::super::record::{Key, Observation, Pass, Record, VERSION};
use super::{Run, Settings};
use crate::policy::{AppliedPolicy, SchemaPolicy};
use crate::report::{self, now_ms, wildcard_positions};

/// Distinct findings that are kept, at most.
const MAX_FINDINGS: usize = 1_000;

pub(super) struct Findings<'s> {
    settings: &'s Settings,
    server: String,
    protocol: String,
    transport: String,
    /// SHA-256 over the declared schemas, by tool.
    pub(super) digests: HashMap<String, String>,
    known: HashMap<(String, Key), usize>,
    pub(super) records: Vec<Record>,
    /// Sightings beyond what is kept, and those a policy ignores.
    pub(super) ignored: u64,
}

impl<'s> Findings<'s> {
    pub(super) fn new(settings: &'s Settings, run: &Run) -> Self {
        Self {
            settings,
            server: run.server.clone(),
            protocol: run.protocol.clone(),
            transport: run.transport.clone(),
            digests: HashMap::new(),
            known: HashMap::new(),
            records: Vec::new(),
            ignored: 0,
        }
    }

    /// Counts an observation that is known; false if it is new.
    pub(super) fn count_again(&mut self, tool: &str, observation: &Observation) -> bool {
        let Some(index) = self.known.get(&(tool.to_owned(), observation.key())) else {
            return false;
        };
        let Some(record) = self.records.get_mut(*index) else {
            return false;
        };
        record.count += 1;
        record.last_ms = now_ms();
        self.ignored += u64::from(record.policy == SchemaPolicy::Ignore);
        true
    }

    /// Whether the policy does more than count it.
    pub(super) fn is_reported(&self, tool: &str, observation: &Observation) -> bool {
        self.apply_policy(tool, observation).policy != SchemaPolicy::Ignore
    }

    fn apply_policy(&self, tool: &str, observation: &Observation) -> AppliedPolicy {
        let Settings {
            validation, today, ..
        } = self.settings;
        observation.requirement.apply(tool, validation, *today)
    }

    /// Adds what was seen in the answer to a case, with the arguments of that case.
    pub(super) fn add_examined(&mut self, tool: &str, case: &Case, examined: &Examined) {
        for observation in &examined.observations {
            let shown = Some((case.arguments.clone(), examined.request_id.clone()));
            self.add(tool, Pass::Coverage, &case.name, observation, shown);
        }
    }

    pub(super) fn add(
        &mut self,
        tool: &str,
        pass: Pass,
        case: &str,
        observation: &Observation,
        shown: Option<(Value, Option<String>)>,
    ) {
        if self.count_again(tool, observation) {
            return;
        }
        if self.records.len() >= MAX_FINDINGS {
            self.ignored += 1;
            return;
        }
        let applied = self.apply_policy(tool, observation);
        self.ignored += u64::from(applied.policy == SchemaPolicy::Ignore);
        let (arguments, request_id) =
            shown.map_or((None, None), |(arguments, id)| (Some(arguments), id));
        let now = now_ms();
        let key = observation.key();
        let record = Record {
            version: VERSION,
            fingerprint: fingerprint(&self.server, tool, observation.requirement.site(), &key),
            rule: observation.requirement.id().to_owned(),
            site: observation.requirement.site().to_owned(),
            policy: applied.policy,
            why: applied.why,
            tool: tool.to_owned(),
            protocol: self.protocol.clone(),
            transport: self.transport.clone(),
            schema_digest: self.digests.get(tool).cloned().unwrap_or_default(),
            keyword_location: observation.keyword_location.clone(),
            instance_pointer: observation
                .instance_pointer
                .as_deref()
                .map(wildcard_positions),
            expected: observation.expected.clone(),
            actual: observation.actual.clone(),
            detail: observation.detail.clone(),
            pass,
            case: case.to_owned(),
            count: 1,
            first_ms: now,
            last_ms: now,
            request_id,
            reproducer: Some((self.settings.reproduce)(tool, arguments.as_ref())),
            arguments,
        };
        self.known
            .insert((tool.to_owned(), key), self.records.len());
        self.records.push(record);
    }
}

/// Server, tool, rule, site, keyword and place: the same in every run, and no value in it.
fn fingerprint(server: &str, tool: &str, site: &str, key: &Key) -> String {
    let parts = [
        server,
        tool,
        site,
        key.rule,
        &key.keyword_location,
        &key.instance_pointer,
    ];
    let text = serde_json::to_string(&parts).unwrap_or_default();
    report::fingerprint(&text)
}
