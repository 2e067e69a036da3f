//! A document that `check` let through becomes a [`Config`], and settings are checked against each other.

use super::access::{check_access, check_limits};
use super::model::Config;
use super::problem::{ConfigError, Problem, Warning};
use super::public_url::{encrypted_tokens, has_public_url};
use super::reader::Reader;
use super::secret::Secret;
use super::setting::Keys;

/// The configuration that a checked file describes, and everything worth a warning.
pub(crate) fn config(mut reader: Reader<'_, '_>) -> Result<(Config, Vec<Warning>), ConfigError> {
    let mut config = Config::embedded(reader.environment);
    config.read_keys(&mut reader, 0);
    check_sizes(&mut reader, &config);
    warn_of_unused_classifiers(&mut reader, &config);
    warn_of_unused_auth(&mut reader, &config);
    check_access(&mut reader, &config);
    check_limits(&mut reader, &config);
    for (key, checked) in [
        ("require_mcp_auth", exposure(&config)),
        ("admin_key", distinct_keys(&config)),
        ("auth", has_public_url(&config)),
        ("public_url", encrypted_tokens(&config)),
        ("tls", config.tls.check()),
    ] {
        let node = reader.member(0, key).unwrap_or(0);
        reader.usable(node, checked);
    }
    if let (Some(node), Some(warning)) = (reader.member(0, "tls"), config.tls.warning()) {
        reader.warn(node, warning);
    }
    let in_order = |problem: &Problem| problem.place.as_ref().and_then(|place| place.at);
    reader.warnings.sort_by_key(in_order);
    reader.problems.sort_by_key(in_order);
    ConfigError::if_any(reader.problems)?;
    Ok((config, reader.warnings))
}

/// One message has to fit into what all of them may hold.
fn check_sizes(reader: &mut Reader<'_, '_>, config: &Config) {
    let (one, all) = (config.max_message_bytes, config.max_inflight_bytes);
    if one > all {
        let message = format!("one message may have {one} bytes and all of them only {all}");
        let hint = format!("set max_inflight_bytes to {one} or more, better to 16 times that");
        let mut places = ["max_inflight_bytes", "max_message_bytes"]
            .iter()
            .filter_map(|key| reader.member(0, key));
        let place = places.next().unwrap_or(0);
        reader.refuse(place, message, hint);
    }
}

/// A classifier that no server and no tool names is probably not what was meant.
fn warn_of_unused_classifiers(reader: &mut Reader<'_, '_>, config: &Config) {
    let lists = config.servers.iter().flat_map(|server| {
        let tools = server.tools.values();
        let tools = tools.filter_map(|tool| tool.classify.as_ref());
        server.classify.iter().chain(tools)
    });
    let used: Vec<&String> = lists.flatten().collect();
    let Some(list) = reader.member(0, "classifiers") else {
        return;
    };
    let nodes: Vec<_> = reader.tape().children(list).collect();
    for (node, classifier) in nodes.into_iter().zip(&config.classifiers) {
        if !used.contains(&&classifier.settings.name) {
            let message = "no server and no tool lets this classifier see anything";
            let hint = "put its name into \"classify\" of a server or tool";
            reader.warn(node, Problem::new(message, hint));
        }
    }
}

/// Settings for tokens that no issuer makes, and tokens where no credential is asked for, are probably not what was meant.
fn warn_of_unused_auth(reader: &mut Reader<'_, '_>, config: &Config) {
    let (auth, keyless) = (
        reader.member(0, "auth"),
        reader.member(0, "require_mcp_auth"),
    );
    let has_issuers = !config.auth.issuers.is_empty();
    if let Some(node) = auth.filter(|_| !has_issuers && config.auth.says_something()) {
        let message = "no token is accepted, because there is no issuer";
        let hint = "list an authorization server in \"issuers\", or remove \"auth\"";
        reader.warn(node, Problem::new(message, hint));
    }
    if let Some(node) = keyless.filter(|_| has_issuers && !config.require_mcp_auth) {
        let message = "clients without a token are let in too, as \"anonymous\"";
        let hint = "remove it, so that clients are asked to sign in";
        reader.warn(node, Problem::new(message, hint));
    }
}

/// The clients' key must not be the admin key.
pub(crate) fn distinct_keys(config: &Config) -> Result<(), Problem> {
    let [api, admin] =
        [&config.api_key, &config.admin_key].map(|key| key.as_ref().map(Secret::expose));
    if api.is_none() || api != admin {
        return Ok(());
    }
    let message = "the admin key is the same as api_key, so every client could change the gateway";
    let hint = "remove admin_key to have one generated";
    Err(Problem::new(message, hint))
}

/// Without a key, only this machine may be served.
pub(crate) fn exposure(config: &Config) -> Result<(), Problem> {
    let Some(exposed) = config.listen.exposed().filter(|_| !config.require_mcp_auth) else {
        return Ok(());
    };
    let message = format!("{exposed} would be open to anyone without a key");
    let hint = "set \"require_mcp_auth\": true, or listen on 127.0.0.1";
    Err(Problem::new(message, hint))
}

/// The warning that a gateway with this configuration can be reached from other machines without TLS, if it can.
pub fn exposure_warning(config: &Config) -> Option<Warning> {
    let exposed = config.listen.exposed()?;
    if config.tls.is_enabled() {
        return None;
    }
    let message = format!(
        "other machines can reach {exposed}, and keys, arguments and results cross the network without encryption"
    );
    let hint = format!(
        "set \"tls\", or listen on 127.0.0.1:{}, with a proxy that has TLS in front if others are to be served",
        exposed.port()
    );
    Some(Problem::new(message, hint))
}
