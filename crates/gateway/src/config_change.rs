//! A change of the configuration while the gateway runs: what it came to, in the words of `config check`, for the REST
//! interface, the log, the metrics and the records; and the way to ask for one.

mod difference;

use std::io;
use std::path::Path;
use std::sync::Mutex;

use countersign_config::{
    ConfigError, LoadedConfig, Problem, ServerChange, ServerChangeError, Source,
};
use countersign_dial::lock;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

pub(crate) use difference::{SettingChange, Summary, changed_keys, changes};

/// What is said about a file that cannot be read.
const UNREADABLE: &str = "check the path; `countersign config init` writes a new file";

/// A mistake, or a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Notice {
    /// With its place, as `config check` writes it.
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) pointer: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
}

/// What a new configuration came to.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct AppliedConfig {
    /// The keys that differ from the configuration before.
    pub(crate) changed: Vec<String>,
    /// The same, sorted, for the log.
    #[serde(skip)]
    pub(crate) summary: Summary,
    /// Each setting that differs, with its old and its new value, for the record.
    #[serde(skip)]
    pub(crate) changes: Vec<SettingChange>,
    /// The keys that wait for the next start.
    pub(crate) needs_restart: Vec<String>,
    pub(crate) warnings: Vec<Notice>,
}

/// Why a configuration is not applied.
#[derive(Debug)]
pub(crate) enum ConfigRefusal {
    /// The gateway was not started from a file.
    NoFile,
    /// The gateway stops.
    Stopping,
    /// A bug of the gateway ended the change.
    Internal,
    /// It says something wrong, or cannot be read.
    Config(ConfigError),
    /// The file is broken, so that nothing can be changed in it.
    Base(ConfigError),
    /// It changes something that only the file may say.
    FileOnly(ConfigError),
    /// The file cannot be written.
    Unwritable(io::Error),
    /// The server that it is about cannot be changed like this.
    Server(ServerChangeError),
    /// The server is not one that runs, so that it cannot be restarted.
    NotRunning(String),
    /// The configuration names no such caller.
    UnknownCaller,
    /// The store cannot be written.
    Store(String),
}

impl From<ConfigError> for ConfigRefusal {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<ServerChangeError> for ConfigRefusal {
    fn from(error: ServerChangeError) -> Self {
        match error {
            ServerChangeError::Definition(error) => Self::Config(error),
            ServerChangeError::File(error) => Self::Base(error),
            other => Self::Server(other),
        }
    }
}

impl ConfigRefusal {
    /// What is wrong; at least one thing.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let (message, hint) = match self {
            Self::NoFile => (
                "this gateway was not started from a file".to_owned(),
                "start `countersign serve` with --config FILE",
            ),
            Self::Stopping => (
                "the gateway is stopping".to_owned(),
                "try again when it has been started",
            ),
            Self::Internal => (
                "a bug in the gateway ended this change".to_owned(),
                "see the log of the gateway, and please report it",
            ),
            Self::Server(error) => {
                return vec![Notice {
                    message: error.to_string(),
                    hint: error.hint(),
                    ..Notice::default()
                }];
            }
            Self::NotRunning(server) => (
                format!(
                    "the server \"{server}\" is disabled, or refers to a variable that is not set"
                ),
                "`countersign servers list` shows its state; `countersign servers enable` enables it",
            ),
            Self::UnknownCaller => (
                "the configuration names no such caller".to_owned(),
                "`countersign keys list` shows the callers",
            ),
            Self::Store(error) => (
                format!("cannot write to the activity store: {error}"),
                "nothing has changed; try again when the store can be written",
            ),
            Self::Unwritable(error) => (
                format!("cannot write the configuration file: {error}"),
                "check the rights of the file and of its folder; nothing has changed",
            ),
            Self::Config(error) | Self::Base(error) | Self::FileOnly(error) => match error {
                ConfigError::Read { source, .. } => (format!("{error}: {source}"), UNREADABLE),
                ConfigError::Invalid { path, problems } => {
                    return Notice::all(problems, path.as_deref());
                }
                other => (other.to_string(), UNREADABLE),
            },
        };
        vec![Notice {
            message,
            hint: Some(hint.to_owned()),
            ..Notice::default()
        }]
    }
}

