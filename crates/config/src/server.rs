//! One server behind the gateway: how it is reached, what it is held to, and what its tools are.

mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_inspect::Era;
use countersign_inspect::config::{RawInputValidation, RawOutputSanitisation, RawOutputValidation};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::classifier::read_allowed;
use super::duration;
use super::effective::EffectiveSettings;
use super::foreign_keys;
use super::inspector::{INPUT_VALIDATION, OUTPUT_VALIDATION, SANITISATION};
use super::isolation::{ISOLATIONS, Isolation};
use super::keys::Form;
use super::oauth::OAuth;
use super::problem::Problem;
use super::profile::Profile;
use super::reader::Reader;
use super::setting::{Keys, SameValue, Setting, ShownBlock, keys};
use super::transport::{PROTOCOLS, Protocol, Transport};

/// What `era` may be: an era by its word, or `auto`, which is the word of none.
const ERAS: &[&str] = &["auto", "legacy", "modern"];

/// A call that reports progress may take so many time-outs, if nothing else is said.
const TOTAL: u32 = 10;

keys! {
    /// One server: a `command` to start and speak to over stdio, or a `url`.
    #[block("server", &foreign_keys::SERVER)]
    pub struct Server {
        /// Its name: 1 to 20 of `a`-`z`, `0`-`9` and `-`; another is replaced by one that fits, with a warning.
        /// Required in an array; in an object the key is the name.
        #[key(Form::Name, Reload)]
        "name";
        /// The program to start. Not a shell line: arguments go into `args`.
        #[key(Form::Text, Reload, Commands)]
        "command";
        /// Its arguments.
        #[key(Form::Texts, Reload, Commands)]
        "args" = "[]";
        /// Variables for it, beside the few every child gets. Values may contain `${env:NAME}`.
        #[key(Form::TextMap, Reload, Commands)]
        "env" = "{}";
        /// The directory it runs in; `null` is the gateway's own. `~` is the home directory.
        #[key(Form::OptionalText, Reload, Commands)]
        "working_dir" = "null";
        /// The same, as desktop clients write it.
        #[key(Form::OptionalText, Reload, Commands)]
        "cwd";
        /// Where it is served: `http://` or `https://`.
        #[key(Form::Text, Reload)]
        "url";
        /// Headers of every request to it. Values may contain `${env:NAME}`.
        #[key(Form::TextMap, Reload)]
        "headers" = "{}";
        /// How the gateway gets a token for it. Its requests then have an `Authorization` header.
        #[key(Form::Block(OAuth::BLOCK), Reload)]
        oauth: Option<OAuth> = None;
        /// `auto` is stdio for a `command` and Streamable HTTP for a `url`; `sse` is the transport before it. `http`
        /// means `streamable-http`.
        #[key(Form::Choice(PROTOCOLS), Reload)]
        "protocol" = r#""auto""#;
        /// The same, as desktop clients write it.
        #[key(Form::Choice(PROTOCOLS), Reload)]
        "type";
        /// The era of MCP that is spoken with it: `legacy` is `initialize`, up to 2025-11-25; `modern` is 2026-07-28.
        /// `auto` finds out, and behind `countersign wrap` begins in the client's own. See
        /// [eras](../concepts/eras.md).
        #[key(Form::Choice(ERAS), Reload)]
        era: Option<Era> = None, default r#""auto""#, show show_era;
        /// Whether its clients share one session or process. `client`: each client session has one of its own. `auto` is
        /// `client` for a server of the legacy era over HTTP, and `shared` for a `command`. See
        /// [isolation](../concepts/isolation.md).
        #[key(Form::Choice(ISOLATIONS), Reload)]
        isolation: Option<Isolation> = None, default r#""auto""#, show show_isolation;
        /// How many client sessions may have a session or process of their own at a time. For one more, the one that has
        /// been idle longest ends.
        #[key(Form::Number(1, 65_536), Reload)]
        max_client_connections: usize = 256;
        /// Whether the gateway uses it at all.
        #[key(Form::Flag, Reload)]
        enabled: bool = true;
        /// The opposite, as desktop clients write it.
        #[key(Form::Flag, Reload)]
        "disabled";
        /// Set by mcpproxy on a server that no operator has approved yet. `true`: it is not used.
        #[key(Form::Flag, Reload)]
        "quarantined";
        /// How long a call to it may go without an answer; `call_tool_timeout` if not given. Each report of progress
        /// begins it anew.
        #[key(Form::Duration, Reload)]
        timeout: Option<Duration> = None, show show_timeout;
        /// How long a call may take in all, however much progress the server reports; ten times `timeout` if not given,
        /// and never less than `timeout`.
        #[key(Form::Duration, Reload)]
        total_timeout: Option<Duration> = None, show show_total_timeout;
        /// How long connecting to a `url` may take, TLS included.
        #[key(Form::Duration, Reload)]
        connect_timeout: Duration = Duration::from_secs(5);
        /// How long it may take from its start, or from connecting, until it can be called: `1m` for a `command`, since
        /// package runners download first, and `30s` for a `url`, if not given.
        #[key(Form::Duration, Reload)]
        start_timeout: Option<Duration> = None, show show_start_timeout;
        /// How many requests it is sent at a time.
        #[key(Form::Number(1, 65_536), Reload)]
        max_concurrent_requests: usize = 16;
        /// How many more may wait; beyond that they are refused at once.
        #[key(Form::Number(0, 65_536), Reload)]
        queue_size: usize = 64;
        /// Whether rules of `access` may rely on what it says its tools do. A server can say anything of them.
        #[key(Form::Flag, Reload)]
        trust_annotations: bool = false;
        /// For this server's tools, in place of the file's; it wins over the file's blocks, and its own blocks win over
        /// it.
        #[key(Form::Choice(Profile::WORDS), Reload)]
        profile: Option<Profile> = None;
        /// For this server's tools.
        #[key(Form::Block(&OUTPUT_VALIDATION), Reload)]
        output as "output_validation": RawOutputValidation = RawOutputValidation::default();
        /// For this server's tools.
        #[key(Form::Block(&INPUT_VALIDATION), Reload)]
        input as "input_validation": RawInputValidation = RawInputValidation::default();
        /// For this server's tools, its descriptions of them, and its instructions.
        #[key(Form::Block(&SANITISATION), Reload)]
        sanitisation as "output_sanitisation": RawOutputSanitisation = RawOutputSanitisation::default();
        /// The classifiers that may see this server's results. Nothing is sent to any other.
        #[key(Form::Texts, Reload)]
        classify: Option<Vec<String>> = None, default "[]", read read_allowed, show show_allowed;
        /// Settings for single tools, by the name the server gives them.
        #[key(Form::Named(ToolConfig::BLOCK), Reload)]
        tools: BTreeMap<String, ToolConfig> = BTreeMap::new();
    }
    beside {
        /// Its name, fit for a tool name.
        pub name: String,
        /// Its name in the file, where that does not fit.
        pub configured_name: Option<String>,
        /// How it is reached.
        pub transport: Transport,
        /// References to variables that are not set. It is not started without them.
        pub unset_references: Vec<Problem>,
    }
}

