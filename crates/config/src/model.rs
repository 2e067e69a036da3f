//! The configuration as the gateway uses it: typed, complete, and already cross-checked.

mod mode_source;
mod panel;

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawInputValidation,
    RawOutputSanitisation, RawOutputValidation,
};
use countersign_inspect::{MAX_MESSAGE_DEPTH, Policy, word_enum};

use super::access::Access;
use super::activity::{ActivityConfig, Database, Storage};
use super::auth::Auth;
use super::callers::{CALLER, CallerConfig};
use super::classifier::{CLASSIFIER, Classifier};
use super::duration;
use super::effective::EffectiveSettings;
use super::environment::Environment;
use super::foreign_keys;
use super::hosts::read_hosts;
use super::inspector::{INPUT_VALIDATION, OUTPUT_VALIDATION, SANITISATION};
use super::keys::{Block, Form};
use super::limits::Limit;
use super::listen::Listen;
use super::otlp::Otlp;
use super::problem::{ConfigError, Problem};
use super::profile::Profile;
use super::public_url::read_public_url;
use super::reader::Reader;
use super::rules;
use super::sanitisers::Sanitisers;
use super::schema_refs::SchemaRefs;
use super::secret::{ApiKey, Secret};
use super::server::Server;
use super::setting::{Keys, keys, plain, read_into, read_word};
use super::tls::Tls;

pub use mode_source::ModeSource;
use panel::Panels;
pub use panel::SetupFailure;

/// The keys of the whole file.
pub(crate) const ROOT: &Block = Config::BLOCK;

/// Where state is kept, if nothing else is said.
pub(crate) const DATA_DIR: &str = "~/.countersign";

/// How long a gateway that shares its database goes on once it is told to stop.
const DRAIN_DELAY: Duration = Duration::from_secs(5);

/// Shorter keys can be guessed.
const SHORT_KEY: usize = 16;
/// A key that needs to be remembered by no person has no reason to be short.
const SHORT_SECRET: usize = 32;

