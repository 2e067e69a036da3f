//! Revoking a caller, for every gateway that shares the store. The file stays as it is.

use countersign_audit::{Kind, Outcome, Record, Revocation, Source as By};
use countersign_config::{CallerConfig, CallerCredential};
use countersign_dial::explain;

use super::{Reloader, blocking};
use crate::config_change::{AppliedConfig, ConfigRefusal};
use crate::gateway::revocations;

impl Reloader {
    /// Writes the revocation into the store and refuses the caller here at once; other gateways see it within a second.
    pub(super) async fn revoke(
        &self,
        name: &str,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let found = self.find_caller(name)?;
        let (revoked, key) = (found.full_name(), found.revocation_digest());
        let services = &self.runtime.services;
        let (reader, owner) = (services.store.reader().clone(), revoked.clone());
        let revoke = move || {
            let caller = &*owner;
            reader.revoke(Revocation { caller, key })
        };
        let written = blocking(revoke).await;
        written.map_err(|error| ConfigRefusal::Store(explain(&error)))?;
        services.revocations.add(key);
        revocations::apply(&self.runtime);
        let mut record = Record::new(
            services.store.next_id(),
            Kind::ConfigChange,
            Outcome::Success,
        );
        record.source = By::Api;
        record.caller = caller;
        let what = match found.credential {
            CallerCredential::Key(_) => "key",
            CallerCredential::Certificate(_) => "certificate",
        };
        record.reason = Some(format!("revoked the {what} of {revoked}"));
        self.record(record).await;
        Ok(AppliedConfig::default())
    }

    /// A caller of the configuration by its name, with or without `key:` or `cert:`.
    fn find_caller(&self, name: &str) -> Result<CallerConfig, ConfigRefusal> {
        let snapshot = self.runtime.state.load();
        let mut callers = snapshot.settings.config.callers.iter();
        let found = callers.find(|caller| caller.name == name || caller.full_name() == name);
        found.cloned().ok_or(ConfigRefusal::UnknownCaller)
    }
}
