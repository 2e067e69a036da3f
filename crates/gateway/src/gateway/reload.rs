//! The one task that changes the configuration while the gateway runs. It looks at the file, and at the env file beside it,
//! once a second, and takes the requests of the REST interface. A new text is read, resolved and checked completely, and
//! only then one new state is stored; a text that cannot be used changes nothing.

mod contents;
mod prepare;
mod report;
mod restart;
mod revoke;

use std::time::Duration;

use countersign_audit::Source as By;
use countersign_config::{self as config, LoadedConfig, Source};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::catch_panic::catch_panic;
use crate::config_change::{AppliedConfig, ConfigRefusal, ReloadRequest, ReloadRequests};
use crate::services::{Phase, Runtime};
use contents::{ReadContents, read};
use prepare::{Saving, prepare};

/// The content of the files is compared, not their times: those are too coarse on some disks, and reading a small file
/// costs nothing.
const PERIOD: Duration = Duration::from_secs(1);
/// Editors write in steps: a file that cannot be used is read again after this long.
const SETTLING: Duration = Duration::from_millis(250);
/// A file that differs at each reading is believed after so many.
const READINGS: u32 = 8;

/// Follows the configuration file.
pub(super) struct Reloader {
    runtime: Runtime,
    source: Source,
    seen: ReadContents,
}

impl Reloader {
    /// Starts the task, if the gateway was started from a file. It ends when the gateway stops.
    pub(super) fn start(runtime: &Runtime, opened: LoadedConfig, requests: ReloadRequests) {
        let Some(source) = opened.source else {
            return;
        };
        let reloader = Self {
            runtime: runtime.clone(),
            source,
            seen: ReadContents {
                file: Ok(opened.text),
                variables: opened.variables,
            },
        };
        tokio::spawn(reloader.run(requests));
    }

    async fn run(mut self, mut requests: ReloadRequests) {
        let services = std::sync::Arc::clone(&self.runtime.services);
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = services.drain.wait_for_phase(Phase::Draining) => return,
                // What is wrong with the file has been told already.
                _ = ticks.tick() => drop(catch_panic(self.reread(false, None)).await),
                Some(pending) = requests.recv() => {
                    let outcome = self.answer(pending.request, pending.caller);
                    let outcome = catch_panic(outcome).await;
                    // The client may have gone.
                    let _unread = pending.reply.send(outcome.unwrap_or(Err(ConfigRefusal::Internal)));
                }
            }
        }
    }

    /// Makes a change in the name of a caller.
    async fn answer(
        &mut self,
        request: ReloadRequest,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        match request {
            ReloadRequest::Reread => self.reread(true, caller).await,
            ReloadRequest::Patch(patch) => self.change(|file| patched(file, &patch), caller).await,
            ReloadRequest::Server(change) => {
                let edit = |file: &str| change.apply(file).map_err(ConfigRefusal::from);
                self.change(edit, caller).await
            }
            ReloadRequest::Restart(server) => self.restart(&server, caller).await,
            ReloadRequest::Revoke(name) => self.revoke(&name, caller).await,
        }
    }

    /// Reads the file, and applies it if it has changed or the reading was `requested`.
    async fn reread(
        &mut self,
        requested: bool,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let mut readings = 1;
        loop {
            let (now, text) = read(&self.source).await;
            if !requested && now == self.seen {
                return Ok(AppliedConfig::default());
            }
            let applied = match text {
                Ok(text) => self.apply(text, Saving::No).await,
                Err(error) => Err(error.into()),
            };
            if applied.is_err() && readings < READINGS {
                readings += 1;
                sleep(SETTLING).await;
                if read(&self.source).await.0 != now {
                    continue;
                }
            }
            self.seen = now;
            self.tell(applied.as_ref(), By::Internal, caller).await;
            return applied;
        }
    }

    /// Changes the text of the file, and applies it; does neither if the outcome cannot be used.
    async fn change(
        &mut self,
        edit: impl FnOnce(&str) -> Result<String, ConfigRefusal>,
        caller: Option<String>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let applied = self.edit(edit).await;
        let applied = applied.map(|(now, applied)| {
            self.seen = now;
            applied
        });
        self.tell(applied.as_ref(), By::Api, caller).await;
        applied
    }

    async fn edit(
        &self,
        edit: impl FnOnce(&str) -> Result<String, ConfigRefusal>,
    ) -> Result<(ReadContents, AppliedConfig), ConfigRefusal> {
        let (before, file) = read(&self.source).await;
        let file = file.map_err(ConfigRefusal::Base)?;
        let file = file.as_deref().unwrap_or("{}\n");
        let text = edit(file).map_err(|refused| match refused {
            ConfigRefusal::Base(error) => ConfigRefusal::Base(error.in_file(self.source.path())),
            other => other,
        })?;
        config::check_api_change(file, &text).map_err(ConfigRefusal::FileOnly)?;
        let applied = self.apply(Some(text.clone()), Saving::Yes).await?;
        let now = ReadContents {
            file: Ok(Some(text)),
            ..before
        };
        Ok((now, applied))
    }

    async fn apply(
        &self,
        text: Option<String>,
        saving: Saving,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        if self.runtime.services.drain.phase() != Phase::Serving {
            return Err(ConfigRefusal::Stopping);
        }
        let (runtime, source) = (self.runtime.clone(), self.source.clone());
        let prepare = move || prepare(&runtime, &source, text.as_deref(), saving);
        let (plan, applied) = blocking(prepare).await?;
        plan.carry_out(&self.runtime).await;
        let settings = &self.runtime.state.load().settings;
        let services = &self.runtime.services;
        let is_known = |caller: &str| settings.knows_caller(caller);
        services.sessions.end_revoked(is_known);
        services.console_sessions.end_revoked(is_known);
        if applied.changed.iter().any(|key| key == "schema_refs") {
            self.runtime.services.schema_documents.forget();
        }
        Ok(applied)
    }
}

/// The text of a file with a JSON merge patch applied.
fn patched(file: &str, patch: &str) -> Result<String, ConfigRefusal> {
    let patch = config::patch(patch)?;
    config::merged(file, patch).map_err(ConfigRefusal::Base)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}
