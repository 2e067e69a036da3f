//! One server behind the gateway: how it is reached, what it is held to, and what its tools are.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use countersign_inspect::Era;
use countersign_inspect::config::{RawInputValidation, RawOutputSanitisation, RawOutputValidation};

use super::profile::Profile;
use crate::problem::Problem;
use crate::secret::Secret;

/// One server behind the gateway.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its name, fit for a tool name.
    pub name: String,
    /// Its name in the file, where that does not fit.
    pub configured_name: Option<String>,
    /// How it is reached.
    pub transport: Transport,
    /// The era that is spoken with it; `None`: the gateway finds out.
    pub era: Option<Era>,
    /// Whether it is used at all.
    pub enabled: bool,
    /// References to variables that are not set. It is not started without them.
    pub unset_references: Vec<Problem>,
    /// How long a call to it may take, if not `call_tool_timeout`.
    pub timeout: Option<Duration>,
    /// How many requests it is sent at a time.
    pub max_concurrent_requests: usize,
    /// How many more may wait.
    pub queue_size: usize,
    /// Its own profile, in place of the file's.
    pub profile: Option<Profile>,
    /// Its own `output_validation`, as written.
    pub output: RawOutputValidation,
    /// Its own `input_validation`, as written.
    pub input: RawInputValidation,
    /// Its own `output_sanitisation`, as written.
    pub sanitisation: RawOutputSanitisation,
    /// The classifiers that may see its results; `None`: none.
    pub classify: Option<Vec<String>>,
    /// Its tools' settings, by the name it gives them.
    pub tools: BTreeMap<String, ToolConfig>,
}

impl Server {
    /// A server that is a child process, with the defaults.
    pub fn stdio(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = String>,
    ) -> Self {
        Self::new(
            name.into(),
            Transport::Stdio {
                command: command.into(),
                args: args.into_iter().collect(),
                env: BTreeMap::new(),
                working_dir: None,
            },
        )
    }

    /// A server that is reached over Streamable HTTP, with the defaults.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(
            name.into(),
            Transport::Http {
                url: url.into(),
                headers: BTreeMap::new(),
                protocol: Protocol::StreamableHttp,
            },
        )
    }

    /// Whether it is to be started: it is used, and every variable it refers to is set.
    pub fn is_startable(&self) -> bool {
        self.enabled && self.unset_references.is_empty()
    }

    /// Whether it is connected to in the same way as another, so that a connection to the one serves the other.
    pub fn is_reached_like(&self, other: &Self) -> bool {
        self.era == other.era && self.transport.is(&other.transport)
    }

    /// A server reached like this, with the defaults.
    pub fn new(name: String, transport: Transport) -> Self {
        Self {
            name,
            configured_name: None,
            transport,
            era: None,
            enabled: true,
            unset_references: Vec::new(),
            timeout: None,
            max_concurrent_requests: 16,
            queue_size: 64,
            profile: None,
            output: RawOutputValidation::default(),
            input: RawInputValidation::default(),
            sanitisation: RawOutputSanitisation::default(),
            classify: None,
            tools: BTreeMap::new(),
        }
    }
}

/// How a server is reached. `Debug` is without what may be secret.
#[derive(Clone)]
pub enum Transport {
    /// A child process.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables beside the few every child gets.
        env: BTreeMap<String, Secret>,
        /// Where it runs, if not where the gateway does.
        working_dir: Option<PathBuf>,
    },
    /// Over HTTP.
    Http {
        /// Where: `http://` or `https://`. May hold a secret in its query.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, Secret>,
        /// Which transport.
        protocol: Protocol,
    },
}

/// Which HTTP transport a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Streamable HTTP, in either era.
    #[default]
    StreamableHttp,
    /// The transport before it: a GET stream and a POST address.
    Sse,
}

impl Protocol {
    /// As the file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StreamableHttp => "streamable-http",
            Self::Sse => "sse",
        }
    }
}

/// One tool's settings.
#[derive(Clone, Debug, Default)]
pub struct ToolConfig {
    /// The classifiers that may see its results; `None`: those of its server.
    pub classify: Option<Vec<String>>,
    /// Whether a conforming result may carry free text; `None`: what the schema says.
    pub free_text: Option<bool>,
    /// Its own `output_validation`, as written.
    pub output: RawOutputValidation,
    /// Its own `input_validation`, as written.
    pub input: RawInputValidation,
    /// Its own `output_sanitisation`, as written.
    pub sanitisation: RawOutputSanitisation,
}
