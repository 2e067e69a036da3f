//! How changes fared: in the log, the counters, the status and the records.

use countersign_audit::{Kind, Outcome, Record, Source as By};

use super::Reloader;
use crate::config_change::{AppliedConfig, ConfigRefusal, SettingChange};
use crate::events;

impl Reloader {
    pub(super) async fn record(&self, record: Record) {
        let services = &self.runtime.services;
        let records = vec![record];
        services.metrics.observe(&records);
        // A change is made even if the store is down.
        let _recorded = services.store.commit((), records).await;
    }

    /// Counts, logs and records how a new configuration fared.
    pub(super) async fn tell(
        &self,
        outcome: Result<&AppliedConfig, &ConfigRefusal>,
        by: By,
        caller: Option<String>,
    ) {
        let services = &self.runtime.services;
        let file = &self.source.path().display().to_string();
        let (reason, ended) = match outcome {
            Ok(applied) => {
                services.reloads.set_status(|status| {
                    status.errors.clear();
                    status.warnings.clone_from(&applied.warnings);
                    status.needs_restart.clone_from(&applied.needs_restart);
                });
                events::ConfigApplied { file, applied }.emit(&services.events);
                (summary(applied), Outcome::Success)
            }
            Err(refused) => {
                let errors = refused.notices();
                events::ConfigRefused {
                    file,
                    errors: &errors,
                }
                .emit(&services.events);
                let reason = errors.first().map(|error| error.message.clone());
                // A refused patch says nothing about the file.
                if by == By::Internal {
                    services.reloads.set_status(|status| status.errors = errors);
                }
                (reason.unwrap_or_default(), Outcome::Rejected)
            }
        };
        let mut record = Record::new(services.store.next_id(), Kind::ConfigChange, ended);
        record.source = by;
        record.caller = caller;
        record.reason = Some(reason);
        self.record(record).await;
    }
}

fn summary(applied: &AppliedConfig) -> String {
    let changes: Vec<_> = applied
        .changes
        .iter()
        .map(SettingChange::to_string)
        .collect();
    let changed = match changes.as_slice() {
        [] => "nothing that counts".to_owned(),
        changes => changes.join(", "),
    };
    match applied.needs_restart.as_slice() {
        [] => format!("changed: {changed}"),
        waiting => format!(
            "changed: {changed}; waiting for a restart: {}",
            waiting.join(", ")
        ),
    }
}
