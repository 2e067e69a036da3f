//! The one way in for a new configuration while the gateway runs, whether the file changed or somebody patched it: read,
//! resolve, check everything, and only then store one new state. What cannot be used changes nothing and is said. One at
//! a time.

mod difference;
mod said;
mod watch;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_audit as audit;
use countersign_config::{self as config, ConfigError, Opened, Source};
use countersign_inspect::Digest;
use tokio::sync::Mutex as Turn;
use tokio::time::sleep;

pub(crate) use said::{Applied, Said, Status};
pub(crate) use watch::watch;

use difference::Summary;

use crate::drain::Phase;
use crate::gateway::{self, StartError};
use crate::key::Keys;
use crate::plan::Plan;
use crate::shared::Shared;
use crate::state::Settings;

/// Editors write in steps: what cannot be used is looked at again after this long.
const SETTLING: Duration = Duration::from_millis(250);
/// A file that changes each time it is looked at is believed in the end.
const LOOKS: u32 = 8;

/// Where new configurations come from, and how the last one fared.
#[derive(Debug)]
pub(crate) struct Reloads {
    source: Option<Source>,
    turn: Turn<Seen>,
    status: Mutex<Status>,
}

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// What the file says, or why it cannot be read.
    file: Result<Option<String>, String>,
    /// The env file, whose text nobody should keep.
    variables: Option<Digest>,
}

/// Why a configuration does not hold.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The gateway was not started from a file.
    NoFile,
    /// The gateway stops.
    Stopping,
    /// It says something wrong, or cannot be read.
    Config(ConfigError),
    /// The file is broken, so that nothing can be changed in it.
    Base(ConfigError),
    /// It changes something that only the file may say.
    FileOnly(ConfigError),
    /// The file cannot be written.
    Unwritable(io::Error),
}

impl From<ConfigError> for Refused {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Reloads {
    pub(crate) fn new(opened: &Opened) -> Self {
        let file = opened.source.as_ref().map(Source::path);
        let status = Status::started(file, &opened.warnings);
        Self {
            source: opened.source.clone(),
            turn: Turn::new(Seen {
                file: Ok(opened.text.clone()),
                variables: opened.variables,
            }),
            status: Mutex::new(status),
        }
    }

