//! Revoking the key of a caller, for every gateway that shares the store. The file stays as it is.

use countersign_audit::{KeyDigest, Kind, Outcome, Record, Revocation, Source as By};
use countersign_config::CallerCredential;
use countersign_dial::explain;

use super::{Reloader, blocking};
use crate::config_change::{AppliedConfig, ConfigRefusal};
use crate::gateway::revocations;

impl Reloader {
    /// Writes the revocation into the store and refuses the key here at once; other gateways see it within a second.
    pub(super) async fn revoke(
        &self,
        name: &str,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let (revoked, key) = self.find_key(name)?;
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
        record.reason = Some(format!("revoked the key of {revoked}"));
        self.record(record).await;
        Ok(AppliedConfig::default())
    }

    /// A caller of the configuration by its name, with or without `key:`, and its key.
    fn find_key(&self, name: &str) -> Result<(String, KeyDigest), ConfigRefusal> {
        let snapshot = self.runtime.state.load();
        let mut callers = snapshot.settings.config.callers.iter();
        let found = callers.find(|caller| caller.name == name || caller.full_name() == name);
        let caller = found.ok_or(ConfigRefusal::UnknownCaller)?;
        match caller.credential {
            CallerCredential::Key(key) => Ok((caller.full_name(), key)),
            CallerCredential::Certificate(_) => Err(ConfigRefusal::NoKey),
        }
    }
}
