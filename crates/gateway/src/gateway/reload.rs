//! The one task that changes the configuration while the gateway runs. It looks at the file, and at the env file beside it,
//! once a second, and takes the requests of the REST interface. A new text is read, resolved and checked completely, and
//! only then one new state is stored; a text that cannot be used changes nothing.

use std::time::Duration;

use countersign_audit::{Kind, Outcome, Record, Source as By};
use countersign_config::{self as config, ConfigError, LoadedConfig, ServerChangeError, Source};
use countersign_dial::explain;
use countersign_inspect::Digest;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::StartError;
use super::keys::Keys;
use super::plan::Plan;
use crate::catch_panic::catch_panic;
use crate::config_change::{
    AppliedConfig, ConfigRefusal, Notice, ReloadRequest, ReloadRequests, SettingChange, Summary,
    changed_keys, changes,
};
use crate::events;
use crate::services::{Phase, Runtime};
use crate::state::Settings;

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

/// What was read last.
#[derive(Debug, PartialEq, Eq)]
struct ReadContents {
    /// What the file says, or why it cannot be read.
    file: Result<Option<String>, String>,
    /// A digest of the env file, whose text is not kept.
    variables: Option<Digest>,
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
                _ = ticks.tick() => drop(catch_panic(self.reread(false)).await),
                Some((request, reply)) = requests.recv() => {
                    let outcome = catch_panic(self.answer(request)).await;
                    // The client may have gone.
                    let _unread = reply.send(outcome.unwrap_or(Err(ConfigRefusal::Internal)));
                }
            }
        }
    }

    async fn answer(&mut self, request: ReloadRequest) -> Result<AppliedConfig, ConfigRefusal> {
        match request {
            ReloadRequest::Reread => self.reread(true).await,
            ReloadRequest::Patch(patch) => self.change(|file| patched(file, &patch)).await,
            ReloadRequest::Server(change) => {
                self.change(|file| change.apply(file).map_err(ConfigRefusal::from))
                    .await
            }
            ReloadRequest::Restart(server) => self.restart(&server).await,
        }
    }

    /// Reads the file, and applies it if it has changed or the reading was `requested`.
    async fn reread(&mut self, requested: bool) -> Result<AppliedConfig, ConfigRefusal> {
        let mut readings = 1;
        loop {
            let (now, read) = read(&self.source).await;
            if !requested && now == self.seen {
                return Ok(AppliedConfig::default());
            }
            let applied = match read {
                Ok(text) => self.apply(text, Saving::No).await,
                Err(error) => Err(error.into()),
            };
            if applied.is_err() && readings < READINGS {
                readings += 1;
                sleep(SETTLING).await;
                if self::read(&self.source).await.0 != now {
                    continue;
                }
            }
            self.seen = now;
            self.tell(applied.as_ref(), By::Internal).await;
            return applied;
        }
    }

    /// Changes the text of the file, and applies it; does neither if the outcome cannot be used.
    async fn change(
        &mut self,
        edit: impl FnOnce(&str) -> Result<String, ConfigRefusal>,
    ) -> Result<AppliedConfig, ConfigRefusal> {
        let applied = self.edit(edit).await;
        let applied = applied.map(|(now, applied)| {
            self.seen = now;
            applied
        });
        self.tell(applied.as_ref(), By::Api).await;
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
        if applied.changed.iter().any(|key| key == "schema_refs") {
            self.runtime.services.schema_documents.forget();
        }
        Ok(applied)
    }

    /// Starts a server anew, under the configuration that is in force. The one before gets no new calls and ends after
    /// the last call under way.
    async fn restart(&self, server: &str) -> Result<AppliedConfig, ConfigRefusal> {
        let restarted = self.start_anew(server).await;
        let ended = match &restarted {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Rejected,
        };
        let services = &self.runtime.services;
        let mut record = Record::new(services.store.next_id(), Kind::ServerChange, ended);
        record.source = By::Api;
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

    async fn record(&self, record: Record) {
        let services = &self.runtime.services;
        let records = vec![record];
        services.metrics.observe(&records);
        // A change is made even if the store is down.
        let _recorded = services.store.commit((), records).await;
    }

    /// Counts, logs and records how a new configuration fared.
    async fn tell(&self, outcome: Result<&AppliedConfig, &ConfigRefusal>, by: By) {
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
        record.reason = Some(reason);
        self.record(record).await;
    }
}

/// The text of a file with a JSON merge patch applied.
fn patched(file: &str, patch: &str) -> Result<String, ConfigRefusal> {
    let patch = config::patch(patch)?;
    config::merged(file, patch).map_err(ConfigRefusal::Base)
}

async fn read(source: &Source) -> (ReadContents, Result<Option<String>, ConfigError>) {
    let source = source.clone();
    blocking(move || {
        let text = source.read();
        let seen = ReadContents {
            file: text.as_ref().map(Clone::clone).map_err(ToString::to_string),
            variables: source.variables(text.as_ref().ok().and_then(Option::as_deref)),
        };
        (seen, text)
    })
    .await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Whether a text is written to the file once it is known to be usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    Yes,
    No,
}

/// Everything that can fail. Blocks.
fn prepare(
    runtime: &Runtime,
    source: &Source,
    text: Option<&str>,
    saving: Saving,
) -> Result<(Plan, AppliedConfig), ConfigRefusal> {
    let (mut config, warnings) = source.resolve(text).map_err(|error| match saving {
        // The lines of a text that is in no file would only mislead.
        Saving::Yes => error.without_lines(),
        Saving::No => error,
    })?;
    let before = runtime.state.load();
    let running = &before.settings.config;
    config.take_panel(running);
    super::check(&config).map_err(|error| unstartable(&error))?;
    // Before what has to wait for a restart is set back, so that the record tells of that too.
    let changes = changes(running, &config);
    let needs_restart = config.while_running(running).map_err(ConfigError::from)?;
    let changed = changed_keys(running, &config);
    let applied = AppliedConfig {
        summary: Summary::from_keys(running, &config, &changed),
        changed,
        changes,
        warnings: Notice::all(&warnings, Some(source.path())),
        needs_restart,
    };
    let guard = match before.settings.guard {
        Some(_) => {
            let keys = Keys::from_config(&config).map_err(|error| unstartable(&error.into()))?;
            Some(keys.guard(&config))
        }
        None => None,
    };
    let plan = Plan::make(runtime, Settings::new(config, guard));
    let plan = plan.map_err(|error| unstartable(&error))?;
    if let (Saving::Yes, Some(text)) = (saving, text) {
        source.write(text).map_err(ConfigRefusal::Unwritable)?;
    }
    Ok((plan, applied))
}

/// What would keep a gateway from starting keeps a configuration from being applied.
fn unstartable(error: &StartError) -> ConfigRefusal {
    let problem = config::Problem {
        place: None,
        message: explain(error),
        hint: None,
    };
    ConfigRefusal::Config(problem.into())
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
