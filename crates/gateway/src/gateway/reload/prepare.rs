//! From the text of a file to a plan: everything about a new configuration that can fail, before anything is changed.

use countersign_config::{self as config, ConfigError, Source};
use countersign_dial::explain;

use crate::config_change::{AppliedConfig, ConfigRefusal, Notice, Summary, changed_keys, changes};
use crate::gateway::keys::Keys;
use crate::gateway::plan::Plan;
use crate::gateway::{StartError, check, revocations};
use crate::services::Runtime;
use crate::state::Settings;

/// Whether a text is written to the file once it is known to be usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    Yes,
    No,
}

/// Everything that can fail. Blocks.
pub(super) fn prepare(
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
    check(&config).map_err(|error| unstartable(&error))?;
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
    let guard = match &before.settings.guard {
        Some(in_force) => {
            let keys = Keys::from_config(&config).map_err(|error| unstartable(&error.into()))?;
            let guard = keys.guard(&config, Some(in_force));
            Some(revocations::check(&runtime.services, &config, &guard))
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
pub(super) fn unstartable(error: &StartError) -> ConfigRefusal {
    let problem = config::Problem {
        place: None,
        message: explain(error),
        hint: None,
    };
    ConfigRefusal::Config(problem.into())
}
