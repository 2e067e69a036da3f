//! From what the file says to what the gateway uses: words become types, references become
//! values, and settings are checked against each other. Collects every problem it finds.

mod activity;
mod classifiers;
mod rules;
mod server;
mod transport;

use std::path::PathBuf;

use countersign_inspect::config::RawOutputSanitisation;

use super::document::Document;
use super::duration;
use super::environment::{BadReference, Environment};
use super::model::{Config, Profile, RoutingMode};
use super::problem::{ConfigError, MAX_REPORTED, Problem, Warning};
use super::raw::RawConfig;
use super::secret::Secret;

pub(crate) use rules::{api_key, distinct_keys, exposure, exposure_warning, listen, storage_url};

/// Shorter keys can be guessed.
const SHORT_KEY: usize = 16;

pub(crate) fn document(
    document: &Document<'_>,
    environment: &Environment<'_>,
    warnings: Vec<Warning>,
) -> Result<(Config, Vec<Warning>), ConfigError> {
    let raw: RawConfig =
        serde_json::from_str(document.tape().text()).map_err(|error| unread(&error, document))?;
    let mut resolver = Resolver {
        document,
        environment,
        problems: Vec::new(),
        warnings,
        classifiers: Vec::new(),
        unset_references: Vec::new(),
    };
    let config = resolver.config(raw);
    if let Err(problem) = exposure(&config) {
        let place = Some(document.at("/require_mcp_auth"));
        resolver.problems.push(Problem { place, ..problem });
    }
    if let Err(problem) = distinct_keys(&config) {
        resolver.refuse("/admin_key", problem);
    }
    let in_order = |problem: &Problem| problem.place.as_ref().and_then(|place| place.at);
    resolver.warnings.sort_by_key(in_order);
    resolver.problems.sort_by_key(in_order);
    if resolver.problems.is_empty() {
        return Ok((config, resolver.warnings));
    }
    Err(resolver.problems.into())
}

/// Serde refuses what `check` let through: our mistake, but the reader still wants the place.
fn unread(error: &serde_json::Error, document: &Document<'_>) -> Problem {
    let mut place = document.at("");
    place.at = Some((error.line(), error.column()));
    Problem::new(Some(place), error.to_string())
}

pub(crate) struct Resolver<'r, 'a> {
    document: &'r Document<'a>,
    environment: &'r Environment<'r>,
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
    /// The names of the classifiers there are.
    classifiers: Vec<String>,
    /// References of the server at hand to variables that are not set.
    unset_references: Vec<Problem>,
}

fn unset(variable: &str) -> Problem {
    let message = format!("the environment variable {variable} is not set");
    Problem::new(None, message).hint(format!(
        "set {variable} before starting, or write {variable}=… into `env` in the data directory"
    ))
}

impl Resolver<'_, '_> {
    fn config(&mut self, raw: RawConfig) -> Config {
        let mut config = Config::embedded(self.environment);
        self.basics(&raw, &mut config);
        self.limits(&raw, &mut config);
        config.activity = self.activity(raw.activity);
        if let Some(text) = raw.storage.url
            && let Some(url) = self.secret("/storage/url", &text, true)
        {
            if let Err(problem) = storage_url(url.expose()) {
                self.refuse("/storage/url", problem);
            }
            config.storage_url = url;
        }
        self.sanitisation("/output_sanitisation", &raw.output_sanitisation);
        config.classifiers = self.classifiers(raw.classifiers);
        if let Some(budget) = raw.classifier_budget.as_deref().and_then(duration::parse) {
            config.classifier_budget = budget;
        }
        self.not_yet("/schema_refs", raw.schema_refs.is_empty());
        let profile = raw.profile.as_deref().and_then(Profile::parse);
        config.profile = profile.unwrap_or_default();
        config.output = raw.output_validation;
        config.input = raw.input_validation;
        config.sanitisation = raw.output_sanitisation;
        config.servers = self.servers(raw.servers);
        self.unused_classifiers(&config);
        config
    }

    fn basics(&mut self, raw: &RawConfig, config: &mut Config) {
        if let Some(text) = &raw.listen {
            match listen(text) {
                Ok(address) => config.listen = address,
                Err(problem) => self.refuse("/listen", problem),
            }
        }
        config.api_key = self.access_key("/api_key", raw.api_key.as_deref());
        config.admin_key = self.access_key("/admin_key", raw.admin_key.as_deref());
        config.allow_api_commands = raw.allow_api_commands.unwrap_or(false);
        if let Some(text) = &raw.data_dir
            && let Some(path) = self.path("/data_dir", text)
        {
            config.data_dir = path;
        }
        config.trusted_hosts = self.trusted_hosts(&raw.trusted_hosts);
        config.require_mcp_auth = raw.require_mcp_auth.unwrap_or(true);
        if raw.routing_mode.as_deref() == Some("direct") {
            config.routing_mode = RoutingMode::Direct;
        }
    }

    /// A key that opens the gateway.
    fn access_key(&mut self, pointer: &str, text: Option<&str>) -> Option<Secret> {
        let key = self.secret(pointer, text?, true)?;
        match api_key(key.expose()) {
            Ok(()) => self.warn_of_short_key(pointer, &key),
            Err(problem) => self.refuse(pointer, problem),
        }
        Some(key)
    }

