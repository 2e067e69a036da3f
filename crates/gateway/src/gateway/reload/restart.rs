//! A restart of one server, which leaves the file alone.

use countersign_audit::{Kind, Outcome, Record, Source as By};
use countersign_config::ServerChangeError;

use super::Reloader;
use super::prepare::unstartable;
use crate::config_change::{AppliedConfig, ConfigRefusal};
use crate::gateway::plan::Plan;
use crate::services::Phase;

impl Reloader {
    /// Starts a server anew, under the configuration that is in force. The one before gets no new calls and ends after
    /// the last call under way.
    pub(super) async fn restart(
        &self,
        server: &str,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let restarted = self.start_anew(server).await;
        let ended = match &restarted {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Rejected,
        };
        let services = &self.runtime.services;
        let mut record = Record::new(services.store.next_id(), Kind::ServerChange, ended);
        record.source = By::Api;
        record.caller = caller;
        record.server = Some(server.to_owned());
        record.reason = Some(match &restarted {
            Ok(_) => "restarted".to_owned(),
            Err(refused) => {
                let first = refused.notices().into_iter().next();
                first.map(|notice| notice.message).unwrap_or_default()
            }
        });
        self.record(record).await;
        restarted
    }

    async fn start_anew(&self, server: &str) -> Result<AppliedConfig, ConfigRefusal> {
        if self.runtime.services.drain.phase() != Phase::Serving {
            return Err(ConfigRefusal::Stopping);
        }
        let before = self.runtime.state.load();
        let config = &before.settings.config;
        if config.server(server).is_none() {
            let known: Vec<_> = config.servers.iter().map(|server| &*server.name).collect();
            return Err(ServerChangeError::unknown(server, &known).into());
        }
        if before.server(server).is_none() {
            return Err(ConfigRefusal::NotRunning(server.to_owned()));
        }
        let plan = Plan::restarting(&self.runtime, &before.settings, server);
        let plan = plan.map_err(|error| unstartable(&error))?;
        plan.carry_out(&self.runtime).await;
        Ok(AppliedConfig::default())
    }
}
