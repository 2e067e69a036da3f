//! The resolved configuration as JSON, in the shape of the file, with what holds at each level
//! instead of what is written there. Secrets are not in it: keys, headers, the environment of
//! children, what follows a telling flag, queries of addresses.

mod hidden;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use countersign_audit::{Durability, OnStoreError, Payloads, Redactor};
use countersign_inspect::Era;
use countersign_inspect::config::{InputValidation, OutputSanitisation, OutputValidation};
use serde::Serialize;

use super::classifier::{Classifier, ShownClassifier};
use super::duration;
use super::model::{ActivityConfig, Config, Profile, Server, Transport};
use super::secret::Secret;

pub(super) use hidden::shown_url;
use hidden::{shown_args, shown_values};

impl Config {
    /// The resolved configuration as JSON, without secrets.
    pub fn show(&self) -> String {
        // Maps with string keys and plain values cannot fail to serialise.
        let text = serde_json::to_string_pretty(&Shown::from(self));
        text.unwrap_or_default()
    }

    /// A redactor that knows every secret of this configuration.
    pub fn redactor(&self) -> Redactor {
        let servers = self.servers.iter().flat_map(Server::secrets);
        let own = [
            self.api_key.as_ref(),
            self.admin_key.as_ref(),
            self.activity.signing_key.as_ref(),
        ];
        let classifiers = self.classifiers.iter().flat_map(Classifier::secrets);
        let secrets = own.into_iter().flatten().chain(servers).chain(classifiers);
        Redactor::new(secrets.map(|secret| secret.expose().to_owned()))
    }
}

impl Server {
    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        match &self.transport {
            Transport::Stdio { env, .. } => env.values(),
            Transport::Http { headers, .. } => headers.values(),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = serde_json::to_string(&shown_transport(self, &Redactor::default()));
        f.write_str(&shown.unwrap_or_default())
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    listen: String,
    api_key: Option<String>,
    admin_key: Option<String>,
    allow_api_commands: bool,
    require_mcp_auth: bool,
    trusted_hosts: &'a [String],
    data_dir: PathBuf,
    routing_mode: &'static str,
    tool_names: &'static str,
    call_tool_timeout: String,
    max_message_bytes: usize,
    max_message_depth: u32,
    max_inflight_bytes: usize,
    profile: &'static str,
    storage: ShownStorage,
    activity: ShownActivity,
    #[serde(flatten)]
    policy: ShownPolicy,
    classifiers: Vec<ShownClassifier>,
    classifier_budget: String,
    #[serde(rename = "mcpServers")]
    servers: Vec<ShownServer<'a>>,
}

#[derive(Serialize)]
struct ShownStorage {
    url: String,
}

#[derive(Serialize)]
struct ShownActivity {
    retention_days: u32,
    retention_floor_days: u32,
    max_records: u64,
    max_size_mb: u64,
    payloads: &'static str,
    payload_max_bytes: usize,
    durability: &'static str,
    on_store_error: &'static str,
    signing_key: Option<String>,
}

#[derive(Serialize)]
struct ShownPolicy {
    output_validation: OutputValidation,
    input_validation: InputValidation,
    output_sanitisation: OutputSanitisation,
}

#[derive(Serialize)]
struct ShownServer<'a> {
    name: &'a str,
    /// As the file writes it, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    configured_name: Option<&'a str>,
    #[serde(flatten)]
    transport: ShownTransport<'a>,
    era: &'static str,
    enabled: bool,
    timeout: String,
    max_concurrent_requests: usize,
    queue_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'static str>,
    #[serde(flatten)]
    policy: ShownPolicy,
    classify: &'a [String],
    tools: BTreeMap<&'a str, ShownTool<'a>>,
}

#[derive(Serialize)]
struct ShownTool<'a> {
    #[serde(flatten)]
    policy: ShownPolicy,
    classify: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    free_text: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownTransport<'a> {
    Stdio {
        command: &'a str,
        args: Vec<String>,
        env: BTreeMap<&'a str, String>,
        working_dir: Option<&'a PathBuf>,
        protocol: &'static str,
    },
    Http {
        url: String,
        headers: BTreeMap<&'a str, String>,
        protocol: &'static str,
    },
}

