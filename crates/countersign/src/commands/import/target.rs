//! Where an import goes: our configuration and its env file. Reads both, writes both, the secrets first: a configuration
//! must never refer to what is not there yet.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use countersign_config::{
    self as config, ConfigError, EnvFile, Environment, LocationSource, Overrides, Problem,
    assignment,
};
use serde_json::Value;

use super::Arguments;
use super::definition::{Definition, ParsedDefinition};
use super::merge::merged;
use super::plan::PlannedServer;
use crate::files;
use crate::json::list;
use crate::report::Failure;

/// A value that can be used wherever a reference may stand, the signing key included.
pub(in crate::commands) const STAND_IN: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// What an import goes into.
#[derive(Debug)]
pub(super) struct Target {
    /// The configuration.
    pub(super) path: PathBuf,
    /// What it says; `None` if it is not there yet.
    text: Option<String>,
    pub(super) variables: EnvFile,
    /// mcpproxy's file is used as long as Countersign has no file of its own.
    pub(super) hides: Option<PathBuf>,
}

impl Target {
    pub(super) fn find(
        arguments: &Arguments,
        environment: &Environment<'_>,
    ) -> Result<Self, Failure> {
        let located = config::locate(arguments.config.clone(), environment);
        let (path, hides) = match located.source {
            LocationSource::Mcpproxy => {
                let home = environment.home();
                let ours = home.map(|home| home.join(".countersign/mcp_config.json"));
                (ours, located.path)
            }
            _ => (located.path, None),
        };
        let path = path.ok_or_else(|| {
            let error = anyhow!(
                "no home directory is known, so there is no usual place for the configuration"
            );
            Failure::usage(error).hint("name one with --config")
        })?;
        let text = path.exists().then(|| config::read(&path));
        let text = text.transpose().map_err(unreadable)?;
        let flags = Overrides {
            data_dir: arguments.data_dir.clone(),
            env_file: arguments.env_file.clone(),
            ..Overrides::default()
        };
        let mut variables = EnvFile::locate(text.as_deref(), environment, &flags);
        let is_named = std::mem::take(&mut variables.is_named);
        let mut variables = variables.read().map_err(unreadable)?;
        variables.is_named = is_named;
        Ok(Self {
            path,
            text,
            variables,
            hides,
        })
    }

