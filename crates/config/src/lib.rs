//! The configuration of a Countersign gateway: `mcp_config.json` in, a typed [`Config`] out, or every mistake in it with
//! its line, its column and what to write instead.
//!
//! A key is declared once, with `keys!`, beside the struct it is read into: its name, what it may hold, its default, one
//! sentence about it, and what a change of it takes. The file is read in three steps, each a module: `document` (JSON with
//! positions), `check` (against the declared keys), `resolve` (typed and cross-checked). This crate binds no port and starts
//! no process.
//!
//! ```
//! use countersign_config::{ConfigError, Environment, parse};
//!
//! let file = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"]}}}"#;
//! let (config, warnings) = parse(file, &Environment::empty())?;
//! assert_eq!(config.servers[0].name, "files");
//! assert!(warnings.is_empty());
//!
//! let mistake = parse(r#"{"listne": ":8080"}"#, &Environment::empty()).unwrap_err();
//! let problem = &mistake.problems()[0];
//! assert_eq!(problem.to_string(), "1:2: /listne: unknown key \"listne\"");
//! # Ok::<(), ConfigError>(())
//! ```

mod access;
mod activity;
mod anchor;
mod api_change;
mod auth;
mod caller_change;
mod callers;
mod check;
mod classifier;
mod document;
mod duration;
mod effective;
mod environment;
mod file;
mod foreign_keys;
mod hosts;
mod inspector;
mod isolation;
mod issuer;
mod keys;
mod limits;
mod listen;
mod locate;
mod mask;
mod merge;
mod model;
mod name;
mod oauth;
mod otlp;
mod overrides;
#[cfg(test)]
mod page;
mod problem;
mod profile;
mod public_url;
mod reader;
mod resolve;
mod rules;
mod running;
mod sanitisers;
mod schema;
mod schema_refs;
mod secret;
mod server;
mod server_change;
mod setting;
mod show;
mod source;
mod splice;
mod template;
#[cfg(test)]
mod tests;
mod tls;
mod transport;
mod variables;

use std::path::Path;

pub use access::{
    Access, AccessDefault, AccessRule, CallerPattern, Glob, ItemKind, ItemPattern, Where,
};
pub use activity::{ActivityConfig, Database, Storage};
pub use anchor::{Anchor, AnchorTarget, ObjectStore};
pub use api_change::check_api_change;
pub use auth::Auth;
pub use caller_change::{CallerChange, CallerChangeError};
pub use callers::{CallerConfig, CallerCredential, CallerRight};
pub use classifier::Classifier;
pub use environment::Environment;
pub use file::replace_file;
pub use isolation::Isolation;
pub use issuer::{Introspection, Issuer, IssuerLogin};
pub use limits::{Limit, Rate};
pub use listen::{Listen, ListenAddress, parse_listen};
pub use locate::{ConfigLocation, LocationSource, locate};
pub use merge::{merged, patch};
pub use model::{Config, ModeSource, RoutingMode, SetupFailure, ToolNames};
pub use name::{
    ALLOWED as SERVER_NAMES, fitting as fitting_server_name, fixed as server_name,
    is_allowed as is_server_name, numbered as numbered_server_name,
};
pub use oauth::{
    OAuth, OAuthCredentials, OAuthGrant, ResourceParameter, SigningAlgorithm, TokenAuthMethod,
};
pub use otlp::Otlp;
pub use overrides::Overrides;
pub use problem::{ConfigError, FilePosition, Problem, Warning};
pub use profile::Profile;
pub use resolve::exposure_warning;
pub use schema::schema;
pub use schema_refs::SchemaRefs;
pub use secret::{ApiKey, Secret};
pub use server::{Server, ToolConfig};
pub use server_change::{ServerChange, ServerChangeError};
pub use source::{Adjustment, LoadedConfig, Source};
pub use template::template;
pub use tls::{ClientAuth, Tls};
pub use transport::{Protocol, Transport};
pub use variables::{EnvFile, assignment};

/// Far more than any list of servers; a device or a runaway pipe must not fill memory.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the file at `path`. Settings of the environment win over the file's.
pub fn load(
    path: &Path,
    environment: &Environment<'_>,
) -> Result<(Config, Vec<Warning>), ConfigError> {
    let located = ConfigLocation {
        path: Some(path.to_owned()),
        source: LocationSource::Flag,
    };
    open(&located, environment, &Overrides::default())
}

/// The configuration a text says. Settings from the environment are not applied, references to it are.
pub fn parse(
    text: &str,
    environment: &Environment<'_>,
) -> Result<(Config, Vec<Warning>), ConfigError> {
    let document = document::Document::parse(text)?;
    let mut reader = reader::Reader::new(&document, environment);
    reader.check()?;
    resolve::config(reader)
}

/// What holds: the file that [`locate`] finds, or the defaults where there is none; then the
/// environment; then `flags`. References are to variables of `environment` and of the [`EnvFile`].
pub fn open(
    located: &ConfigLocation,
    environment: &Environment<'_>,
    flags: &Overrides,
) -> Result<(Config, Vec<Warning>), ConfigError> {
    let text = located.file().map(read).transpose()?;
    settle(text.as_deref().zip(located.file()), environment, flags)
}

/// What holds when the file at a path says this, or when there is none.
fn settle(
    file: Option<(&str, &Path)>,
    environment: &Environment<'_>,
    flags: &Overrides,
) -> Result<(Config, Vec<Warning>), ConfigError> {
    let variables = EnvFile::locate(file.map(|(text, _)| text), environment, flags).read()?;
    let (mut config, mut warnings) = match file {
        Some((text, path)) => {
            let (mut config, mut warnings) =
                parse(text, &environment.with_fallback(&variables.values))
                    .map_err(|error| error.in_file(path))?;
            warnings.extend(exposed_secret(path, &config));
            config.begin_at(path.parent().unwrap_or(Path::new("")));
            (config, warnings)
        }
        None => (Config::embedded(environment), Vec::new()),
    };
    warnings.extend(variables.exposed());
    Overrides::from_environment(environment)?.apply(&mut config)?;
    flags.apply(&mut config)?;
    warnings.extend(config.otlp.fill_from(environment));
    Ok((config, warnings))
}

/// A key that stands in the file itself is only as secret as the file.
fn exposed_secret(path: &Path, config: &Config) -> Option<Warning> {
    let mut keys = config.own_secrets();
    (keys.any(Secret::is_literal) && file::is_open_to_others(path)).then(|| {
        let path = path.display();
        let hint = format!("run: chmod 600 {path}; or write ${{env:NAME}} instead of the key");
        Problem::new("the file holds a key and others may read it", hint)
    })
}

/// The text of a configuration file, which may be only so large.
pub fn read(path: &Path) -> Result<String, ConfigError> {
    file::read(path, MAX_BYTES).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })
}