keys! {
    /// The whole of `mcp_config.json`. Every key may be left out.
    #[block("file", &foreign_keys::ROOT)]
    pub struct Config {
        /// For editors: where the schema that `countersign config schema` prints is kept. Not read.
        #[key(Form::Text, Reload)]
        "$schema";
        /// Where to serve: an address and port, or the path of a Unix socket (`unix:gateway.sock`, which is in the data
        /// directory unless it begins with `/`), or an array of these. As in mcpproxy, a port alone (`:8080`) is every
        /// interface, here of IPv4: other machines can reach the gateway, and a warning says so unless `tls` is set.
        /// `COUNTERSIGN_LISTEN` and `--listen` win over it.
        #[key(Form::TextOrTexts, Restart, FileOnly)]
        listen: Listen = Listen::from(([127, 0, 0, 1], 8080));
        /// The key clients authenticate with: it opens MCP and everything that only reads. May be a reference such as
        /// `${env:NAME}`. `null`: one is generated into the data directory at first start. `COUNTERSIGN_API_KEY` wins
        /// over it.
        #[key(Form::OptionalText, Reload, FileOnly)]
        api_key: Option<ApiKey> = None, read read_access_key;
        /// The key for requests that change something; it opens everything that `api_key` opens too, and must be
        /// another one. Given as `api_key` is. `null`: one is generated into the data directory at first start.
        /// `COUNTERSIGN_ADMIN_KEY` wins over it.
        #[key(Form::OptionalText, Reload, FileOnly)]
        admin_key: Option<ApiKey> = None, read read_access_key;
        /// Callers with a key or a certificate of their own, beside those with `api_key` and `admin_key`: each has its name
        /// in records, its groups and its rights. See [callers](../concepts/callers.md).
        #[key(Form::Blocks(&CALLER), Reload, FileOnly)]
        callers: Vec<CallerConfig> = Vec::new();
        /// The key that ids of client sessions are made with; no client has it. Gateways with the same key take over each
        /// other's sessions. At least 32 characters, and best a reference such as `${env:NAME}`. `null`: one is generated
        /// into the data directory at first start.
        #[key(Form::OptionalText, Restart, FileOnly)]
        session_key: Option<Secret> = None, read read_session_key;
        /// The key that tokens for servers are sealed with in the store. At least 32 characters, and best a reference such
        /// as `${env:NAME}`. `null`: one is generated into the data directory when it is first needed. Gateways that share a
        /// database need the same one.
        #[key(Form::OptionalText, Restart, FileOnly)]
        seal_key: Option<Secret> = None, read read_session_key;
        /// Whether a change over the API, with the admin key, may set which programs are started (`command`, `args`,
        /// `env`, `working_dir` of a server) and where secrets are sent (`${env:NAME}` references in `headers`, `url`
        /// of a server with secret headers, where classifiers are). Like the keys themselves, `listen`, `data_dir` and
        /// `storage`, it can be changed in the file only.
        #[key(Form::Flag, Reload, FileOnly)]
        allow_api_commands: bool = false;
        /// Whether `/mcp` needs the key. `false` is accepted only while every address in `listen` is a loopback address or a Unix
        /// socket.
        #[key(Form::Flag, Reload)]
        require_mcp_auth: bool = true;
        /// Names, with or without a port, that clients may use in `Host` and `Origin` beside those of a loopback
        /// address.
        #[key(Form::Texts, Reload)]
        trusted_hosts: Vec<String> = Vec::new(), read read_hosts;
        /// TLS for the addresses in `listen`. Without it they speak plain HTTP.
        #[key(Form::Block(Tls::BLOCK), Reload, FileOnly)]
        tls: Tls = Tls::default();
        /// The address that users type for this gateway, as far as the host and the port: `https://tools.example.com`. What
        /// clients are told about the gateway is made from it. Its host need not be listed in `trusted_hosts`.
        #[key(Form::OptionalText, Reload, FileOnly)]
        public_url: Option<String> = None, read read_public_url;
        /// Tokens of authorization servers, beside keys.
        #[key(Form::Block(Auth::BLOCK), Reload, FileOnly)]
        auth: Auth = Auth::default();
        /// Where the activity log, the generated keys and captured schemas are kept. `COUNTERSIGN_DATA_DIR` and
        /// `--data-dir` win over it.
        #[key(Form::Text, Restart, FileOnly)]
        data_dir: PathBuf = PathBuf::from(DATA_DIR);
        /// What `/mcp` offers: `retrieve_tools`, a few tools that find and call the others, or `direct`, every tool.
        #[key(Form::Choice(RoutingMode::WORDS), Reload)]
        routing_mode: RoutingMode = RoutingMode::RetrieveTools;
        /// How tools are named where several servers meet: `prefixed` is `server__tool`.
        #[key(Form::Choice(ToolNames::WORDS), Reload)]
        tool_names: ToolNames = ToolNames::Prefixed;
        /// How long a call may take; a server's `timeout` wins over it.
        #[key(Form::Duration, Reload)]
        call_tool_timeout: Duration = Duration::from_mins(2);
        /// How long a client session may be idle before it ends, with the sessions and processes that servers keep for
        /// it. A client that keeps its stream open is not idle.
        #[key(Form::Duration, Reload)]
        session_idle_timeout: Duration = Duration::from_hours(4);
        /// How often a stream to a client is sent a comment while there is nothing to say, so that proxies between them
        /// do not close it.
        #[key(Form::Duration, Reload)]
        stream_keep_alive: Duration = Duration::from_secs(15);
        /// How long after its beginning a client session may be taken over by a gateway that does not know it: another
        /// one with the same `session_key`, or the same one after a restart.
        #[key(Form::Duration, Reload)]
        session_lifetime: Duration = Duration::from_hours(7 * 24);
        /// How long a gateway that is told to stop goes on as before, with `/readyz` at 503, so that proxies send their
        /// calls elsewhere. Where it is not set: 5 seconds if gateways share a PostgreSQL, else no delay.
        #[key(Form::Duration, Reload)]
        drain_delay: Option<Duration> = None, show show_drain_delay;
        /// The largest message that is handled at all, in bytes.
        #[key(Form::Number(1024, 1 << 30), Restart)]
        max_message_bytes: usize = 16 << 20;
        /// How deep a server's message may nest, its envelope included; deeper ones are refused in every mode. Where it
        /// is not set, never less than `output_validation.max_depth` and 2.
        #[key(Form::Number(16, 1_000_000), Reload)]
        max_message_depth: Option<u32> = None, default "120", show show_depth;
        /// How many bytes all messages in flight may hold together; no less than `max_message_bytes`. Half of it is set
        /// aside in equal shares for the servers and the clients.
        #[key(Form::Number(1024, 1 << 40), Restart)]
        max_inflight_bytes: usize = 256 << 20;
        /// `hardened` blocks whatever is not known to be good: `output_validation` is strict, missing structured
        /// content and schemas that cannot be enforced block, guards hold for every tool, sanitising is `full` and a
        /// control token in `structuredContent` blocks. Single keys win over it; `config show` says what holds.
        #[key(Form::Choice(Profile::WORDS), Reload)]
        profile: Profile = Profile::Standard;
        /// Where records are stored.
        #[key(Form::Block(Storage::BLOCK), Reload, FileOnly)]
        storage: Storage = Storage::default();
        /// The activity log.
        #[key(Form::Block(ActivityConfig::BLOCK), Reload)]
        activity: ActivityConfig = ActivityConfig::default();
        /// Traces, metrics and decisions for OpenTelemetry. Nothing is sent until an endpoint is set.
        #[key(Form::Block(Otlp::BLOCK), Reload)]
        otlp: Otlp = Otlp::default();
        /// How results are held to the output schema their tool declared.
        #[key(Form::Block(&OUTPUT_VALIDATION), Reload)]
        output as "output_validation": RawOutputValidation = RawOutputValidation::default();
        /// How arguments are held to the input schema of their tool.
        #[key(Form::Block(&INPUT_VALIDATION), Reload)]
        input as "input_validation": RawInputValidation = RawInputValidation::default();
        /// What is done about control tokens and hidden characters in text.
        #[key(Form::Block(&SANITISATION), Reload)]
        sanitisation as "output_sanitisation": RawOutputSanitisation = RawOutputSanitisation::default();
        /// Injection classifiers. Each sees only what `classify` of a server or tool lets it see.
        #[key(Form::Blocks(&CLASSIFIER), Reload)]
        classifiers: Vec<Classifier> = Vec::new();
        /// How long all classifiers together may take over one result.
        #[key(Form::Duration, Reload)]
        classifier_budget: Duration = countersign_classify::BUDGET;
        /// Documents that a `$ref` in a tool's schema may lead to. None is fetched unless hosts are named here. See
        /// [schemas](../concepts/schemas.md#references-to-other-documents).
        #[key(Form::Block(SchemaRefs::BLOCK), Reload, FileOnly)]
        schema_refs: SchemaRefs = SchemaRefs::default();
        /// Which callers may see and use what. Without it, every caller may use everything.
        #[key(Form::Block(Access::BLOCK), Reload, FileOnly)]
        access: Access = Access::default();
        /// How many calls of tools each caller may make.
        #[key(Form::Blocks(Limit::BLOCK), Reload, FileOnly)]
        limits: Vec<Limit> = Vec::new();
        /// The servers behind the gateway: an array of them, each with a `name`, or, as desktop clients write it, an
        /// object with the names as keys.
        #[key(Form::Servers(Server::BLOCK), Reload)]
        servers as "mcpServers": Vec<Server> = Vec::new();
    }
    beside {
        /// The classifiers, ready to be asked.
        pub(crate) panels: Panels,
        /// Sanitisers made so far.
        pub(crate) sanitisers: Sanitisers,
    }
}