    /// How the file fares.
    pub(crate) fn status(&self) -> Status {
        let status = self.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, change: impl FnOnce(&mut Status)) {
        let status = self.status.lock();
        change(&mut status.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Makes the file hold as it is now.
pub(crate) async fn reread(shared: &Arc<Shared>) -> Result<Applied, Refused> {
    match look(shared, true).await {
        Ok(Some(applied)) => Ok(applied),
        // It was looked at because it was asked for.
        Ok(None) => Ok(Applied::default()),
        Err(refused) => Err(refused),
    }
}

/// Reads the file, and makes it hold if it is not what it was or if it is `asked` for.
async fn look(shared: &Arc<Shared>, asked: bool) -> Result<Option<Applied>, Refused> {
    let reloads = &shared.reloads;
    let source = reloads.source.as_ref().ok_or(Refused::NoFile)?;
    let mut seen = reloads.turn.lock().await;
    let mut looks = 1;
    loop {
        let (now, read) = read(source).await;
        if !asked && now == *seen {
            return Ok(None);
        }
        let applied = match read {
            Ok(text) => apply(shared, text, Saving::No).await,
            Err(error) => Err(error.into()),
        };
        if applied.is_err() && looks < LOOKS {
            looks += 1;
            sleep(SETTLING).await;
            if self::read(source).await.0 != now {
                continue;
            }
        }
        *seen = now;
        said::tell(shared, source, applied.as_ref(), audit::Source::Internal).await;
        return applied.map(Some);
    }
}

async fn read(source: &Source) -> (Seen, Result<Option<String>, ConfigError>) {
    let source = source.clone();
    let reading = move || {
        let text = source.read();
        let seen = Seen {
            file: text.as_ref().map(Clone::clone).map_err(ToString::to_string),
            variables: source.variables(text.as_ref().ok().and_then(Option::as_deref)),
        };
        (seen, text)
    };
    let read = tokio::task::spawn_blocking(reading).await;
    read.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Changes the file by a JSON merge patch, and makes it hold; does neither if the outcome cannot be used. Goes on to its
/// end even if nobody waits for it.
pub(crate) async fn patch(shared: &Arc<Shared>, patch: String) -> Result<Applied, Refused> {
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move { patched(&shared, &patch).await });
    let patched = task.await;
    patched.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

async fn patched(shared: &Arc<Shared>, patch: &str) -> Result<Applied, Refused> {
    let reloads = &shared.reloads;
    let source = reloads.source.as_ref().ok_or(Refused::NoFile)?;
    let mut seen = reloads.turn.lock().await;
    let applied = merge(shared, source, patch).await;
    let applied = applied.map(|(now, applied)| {
        *seen = now;
        applied
    });
    said::tell(shared, source, applied.as_ref(), audit::Source::Api).await;
    applied
}

async fn merge(
    shared: &Arc<Shared>,
    source: &Source,
    patch: &str,
) -> Result<(Seen, Applied), Refused> {
    let patch = config::patch(patch)?;
    let (before, file) = read(source).await;
    let file = file.map_err(Refused::Base)?;
    let file = file.as_deref().unwrap_or("{}\n");
    let in_file = |error: ConfigError| Refused::Base(error.in_file(source.path()));
    let text = config::merged(file, patch).map_err(in_file)?;
    config::check_api_change(file, &text).map_err(Refused::FileOnly)?;
    let applied = apply(shared, Some(text.clone()), Saving::Yes).await?;
    let now = Seen {
        file: Ok(Some(text)),
        ..before
    };
    Ok((now, applied))
}

/// Whether a text is written to the file once it is known to be usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    Yes,
    No,
}

/// Makes a text hold.
async fn apply(
    shared: &Arc<Shared>,
    text: Option<String>,
    saving: Saving,
) -> Result<Applied, Refused> {
    if shared.drain.phase() != Phase::Serving {
        return Err(Refused::Stopping);
    }
    let blocking = Arc::clone(shared);
    let prepared =
        tokio::task::spawn_blocking(move || prepare(&blocking, text.as_deref(), saving)).await;
    let prepared = prepared.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    let (plan, applied) = prepared?;
    plan.carry_out(shared).await;
    Ok(applied)
}

/// Everything that can fail. Blocks.
fn prepare(
    shared: &Shared,
    text: Option<&str>,
    saving: Saving,
) -> Result<(Plan, Applied), Refused> {
    let source = shared.reloads.source.as_ref().ok_or(Refused::NoFile)?;
    let (mut config, warnings) = source.resolve(text).map_err(|error| match saving {
        // Lines of a text that nobody has would only mislead.
        Saving::Yes => error.without_lines(),
        Saving::No => error,
    })?;
    let running = shared.config();
    config.take_panel(&running);
    gateway::check(&config).map_err(|error| unstartable(&error))?;
    // Before what has to wait is set back, so that the record tells of that too.
    let changes = difference::changes(&running, &config);
    let needs_restart = config.while_running(&running).map_err(ConfigError::from)?;
    let changed = difference::between(&running, &config);
    let applied = Applied {
        summary: Summary::of(&running, &config, &changed),
        changed,
        changes,
        warnings: said::problems(&warnings, source),
        needs_restart,
    };
    let guard = match shared.settings().guard {
        Some(_) => {
            let keys = Keys::of(&config).map_err(|error| unstartable(&error.into()))?;
            Some(keys.guard(&config))
        }
        None => None,
    };
    let plan =
        Plan::make(shared, Settings::new(config, guard)).map_err(|error| unstartable(&error))?;
    if let (Saving::Yes, Some(text)) = (saving, text) {
        source.write(text).map_err(Refused::Unwritable)?;
    }
    Ok((plan, applied))
}

/// What would keep a gateway from starting keeps a configuration from holding.
fn unstartable(error: &StartError) -> Refused {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    let problem = config::Problem {
        place: None,
        message,
        hint: None,
    };
    Refused::Config(problem.into())
}