    fn limits(&mut self, raw: &RawConfig, config: &mut Config) {
        if let Some(timeout) = raw.call_tool_timeout.as_deref().and_then(duration::parse) {
            config.call_tool_timeout = timeout;
        }
        config.max_message_bytes = raw.max_message_bytes.unwrap_or(config.max_message_bytes);
        config.max_message_depth = raw.max_message_depth;
        config.max_inflight_bytes = raw.max_inflight_bytes.unwrap_or(config.max_inflight_bytes);
        let (one, all) = (config.max_message_bytes, config.max_inflight_bytes);
        if one > all {
            let message = format!("one message may have {one} bytes and all of them only {all}");
            let hint = format!("set max_inflight_bytes to {one} or more, better to 16 times that");
            let pointer = if raw.max_inflight_bytes.is_some() {
                "/max_inflight_bytes"
            } else {
                "/max_message_bytes"
            };
            self.refuse(pointer, Problem::new(None, message).hint(hint));
        }
    }

    fn trusted_hosts(&mut self, hosts: &[String]) -> Vec<String> {
        for (index, host) in hosts.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
            if host.is_empty() || !host.chars().all(plain) {
                let problem = Problem::new(None, "not a host name")
                    .hint("write a name with or without a port, like \"tools.example.com\"; there is no wildcard");
                self.refuse(&format!("/trusted_hosts/{index}"), problem);
            }
        }
        hosts.iter().map(|host| host.to_ascii_lowercase()).collect()
    }

    fn path(&mut self, pointer: &str, text: &str) -> Option<PathBuf> {
        match self.environment.expand(text) {
            Ok(_) if text.is_empty() => {
                let problem = Problem::new(None, "an empty path").hint("leave out the key");
                self.refuse(pointer, problem);
                None
            }
            Ok(path) => Some(path),
            Err(problem) => {
                self.refuse(pointer, problem);
                None
            }
        }
    }

    /// A value that may refer to the environment. A missing variable is a problem, or, where the
    /// value is not needed now, a warning.
    fn secret(&mut self, pointer: &str, text: &str, needed: bool) -> Option<Secret> {
        if text.contains("${keyring:") {
            let problem = Problem::new(None, "${keyring:…} references are not supported")
                .hint("put the value into a variable and write ${env:NAME}");
            self.refuse(pointer, problem);
            return None;
        }
        let problem = match self.environment.resolve(text) {
            Ok(secret) => return Some(secret),
            Err(BadReference::Missing(name)) => unset(&name),
            Err(BadReference::Name(_)) => {
                Problem::new(None, "a ${env:…} reference does not name a variable")
                    .hint("write ${env:NAME}, with letters, digits and _ in the name")
            }
            Err(BadReference::Open) => {
                Problem::new(None, "a ${env:…} reference has no end").hint("write ${env:NAME}")
            }
        };
        if needed {
            self.refuse(pointer, problem);
        } else {
            self.warn(pointer, problem);
        }
        None
    }

    /// The same for a server: a missing variable keeps it from being started, and is no problem of the others.
    fn server_secret(&mut self, pointer: &str, text: &str, enabled: bool) -> Option<Secret> {
        let resolved = self.environment.resolve(text);
        let (true, false, Err(BadReference::Missing(name))) =
            (enabled, text.contains("${keyring:"), resolved)
        else {
            return self.secret(pointer, text, enabled);
        };
        let problem = unset(&name);
        let message = format!("{}, so the server is not started", problem.message);
        self.warn(
            pointer,
            Problem {
                message,
                ..problem.clone()
            },
        );
        let place = Some(self.document.at(pointer));
        self.unset_references.push(Problem { place, ..problem });
        None
    }

    /// Families and markers that cannot be used.
    fn sanitisation(&mut self, pointer: &str, raw: &RawOutputSanitisation) {
        if let Some((key, why)) = raw.problem() {
            let hint = match key {
                "families" => "name some of them, or \"all\", which is the default",
                _ => "a marker has 2 to 256 visible characters, and there may be 256 of them",
            };
            self.refuse(
                &format!("{pointer}/{key}"),
                Problem::new(None, why).hint(hint),
            );
        }
    }

    fn not_yet(&mut self, pointer: &str, unused: bool) {
        if unused {
            return;
        }
        let key = pointer.rsplit('/').next().unwrap_or(pointer);
        let message = format!("\"{key}\" is not implemented in this version and is ignored");
        self.warn(pointer, Problem::new(None, message));
    }

    fn warn_of_short_key(&mut self, pointer: &str, key: &Secret) {
        if key.expose().len() < SHORT_KEY {
            let message = format!("the key has fewer than {SHORT_KEY} characters");
            let warning = Problem::new(None, message)
                .hint("remove it to have a good one generated, or use `openssl rand -hex 32`");
            self.warn(pointer, warning);
        }
    }

    fn refuse(&mut self, pointer: &str, problem: Problem) {
        if self.problems.len() < MAX_REPORTED {
            let place = Some(self.document.at(pointer));
            self.problems.push(Problem { place, ..problem });
        }
    }

    fn warn(&mut self, pointer: &str, warning: Warning) {
        if self.warnings.len() < MAX_REPORTED {
            let place = Some(self.document.at(pointer));
            self.warnings.push(Problem { place, ..warning });
        }
    }
}