impl Notice {
    /// A notice about each problem of a file.
    pub(crate) fn all(problems: &[Problem], file: Option<&Path>) -> Vec<Self> {
        let notice = |problem: &Problem| {
            let place = problem.place.as_ref();
            let at = place.and_then(|place| place.at);
            Self {
                message: problem.in_optional_file(file),
                hint: problem.hint.clone(),
                pointer: place.map(|place| place.pointer.clone()),
                line: at.map(|(line, _)| line),
                column: at.map(|(_, column)| column),
            }
        };
        problems.iter().map(notice).collect()
    }
}

/// The state of the configuration file.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ConfigStatus {
    /// The file, if the gateway was started from one.
    file: Option<String>,
    /// What is wrong with the file; while there is something, the configuration before stays in use.
    pub(crate) errors: Vec<Notice>,
    pub(crate) warnings: Vec<Notice>,
    /// The keys that wait for the next start.
    pub(crate) needs_restart: Vec<String>,
    /// What is wrong with the files of `tls`; while there is something, the certificate before stays in use.
    pub(crate) certificate_error: Option<String>,
}

/// What the task that changes the configuration is asked to do.
#[derive(Debug)]
pub(crate) enum ReloadRequest {
    /// Read the file now, changed or not.
    Reread,
    /// Change the file by this JSON merge patch, and apply it.
    Patch(String),
    /// Change a server of the file, and apply it.
    Server(ServerChange),
    /// Start a server anew. The file stays.
    Restart(String),
    /// Revoke the key of a caller. The file stays.
    Revoke(String),
}

type Outcome = Result<AppliedConfig, ConfigRefusal>;

/// A request for a change, with who asks for it, as far as that is known, and where the outcome goes.
#[derive(Debug)]
pub(crate) struct PendingChange {
    pub(crate) request: ReloadRequest,
    pub(crate) caller: Option<String>,
    pub(crate) reply: oneshot::Sender<Outcome>,
}

/// Requests on their way to the task that changes the configuration.
pub(crate) type ReloadRequests = mpsc::Receiver<PendingChange>;

/// Sends requests to the task that changes the configuration, and knows how the last change ended.
#[derive(Debug)]
pub(crate) struct Reloads {
    status: Mutex<ConfigStatus>,
    /// None if the gateway was not started from a file.
    requests: Option<mpsc::Sender<PendingChange>>,
}

impl Reloads {
    pub(crate) fn new(opened: &LoadedConfig) -> (Self, ReloadRequests) {
        let file = opened.source.as_ref().map(Source::path);
        let status = ConfigStatus {
            file: file.map(|file| file.display().to_string()),
            warnings: Notice::all(&opened.warnings, file),
            ..ConfigStatus::default()
        };
        let (sender, requests) = mpsc::channel(1);
        let reloads = Self {
            status: Mutex::new(status),
            requests: file.map(|_| sender),
        };
        (reloads, requests)
    }

    /// How the file fares.
    pub(crate) fn status(&self) -> ConfigStatus {
        lock(&self.status).clone()
    }

    pub(crate) fn set_status(&self, change: impl FnOnce(&mut ConfigStatus)) {
        change(&mut lock(&self.status));
    }

    /// Asks for a change and waits for its outcome. The change is made even if the caller does not wait.
    pub(crate) async fn request(&self, request: ReloadRequest) -> Outcome {
        self.request_by(request, None).await
    }

    /// The same in the name of a caller, who is recorded with the change.
    pub(crate) async fn request_by(
        &self,
        request: ReloadRequest,
        caller: Option<String>,
    ) -> Outcome {
        let requests = self.requests.as_ref().ok_or(ConfigRefusal::NoFile)?;
        let (reply, outcome) = oneshot::channel();
        let pending = PendingChange {
            request,
            caller,
            reply,
        };
        if requests.send(pending).await.is_err() {
            return Err(ConfigRefusal::Stopping);
        }
        outcome.await.unwrap_or(Err(ConfigRefusal::Stopping))
    }
}