word_enum! {
    /// What `/mcp` offers.
    #[derive(Default)]
    pub enum RoutingMode {
        /// Tools that find and call the others.
        #[default]
        RetrieveTools = "retrieve_tools",
        /// Every tool.
        Direct = "direct",
    }
}

word_enum! {
    /// How tools are named where several servers meet.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum ToolNames {
        /// `server__tool`.
        #[default]
        Prefixed = "prefixed",
    }
}

plain! {
    RoutingMode: read_word, RoutingMode::clone;
    ToolNames: read_word, ToolNames::clone;
}

/// A key that opens the gateway.
fn read_access_key(reader: &mut Reader<'_, '_>, node: u32, key: &mut Option<ApiKey>) {
    read_into(reader, node, key);
    let Some(key) = key else { return };
    if let Err(problem) = rules::api_key(key.expose()) {
        reader.refuse_problem(node, problem);
    } else if key.expose().len() < SHORT_KEY {
        let message = format!("the key has fewer than {SHORT_KEY} characters");
        let hint = "remove it to have a good one generated, or use `openssl rand -hex 32`";
        reader.warn(node, Problem::new(message, hint));
    }
}

/// A key that ids are made with.
fn read_session_key(reader: &mut Reader<'_, '_>, node: u32, key: &mut Option<Secret>) {
    read_into(reader, node, key);
    if key
        .as_ref()
        .is_some_and(|key| key.expose().len() < SHORT_SECRET)
    {
        let message = format!("the key has fewer than {SHORT_SECRET} characters");
        let hint = "`openssl rand -hex 32` makes one; null has one generated";
        reader.refuse(node, message, hint);
    }
}

fn show_drain_delay(config: &Config, _: &EffectiveSettings) -> Option<String> {
    let delay = config.stop_delay();
    (!delay.is_zero()).then(|| duration::show(delay))
}

fn show_depth(_: &Config, effective: &EffectiveSettings) -> u32 {
    effective.max_message_depth
}

impl Config {
    /// The defaults: no servers, and the data directory under the home of `environment`, or the
    /// current directory where no home is known.
    pub fn embedded(environment: &Environment<'_>) -> Self {
        let mut config = Self::with_defaults(Panels::default(), Sanitisers::default());
        let data_dir = environment.expand(DATA_DIR);
        config.data_dir = data_dir.unwrap_or_else(|_| PathBuf::from(".countersign"));
        config
    }

    /// Has the relative paths of files begin at this folder.
    pub(crate) fn begin_at(&mut self, folder: &Path) {
        self.tls.begin_at(folder);
        for oauth in self.servers.iter_mut().filter_map(|it| it.oauth.as_mut()) {
            oauth.begin_at(folder);
        }
    }

    /// How long the gateway goes on once it is told to stop: `drain_delay`, or its default.
    pub fn stop_delay(&self) -> Duration {
        let is_shared = matches!(self.storage.database(), Database::Postgres(_));
        let default = if is_shared {
            DRAIN_DELAY
        } else {
            Duration::ZERO
        };
        self.drain_delay.unwrap_or(default)
    }

    /// The server of that name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Fails with each reference of a server to a variable that is not set. A gateway does without such servers.
    pub fn require_variables(&self) -> Result<(), ConfigError> {
        let servers = self.servers.iter();
        let unset = servers.flat_map(|server| server.unset_references.iter().cloned());
        ConfigError::if_any(unset.collect())
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