keys! {
    /// Settings for one tool of one server.
    #[block("tool")]
    pub struct ToolConfig {
        /// For this tool.
        #[key(Form::Block(&OUTPUT_VALIDATION), Reload)]
        output as "output_validation": RawOutputValidation = RawOutputValidation::default();
        /// For this tool.
        #[key(Form::Block(&INPUT_VALIDATION), Reload)]
        input as "input_validation": RawInputValidation = RawInputValidation::default();
        /// For this tool.
        #[key(Form::Block(&SANITISATION), Reload)]
        sanitisation as "output_sanitisation": RawOutputSanitisation = RawOutputSanitisation::default();
        /// The classifiers that may see this tool's results; those of its server if not given, none if empty.
        #[key(Form::Texts, Reload)]
        classify: Option<Vec<String>> = None, read read_allowed, show show_inherited_classify;
        /// Whether results that conform to the output schema may carry free text, and so are shown to classifiers.
        /// Derived from the schema if not given.
        #[key(Form::Flag, Reload)]
        free_text: Option<bool> = None;
    }
}

impl Default for ToolConfig {
    fn default() -> Self {
        Self::with_defaults()
    }
}

fn show_era(server: &Server, _: &EffectiveSettings) -> &'static str {
    server.era.map_or("auto", Era::as_str)
}

fn show_isolation(server: &Server, _: &EffectiveSettings) -> &'static str {
    server.isolation.map_or("auto", Isolation::as_str)
}

fn show_timeout(_: &Server, effective: &EffectiveSettings) -> String {
    duration::show(effective.timeout)
}

fn show_total_timeout(server: &Server, effective: &EffectiveSettings) -> String {
    duration::show(server.total_timeout(effective.timeout))
}

fn show_start_timeout(server: &Server, _: &EffectiveSettings) -> String {
    duration::show(server.start_timeout())
}

fn show_allowed(server: &Server, _: &EffectiveSettings) -> Vec<String> {
    server.classify.clone().unwrap_or_default()
}

fn show_inherited_classify(_: &ToolConfig, effective: &EffectiveSettings) -> Vec<String> {
    effective.classify.clone()
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
        let has_same_oauth = match (&self.oauth, &other.oauth) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.era == other.era
            && has_same_oauth
            && self.transport.is_same(&other.transport)
            && self.connect_timeout == other.connect_timeout
            && self.start_timeout() == other.start_timeout()
    }

    /// How long a call may take in all, if it may go without an answer for `timeout`.
    pub fn total_timeout(&self, timeout: Duration) -> Duration {
        let total = self.total_timeout;
        total.unwrap_or(timeout.saturating_mul(TOTAL)).max(timeout)
    }

    /// How long it may take until it can be called.
    pub fn start_timeout(&self) -> Duration {
        let usual = match self.transport {
            Transport::Stdio { .. } => Duration::from_mins(1),
            Transport::Http { .. } => Duration::from_secs(30),
        };
        self.start_timeout.unwrap_or(usual)
    }

    /// A server reached like this, with the defaults.
    pub fn new(name: String, transport: Transport) -> Self {
        Self::with_defaults(name, None, transport, Vec::new())
    }
}

/// A server as `config show` prints it.
struct ShownServer<'a>(&'a Server, &'a EffectiveSettings);

impl Serialize for ShownServer<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(server, effective) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &server.name)?;
        if let Some(written) = &server.configured_name {
            map.serialize_entry("configured_name", written)?;
        }
        server.transport.show(&effective.redactor, &mut map)?;
        server.show_keys(effective, &mut map)?;
        map.end()
    }
}

impl Setting for Vec<Server> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        Some(reader.servers(node))
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let shown = self.iter().filter_map(|server| {
            let effective = effective.inner.get(&server.name)?;
            Some(ShownServer(server, effective))
        });
        Some(shown.collect::<Vec<_>>())
    }
}

impl Setting for BTreeMap<String, ToolConfig> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let tools = reader.members(node).into_iter();
        let read = |(name, node)| Some((name, ToolConfig::read(reader, node)?));
        Some(tools.filter_map(read).collect())
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let shown = self.iter().filter_map(|(name, tool)| {
            let effective = effective.inner.get(name)?;
            Some((name, ShownBlock(tool, effective)))
        });
        Some(shown.collect::<BTreeMap<_, _>>())
    }
}
