//! How a configured server is, in one word for operators: in the REST interface, on the command line and in the metrics. Whether
//! calls wait for it or are refused depends on [`State`].

use countersign_client::{FailureInfo, State};

use crate::state::Server;
use countersign_config as config;

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// It can be called.
    Up,
    /// It is being started or connected to for the first time.
    Starting,
    /// The last try failed, or it went away; it is tried again.
    Failing(Option<FailureInfo>),
    /// It is not started, for want of a variable that is named here, or it has been ended.
    Stopped(Option<String>),
    /// The configuration says that it is not used.
    Disabled,
}

impl ServerState {
    /// Every word.
    pub(crate) const WORDS: [&str; 5] = ["up", "starting", "failing", "stopped", "disabled"];

    /// How a server of the configuration is; `running` is the one of its name, if it was started.
    pub(crate) fn new(configured: &config::Server, running: Option<&Server>) -> Self {
        if !configured.enabled {
            return Self::Disabled;
        }
        let Some(running) = running else {
            let unset = configured.unset_references.first();
            return Self::Stopped(unset.map(|unset| unset.message.clone()));
        };
        let failing = running.upstream.diagnostics().failing();
        match (&*running.upstream.state().borrow(), failing) {
            (State::Ready(_), _) => Self::Up,
            (State::Stopped, _) => Self::Stopped(None),
            (State::Starting, None) => Self::Starting,
            (State::Starting | State::Down, failing) => Self::Failing(failing),
        }
    }

    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Starting => "starting",
            Self::Failing(_) => "failing",
            Self::Stopped(_) => "stopped",
            Self::Disabled => "disabled",
        }
    }
}