    /// Whether a file is the one that is imported into.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        let same = |path: &Path| path.canonicalize().ok();
        same(path).is_some_and(|path| same(&self.path) == Some(path))
    }

    /// The servers that are there.
    pub(super) fn servers(&self) -> Result<BTreeMap<String, Definition>, Failure> {
        let Some(text) = &self.text else {
            return Ok(BTreeMap::new());
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(text).map_err(|error| {
            let error = anyhow!(error).context(format!("cannot use '{}'", self.path.display()));
            Failure::usage(error).hint("`countersign config check` says what is wrong with it")
        })?;
        let servers: Vec<(Option<&str>, &Value)> = match &value["mcpServers"] {
            Value::Object(servers) => {
                let servers = servers.iter();
                servers
                    .map(|(name, server)| (Some(name.as_str()), server))
                    .collect()
            }
            servers => {
                let servers = list(servers).iter();
                servers
                    .map(|server| (server["name"].as_str(), server))
                    .collect()
            }
        };
        let named = |(name, settings): (Option<&str>, &Value)| {
            let read = ParsedDefinition::from_settings(settings).unwrap_or_default();
            Some((name?.to_owned(), read.definition))
        };
        Ok(servers.into_iter().filter_map(named).collect())
    }

    /// A client that is connected to a gateway already, perhaps by a bridge, must not be put behind it.
    pub(super) fn is_this_gateway(&self, definition: &Definition) -> bool {
        let text = self.text.as_deref().unwrap_or("{}");
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let places = match &value["listen"] {
            Value::String(one) => vec![one.as_str()],
            several => list(several).iter().filter_map(Value::as_str).collect(),
        };
        let places = if places.is_empty() {
            vec!["127.0.0.1:8080"]
        } else {
            places
        };
        let ports = places.iter().filter_map(|place| place.rsplit(':').next());
        let origins: Vec<_> = ports
            .flat_map(|port| {
                ["http", "https"].into_iter().flat_map(move |scheme| {
                    ["127.0.0.1", "localhost", "[::1]"]
                        .map(|host| format!("{scheme}://{host}:{port}"))
                })
            })
            .collect();
        let is_ours = |url: &String| {
            let path = origins.iter().find_map(|origin| url.strip_prefix(origin));
            path.is_some_and(|path| path == "/mcp" || path.starts_with("/mcp/"))
        };
        definition.url.iter().chain(&definition.args).any(is_ours)
    }

    /// The configuration as it would be. An import never breaks one that works.
    pub(super) fn merged(&self, planned: &[PlannedServer]) -> Result<String, Failure> {
        let text = merged(self.text.as_deref(), planned)?;
        let before = problems(self.text.as_deref().unwrap_or("{}"));
        let new = problems(&text)
            .into_iter()
            .find(|problem| !before.contains(problem));
        match new {
            None => Ok(text),
            Some(problem) => {
                let error = anyhow!(problem.to_string())
                    .context("the configuration would not be right any more; nothing was written");
                Err(Failure::usage(error)
                    .hint("import the other servers from a copy of the file without this one"))
            }
        }
    }

    /// Whether there is anything to write.
    pub(super) fn changes(planned: &[PlannedServer]) -> bool {
        planned.iter().any(PlannedServer::is_written)
    }

    pub(super) fn write(&self, text: &str, planned: &[PlannedServer]) -> Result<(), Failure> {
        if !Self::changes(planned) {
            return Ok(());
        }
        let unwritable = |path: &Path, error: std::io::Error| {
            let error = anyhow!(error).context(format!("cannot write '{}'", path.display()));
            Failure::usage(error).hint("name another place with --config, --data-dir or --env-file")
        };
        let additions = self.additions(planned);
        if let (Some(path), false) = (&self.variables.path, additions.is_empty()) {
            let mut whole = std::fs::read_to_string(path).unwrap_or_default();
            if !whole.is_empty() && !whole.ends_with('\n') {
                whole.push('\n');
            }
            whole.push_str(&additions);
            files::write_private(path, whole.as_bytes())
                .map_err(|error| unwritable(path, error))?;
        }
        let written = if self.text.is_some() {
            files::rewrite(&self.path, text.as_bytes())
        } else {
            files::write_private(&self.path, text.as_bytes())
        };
        written.map_err(|error| unwritable(&self.path, error))
    }

    /// What the env file gets: a later line wins over an earlier one, so nothing in it needs to change.
    fn additions(&self, planned: &[PlannedServer]) -> String {
        let mut text = String::new();
        let mut known = self.variables.values.clone();
        let export = if self.variables.is_named {
            "export "
        } else {
            ""
        };
        for server in planned.iter().filter(|server| server.is_written()) {
            for secret in &server.secrets {
                let old = known.insert(secret.variable.clone(), secret.value.clone());
                if old.as_ref() != Some(&secret.value) {
                    let line = assignment(&secret.variable, &secret.value);
                    // Writing to a string cannot fail.
                    let _written = writeln!(text, "{export}{line}");
                }
            }
            for needed in &server.needed {
                let line = format!(
                    "# {}=''  # to be set for {}: {}",
                    needed.variable, server.name, needed.why
                );
                // Names and descriptions come from the client's file: a line of a comment stays one line.
                let line: String = line.chars().filter(|c| !c.is_control()).collect();
                if !known.contains_key(&needed.variable) && !text.contains(&line) {
                    let _written = writeln!(text, "{line}");
                }
            }
        }
        text
    }
}

/// Checks whether a server may stand in a configuration. `Err`: why not.
pub(super) fn check_server(name: &str, definition: &Definition) -> Result<(), String> {
    let server: Value = definition.members().into_iter().collect();
    let config = serde_json::json!({"mcpServers": {name: server}}).to_string();
    let first = problems(&config).into_iter().next();
    first.map_or(Ok(()), |problem| Err(problem.message))
}

/// Everything wrong with a configuration but variables that are not set. Without lines, which may move.
fn problems(text: &str) -> Vec<Problem> {
    let environment = Environment::new(|_| Some(STAND_IN.to_owned()), Some("/".into()));
    match config::parse(text, &environment) {
        Ok(_) => Vec::new(),
        Err(error) => error.without_lines().problems().to_vec(),
    }
}

fn unreadable(error: ConfigError) -> Failure {
    Failure::usage(error).hint("check the file; --config and --env-file name others")
}
