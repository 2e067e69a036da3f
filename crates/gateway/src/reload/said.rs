//! How a new configuration fared, for whoever asks and for whoever reads the log, the metrics or the records: the same
//! words as `config check` says, and the same next step.

use std::path::Path;
use std::sync::Arc;

use countersign_audit::{Kind, Outcome, Record, Source as By};
use countersign_config::{ConfigError, Problem, Source};
use serde::Serialize;

use super::Refused;
use super::difference::{Change, Summary};
use crate::events;
use crate::shared::Shared;

/// What is said about a file that cannot be read.
const UNREADABLE: &str = "check the path; `countersign config init` writes a new file";

/// One thing that is wrong, or should not go unread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Said {
    /// With its place, as `config check` writes it.
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) pointer: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
}

/// What a new configuration came to.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Applied {
    /// The keys that differ from what held before.
    pub(crate) changed: Vec<String>,
    /// The same, sorted, for the log.
    #[serde(skip)]
    pub(crate) summary: Summary,
    /// Each setting that differs, with its old and its new value, for the record.
    #[serde(skip)]
    pub(crate) changes: Vec<Change>,
    /// The keys that wait for the next start.
    pub(crate) needs_restart: Vec<String>,
    pub(crate) warnings: Vec<Said>,
}

/// How the file fares.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Status {
    /// The file, if the gateway was started from one.
    file: Option<String>,
    /// What is wrong with it; while there is something, what held before holds.
    errors: Vec<Said>,
    warnings: Vec<Said>,
    /// The keys that wait for the next start.
    needs_restart: Vec<String>,
}

impl Status {
    pub(super) fn started(file: Option<&Path>, warnings: &[Problem]) -> Self {
        Self {
            file: file.map(|file| file.display().to_string()),
            warnings: warnings.iter().map(|it| Said::of(it, file)).collect(),
            ..Self::default()
        }
    }
}

impl Said {
    fn of(problem: &Problem, file: Option<&Path>) -> Self {
        let place = problem.place.as_ref();
        let at = place.and_then(|place| place.at);
        Self {
            message: match file {
                Some(file) => problem.in_file(file.display()),
                None => problem.to_string(),
            },
            hint: problem.hint.clone(),
            pointer: place.map(|place| place.pointer.clone()),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        }
    }

    fn plain(message: String, hint: &str) -> Self {
        Self {
            message,
            hint: Some(hint.to_owned()),
            pointer: None,
            line: None,
            column: None,
        }
    }
}

pub(super) fn problems(problems: &[Problem], source: &Source) -> Vec<Said> {
    let file = Some(source.path());
    problems.iter().map(|it| Said::of(it, file)).collect()
}

impl Refused {
    /// What is wrong; at least one thing.
    pub(crate) fn said(&self) -> Vec<Said> {
        match self {
            Self::NoFile => vec![Said::plain(
                "this gateway was not started from a file".to_owned(),
                "start `countersign serve` with --config FILE",
            )],
            Self::Stopping => vec![Said::plain(
                "the gateway is stopping".to_owned(),
                "try again when it has been started",
            )],
            Self::Unwritable(error) => vec![Said::plain(
                format!("cannot write the configuration file: {error}"),
                "check the rights of the file and of its folder; nothing has changed",
            )],
            Self::Config(error) | Self::Base(error) | Self::FileOnly(error) => wrong(error),
        }
    }
}

fn wrong(error: &ConfigError) -> Vec<Said> {
    match error {
        ConfigError::Read { source, .. } => {
            vec![Said::plain(format!("{error}: {source}"), UNREADABLE)]
        }
        ConfigError::Invalid { path, problems } => {
            let file = path.as_deref();
            problems.iter().map(|it| Said::of(it, file)).collect()
        }
        other => vec![Said::plain(other.to_string(), UNREADABLE)],
    }
}

/// Tells everybody how a new configuration fared.
pub(super) async fn tell(
    shared: &Arc<Shared>,
    source: &Source,
    outcome: Result<&Applied, &Refused>,
    by: By,
) {
    let file = &source.path().display().to_string();
    let reason = match outcome {
        Ok(applied) => {
            shared.reloads.set(|status| {
                status.errors.clear();
                status.warnings.clone_from(&applied.warnings);
                status.needs_restart.clone_from(&applied.needs_restart);
            });
            events::ConfigApplied { file, applied }.emit(&shared.events);
            summary(applied)
        }
        Err(refused) => {
            let errors = refused.said();
            events::ConfigRefused {
                file,
                errors: &errors,
            }
            .emit(&shared.events);
            let reason = errors.first().map(|error| error.message.clone());
            // A refused patch says nothing about the file.
            if by == By::Internal {
                shared.reloads.set(|status| status.errors = errors);
            }
            reason.unwrap_or_default()
        }
    };
    let ended = match outcome {
        Ok(_) => Outcome::Success,
        Err(_) => Outcome::Rejected,
    };
    let mut record = Record::new(shared.store.next_id(), Kind::ConfigChange, ended);
    record.source = by;
    record.reason = Some(reason);
    let records = vec![record];
    shared.metrics.observe(&records);
    // A store that is down does not keep a new configuration from holding.
    let _recorded = shared.store.commit((), records).await;
}

fn summary(applied: &Applied) -> String {
    let changes: Vec<_> = applied.changes.iter().map(Change::to_string).collect();
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