impl<'a> From<&'a Config> for Shown<'a> {
    fn from(config: &'a Config) -> Self {
        let servers = config.servers.iter();
        Self {
            listen: config.listen.to_string(),
            api_key: config.api_key.as_ref().map(Secret::shown),
            admin_key: config.admin_key.as_ref().map(Secret::shown),
            allow_api_commands: config.allow_api_commands,
            require_mcp_auth: config.require_mcp_auth,
            trusted_hosts: &config.trusted_hosts,
            data_dir: config.data_dir.clone(),
            routing_mode: config.routing_mode.as_str(),
            tool_names: config.tool_names.as_str(),
            call_tool_timeout: duration::show(config.call_tool_timeout),
            max_message_bytes: config.max_message_bytes,
            max_message_depth: config.policy("", "").max_message_depth,
            max_inflight_bytes: config.max_inflight_bytes,
            profile: config.profile.as_str(),
            storage: ShownStorage {
                url: shown_url(config.storage_url.expose()),
            },
            activity: ShownActivity::from(&config.activity),
            policy: ShownPolicy::of(config, "", ""),
            classifiers: config.classifiers.iter().map(Into::into).collect(),
            classifier_budget: duration::show(config.classifier_budget),
            servers: servers.map(|server| shown_server(config, server)).collect(),
        }
    }
}

impl From<&ActivityConfig> for ShownActivity {
    fn from(activity: &ActivityConfig) -> Self {
        Self {
            retention_days: activity.retention_days,
            retention_floor_days: activity.retention_floor_days,
            max_records: activity.max_records,
            max_size_mb: activity.max_size_mb,
            payloads: match activity.payloads {
                Payloads::None => "none",
                Payloads::Redacted => "redacted",
                Payloads::Full => "full",
            },
            payload_max_bytes: activity.payload_max_bytes,
            durability: match activity.durability {
                Durability::Commit => "commit",
                Durability::Sync => "sync",
                Durability::Async => "async",
            },
            on_store_error: match activity.on_store_error {
                OnStoreError::Auto => "auto",
                OnStoreError::Refuse => "refuse",
                OnStoreError::Continue => "continue",
            },
            signing_key: activity.signing_key.as_ref().map(Secret::shown),
        }
    }
}

impl ShownPolicy {
    fn of(config: &Config, server: &str, tool: &str) -> Self {
        let policy = config.policy(server, tool);
        Self {
            output_validation: policy.output,
            input_validation: policy.input,
            output_sanitisation: config.sanitisation(server, tool),
        }
    }
}

fn shown_server<'a>(config: &'a Config, server: &'a Server) -> ShownServer<'a> {
    let name = server.name.as_str();
    let tools = server.tools.iter();
    ShownServer {
        name,
        configured_name: server.configured_name.as_deref(),
        transport: shown_transport(&server.transport, &config.redactor()),
        era: server.era.map_or("auto", Era::as_str),
        enabled: server.enabled,
        timeout: duration::show(server.timeout.unwrap_or(config.call_tool_timeout)),
        max_concurrent_requests: server.max_concurrent_requests,
        queue_size: server.queue_size,
        profile: server.profile.map(Profile::as_str),
        policy: ShownPolicy::of(config, name, ""),
        classify: server.classify.as_deref().unwrap_or_default(),
        tools: tools
            .map(|(tool, settings)| {
                let shown = ShownTool {
                    policy: ShownPolicy::of(config, name, tool),
                    classify: config.classify(name, tool),
                    free_text: settings.free_text,
                };
                (tool.as_str(), shown)
            })
            .collect(),
    }
}

fn shown_transport<'a>(transport: &'a Transport, redactor: &Redactor) -> ShownTransport<'a> {
    match transport {
        Transport::Stdio {
            command,
            args,
            env,
            working_dir,
        } => ShownTransport::Stdio {
            command,
            args: shown_args(args, redactor),
            env: shown_values(env),
            working_dir: working_dir.as_ref(),
            protocol: "stdio",
        },
        Transport::Http {
            url,
            headers,
            protocol,
        } => ShownTransport::Http {
            url: shown_url(url),
            headers: shown_values(headers),
            protocol: protocol.as_str(),
        },
    }
}
