//! The configuration as the gateway uses it: typed, complete, and already cross-checked.

mod activity;
mod mode_source;
mod profile;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawInputValidation,
    RawOutputSanitisation, RawOutputValidation,
};
use countersign_inspect::{MAX_MESSAGE_DEPTH, Policy};

use super::classifier::{Classifier, Panels};
use super::environment::Environment;
use super::problem::ConfigError;
use super::sanitisers::Sanitisers;
use super::secret::{ApiKey, Secret};

pub use activity::ActivityConfig;
pub use mode_source::ModeSource;
pub use profile::Profile;
pub use server::{Protocol, Server, ToolConfig, Transport};

/// Everything one gateway is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to serve.
    pub listen: SocketAddr,
    /// What clients authenticate with; `None`: the one in the data directory, generated at first start.
    pub api_key: Option<ApiKey>,
    /// What requests that change something are authenticated with; `None`: as for `api_key`.
    pub admin_key: Option<ApiKey>,
    /// Whether a change over the API may say which programs are started and which variables are sent where.
    pub allow_api_commands: bool,
    /// Whether `/mcp` needs the key. False only with a loopback `listen`.
    pub require_mcp_auth: bool,
    /// Names, with or without a port, accepted in `Host` and `Origin` beside loopback ones. Lower case.
    pub trusted_hosts: Vec<String>,
    /// Where state is kept.
    pub data_dir: PathBuf,
    /// What `/mcp` offers.
    pub routing_mode: RoutingMode,
    /// How tools are named where several servers meet.
    pub tool_names: ToolNames,
    /// How long a call may take, unless its server says otherwise.
    pub call_tool_timeout: Duration,
    /// The largest message that is handled at all.
    pub max_message_bytes: usize,
    /// The deepest message of a server that is handled at all; `None`: the default, or what the guards allow if that is
    /// more.
    pub max_message_depth: Option<u32>,
    /// What all messages in flight may hold together.
    pub max_inflight_bytes: usize,
    /// What holds where the blocks below say nothing.
    pub profile: Profile,
    /// Where records are stored. May hold a password: show it with [`Secret::shown`].
    pub storage_url: Secret,
    /// The activity log.
    pub activity: ActivityConfig,
    /// The file's own `output_validation`, as written.
    pub output: RawOutputValidation,
    /// The file's own `input_validation`, as written.
    pub input: RawInputValidation,
    /// The file's own `output_sanitisation`, as written.
    pub sanitisation: RawOutputSanitisation,
    /// The classifiers, in the order of the file.
    pub classifiers: Vec<Classifier>,
    /// How long all of them together may take over one result.
    pub classifier_budget: Duration,
    /// The servers, in the order of the file, disabled ones included.
    pub servers: Vec<Server>,
    /// The classifiers, ready to be asked.
    pub(super) panels: Panels,
    /// Sanitisers made so far.
    pub(super) sanitisers: Sanitisers,
}

/// What `/mcp` offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoutingMode {
    /// Tools that find and call the others.
    #[default]
    RetrieveTools,
    /// Every tool.
    Direct,
}

/// How tools are named where several servers meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolNames {
    /// `server__tool`.
    #[default]
    Prefixed,
}

impl Config {
    /// The defaults: no servers, and the data directory under the home of `environment`, or the
    /// current directory where no home is known.
    pub fn embedded(environment: &Environment<'_>) -> Self {
        let data_dir = environment.expand("~/.countersign");
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            api_key: None,
            admin_key: None,
            allow_api_commands: false,
            require_mcp_auth: true,
            trusted_hosts: Vec::new(),
            data_dir: data_dir.unwrap_or_else(|_| PathBuf::from(".countersign")),
            routing_mode: RoutingMode::default(),
            tool_names: ToolNames::default(),
            call_tool_timeout: Duration::from_mins(2),
            max_message_bytes: 16 << 20,
            max_message_depth: None,
            max_inflight_bytes: 256 << 20,
            profile: Profile::default(),
            storage_url: Secret::new("sqlite:"),
            activity: ActivityConfig::default(),
            output: RawOutputValidation::default(),
            input: RawInputValidation::default(),
            sanitisation: RawOutputSanitisation::default(),
            classifiers: Vec::new(),
            classifier_budget: countersign_classify::BUDGET,
            panels: Panels::default(),
            servers: Vec::new(),
            sanitisers: Sanitisers::default(),
        }
    }

    /// The server of that name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Fails with each reference of a server to a variable that is not set. A gateway does without such servers.
    pub fn require_variables(&self) -> Result<(), ConfigError> {
        let servers = self.servers.iter();
        let unset = servers.flat_map(|server| server.unset_references.iter().cloned());
        let unset: Vec<_> = unset.collect();
        if unset.is_empty() {
            return Ok(());
        }
        Err(unset.into())
    }

    /// The `output_sanitisation` that holds for one tool.
    pub fn sanitisation(&self, server: &str, tool: &str) -> OutputSanitisation {
        let server = self.server(server);
        let tool = server.and_then(|server| server.tools.get(tool));
        let [outer, inner] = self.profiles(server).map(Profile::sanitisation);
        let blocks = [
            Some(&outer),
            Some(&self.sanitisation),
            Some(&inner),
            server.map(|server| &server.sanitisation),
            tool.map(|tool| &tool.sanitisation),
        ];
        OutputSanitisation::resolve(blocks.into_iter().flatten())
    }

    /// The profiles that stand under the file's own blocks and under those of a server. A server's profile takes the
    /// place of the file's.
    fn profiles(&self, server: Option<&Server>) -> [Profile; 2] {
        match server.and_then(|server| server.profile) {
            Some(own) => [Profile::Standard, own],
            None => [self.profile, Profile::Standard],
        }
    }

    /// What holds for one tool: the profile, the file's blocks over it, its server's over them, its own over those,
    /// key by key. Set `client` to who will read the result.
    pub fn policy(&self, server: &str, tool: &str) -> Policy {
        let sanitisation = self.sanitisation(server, tool);
        let server = self.server(server);
        let tool = server.and_then(|server| server.tools.get(tool));
        let [outer, inner] = self.profiles(server).map(Profile::output);
        let outputs = [
            Some(&outer),
            Some(&self.output),
            Some(&inner),
            server.map(|server| &server.output),
            tool.map(|tool| &tool.output),
        ];
        let inputs = [
            Some(&self.input),
            server.map(|server| &server.input),
            tool.map(|tool| &tool.input),
        ];
        let output = OutputValidation::resolve(outputs.into_iter().flatten());
        // What the guard on structured content allows, and the two levels around it.
        let guarded = output.max_depth.saturating_add(2);
        Policy {
            input: InputValidation::resolve(inputs.into_iter().flatten()),
            sanitisation: self.sanitisers.get(&sanitisation),
            free_text: tool.and_then(|tool| tool.free_text),
            max_message_bytes: self.max_message_bytes,
            max_message_depth: self
                .max_message_depth
                .unwrap_or_else(|| MAX_MESSAGE_DEPTH.max(guarded)),
            output,
            ..Policy::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::embedded(&Environment::process())
    }
}

impl RoutingMode {
    /// As the file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RetrieveTools => "retrieve_tools",
            Self::Direct => "direct",
        }
    }
}

impl ToolNames {
    /// As the file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prefixed => "prefixed",
        }
    }
}
