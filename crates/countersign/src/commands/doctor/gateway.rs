//! The port and the key: that a gateway can be started, or that the one that runs is ours and can be asked.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use countersign_config::Config;
use countersign_gateway::stored_api_key;
use serde_json::Value;

use super::check::Check;
use crate::files;
use crate::remote::{Remote, announced, key_for, reachable};

const CONNECT: Duration = Duration::from_secs(2);

/// What answers where our gateway would.
#[derive(Debug)]
pub(super) enum Here {
    /// Nothing answers.
    None,
    /// A gateway that takes our key.
    Ours(Remote, SocketAddr),
    /// It does not take our key: another program, or a gateway with another key.
    Stranger { at: SocketAddr, is_gateway: bool },
    /// Our gateway, by its own word, and there is no key to ask it with.
    Locked(SocketAddr),
}

impl Here {
    pub(super) fn find(config: &Config) -> Self {
        let answers = |address: &SocketAddr| TcpStream::connect_timeout(address, CONNECT).is_ok();
        let announced = announced(&config.data_dir).filter(answers);
        let Some(at) = announced.or_else(|| Some(reachable(config.listen)).filter(answers)) else {
            return Self::None;
        };
        let Some(key) = key_for(config, announced.is_some()).ok().flatten() else {
            return match announced {
                Some(at) => Self::Locked(at),
                None => Self::Stranger {
                    at,
                    is_gateway: false,
                },
            };
        };
        let asked = Remote::new(at, &key)
            .and_then(|remote| remote.get("/api/v1/status").map(|answer| (remote, answer)));
        match asked {
            Ok((remote, answer)) if answer.status == 200 && is_status(&answer.body) => {
                Self::Ours(remote, at)
            }
            other => Self::Stranger {
                at,
                is_gateway: other.is_ok_and(|(_, answer)| answer.status == 401),
            },
        }
    }
}

fn is_status(body: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    value["version"].is_string() && value["routing_mode"].is_string()
}

pub(super) fn checks(config: &Config, here: &Here, file: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![port(config, here, file)];
    if let Here::Ours(remote, _) = here {
        checks.extend(running(remote, file));
    }
    checks.extend(key(config, here));
    checks
}

/// What the gateway that runs holds, where that is not what the file says.
fn running(remote: &Remote, file: Option<&Path>) -> Vec<Check> {
    let status = remote
        .get("/api/v1/status")
        .and_then(|answer| answer.json());
    let held = status.unwrap_or_default()["config"].take();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let refused = held["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| {
            let message = text(&error["message"]).unwrap_or_default();
            let hint = text(&error["hint"]).unwrap_or_else(|| "start it again".to_owned());
            Check::error(
                "gateway",
                format!("it runs on with what held before: {message}"),
                hint,
            )
        });
    let mut checks: Vec<_> = refused.collect();
    let waiting: Vec<_> = held["needs_restart"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(text)
        .collect();
    if !waiting.is_empty() {
        let message = format!("{} changed since it was started", waiting.join(", "));
        checks.push(Check::warning(
            "gateway",
            message,
            "stop it and run: countersign serve",
        ));
    }
    let same = |path: &Path| path.canonicalize().ok();
    let other = text(&held["file"]).filter(|held| same(held.as_ref()) != file.and_then(same));
    if let Some(other) = other.filter(|held| Path::new(held).is_absolute()) {
        let message = format!("it was started from another configuration, {other}");
        checks.push(Check::warning(
            "gateway",
            message,
            format!("ask about that one: countersign doctor --config {other}"),
        ));
    }
    if checks.is_empty() {
        checks.push(Check::ok("gateway", "it holds what the configuration says"));
    }
    checks
}

fn port(config: &Config, here: &Here, file: Option<&Path>) -> Check {
    let listen = config.listen;
    match here {
        Here::Ours(_, at) => return Check::ok("port", format!("our gateway answers at {at}")),
        Here::Locked(at) => {
            return Check::ok(
                "port",
                format!("a gateway of this data directory answers at {at}"),
            );
        }
        Here::Stranger {
            at,
            is_gateway: true,
        } => {
            let message = format!("a gateway with another key answers at {at}");
            let hint = format!(
                "stop it, or name its own --config and --data-dir, or serve elsewhere: {}",
                elsewhere(listen, file)
            );
            return Check::error("port", message, hint);
        }
        Here::Stranger { .. } | Here::None => {}
    }
    match TcpListener::bind(listen) {
        Ok(_) => Check::ok("port", format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Check::error(
            "port",
            format!("another program listens on {listen}"),
            elsewhere(listen, file),
        ),
        Err(error) => Check::error(
            "port",
            format!("cannot listen on {listen}: {error}"),
            elsewhere(listen, file),
        ),
    }
}

/// The next port that is free, and how to take it.
fn elsewhere(listen: SocketAddr, file: Option<&Path>) -> String {
    let next =
        (listen.port().max(1023)..u16::MAX).map(|port| SocketAddr::new(listen.ip(), port + 1));
    let free = next
        .take(100)
        .find(|address| TcpListener::bind(address).is_ok());
    let free = free.map_or_else(|| "another address".to_owned(), |free| free.to_string());
    let whose = match file {
        Some(file) => format!(" in {}", file.display()),
        None => String::new(),
    };
    format!(
        "set \"listen\": \"{free}\"{whose}, which is free, or run: countersign serve --listen {free}"
    )
}

fn key(config: &Config, here: &Here) -> Vec<Check> {
    if config.api_key.is_some() {
        return vec![Check::ok(
            "api key",
            "from the configuration or the environment",
        )];
    }
    let path = config.data_dir.join("api_key");
    let shown = path.display();
    let used = config.data_dir.join("activity.db").exists();
    match (stored_api_key(&config.data_dir), here) {
        (Ok(Some(_)), _) => {
            let open = files::mode(&path).is_some_and(|mode| mode & 0o077 != 0);
            let told = Check::warning(
                "api key",
                format!("others may read {shown}"),
                format!("run: chmod 600 {shown}"),
            );
            vec![if open {
                told
            } else {
                Check::ok("api key", format!("in {shown}"))
            }]
        }
        (Ok(None), Here::Locked(at) | Here::Ours(_, at)) => vec![Check::error(
            "api key",
            format!("the gateway at {at} runs, and its key, {shown}, is gone"),
            format!(
                "put the key back into {shown}, or stop the gateway and run `countersign serve`: it makes a new key and shows it once"
            ),
        )],
        (Ok(None), _) if used => vec![Check::warning(
            "api key",
            format!(
                "{shown} is gone: the next start makes a new key, and clients with the old one are refused"
            ),
            format!(
                "put the old key back into {shown}, or give clients the one that `countersign serve` shows"
            ),
        )],
        (Ok(None), _) => vec![Check::ok(
            "api key",
            format!("made at the first start, into {shown}"),
        )],
        (Err(error), _) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            vec![Check::error(
                "api key",
                format!("{error}{}", cause.unwrap_or_default()),
                format!(
                    "run: rm -r {shown}   (the next `countersign serve` makes a new key), or set COUNTERSIGN_API_KEY"
                ),
            )]
        }
    }
}
