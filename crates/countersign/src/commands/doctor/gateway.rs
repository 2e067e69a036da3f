//! The port and the key: that a gateway can be started, or that the one that runs is ours and can be asked.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use countersign_config::{Config, ListenAddress};
use countersign_dial::explain;
use countersign_gateway::{check_certificate, stored_api_key};
use serde_json::Value;

use super::check::Check;
use crate::files;
use crate::json::list;
use crate::remote::{GatewayAddress, Remote, key_for, read_announcement};
use crate::report::with_cause;

/// What listens at the address of our gateway.
#[derive(Debug)]
pub(super) enum Listener {
    /// Nothing answers.
    None,
    /// A gateway that takes our key.
    OurGateway(Remote, GatewayAddress),
    /// A gateway with another key.
    OtherGateway(GatewayAddress),
    /// Another program.
    OtherProgram,
    /// A gateway announced itself in the data directory, and there is no key to ask it with.
    WithoutKey(GatewayAddress),
}

impl Listener {
    pub(super) fn find(config: &Config) -> Self {
        let announced = read_announcement(&config.data_dir).filter(GatewayAddress::answers);
        let configured = || GatewayAddress::from_config(config).filter(GatewayAddress::answers);
        let address = announced.clone().or_else(configured);
        let Some(address) = address else {
            return Self::None;
        };
        let Some(key) = key_for(config, announced.is_some()).ok().flatten() else {
            return announced.map_or(Self::OtherProgram, Self::WithoutKey);
        };
        let certificate = config.tls.cert_file.as_deref();
        let answered = Remote::new(address.clone(), &key, certificate)
            .and_then(|remote| remote.get("/api/v1/status").map(|answer| (remote, answer)));
        match answered {
            Ok((remote, answer)) if answer.status == 200 && is_status(&answer.body) => {
                Self::OurGateway(remote, address)
            }
            Ok((_, answer)) if answer.status == 401 => Self::OtherGateway(address),
            _ => Self::OtherProgram,
        }
    }
}

fn is_status(body: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    value["version"].is_string() && value["routing_mode"].is_string()
}

pub(super) fn checks(config: &Config, listener: &Listener, file: Option<&Path>) -> Vec<Check> {
    let mut checks = ports(config, listener, file);
    checks.extend(certificate(config));
    if let Listener::OurGateway(remote, _) = listener {
        checks.extend(running(remote, file));
    }
    checks.push(key(config, listener));
    checks
}

/// Where the running gateway uses something else than the file says.
fn running(remote: &Remote, file: Option<&Path>) -> Vec<Check> {
    let status = remote
        .get("/api/v1/status")
        .and_then(|answer| answer.json());
    let held = status.unwrap_or_default()["config"].take();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let refused = list(&held["errors"]).iter().map(|error| {
        let message = text(&error["message"]).unwrap_or_default();
        let message = format!("it runs on with what held before: {message}");
        let hint = text(&error["hint"]).unwrap_or_else(|| "start it again".to_owned());
        Check::error("gateway", message, hint)
    });
    let mut checks: Vec<_> = refused.collect();
    if let Some(error) = text(&held["certificate_error"]) {
        let message = format!("it goes on with the certificate before: {error}");
        let hint = "mend the files of \"tls\"; they are read again within a second";
        checks.push(Check::error("gateway", message, hint));
    }
    let waiting: Vec<_> = list(&held["needs_restart"])
        .iter()
        .filter_map(text)
        .collect();
    if !waiting.is_empty() {
        let message = format!("{} changed since it was started", waiting.join(", "));
        let hint = "stop it and run: countersign serve";
        checks.push(Check::warning("gateway", message, hint));
    }
    let same = |path: &Path| path.canonicalize().ok();
    let other = text(&held["file"]).filter(|held| same(held.as_ref()) != file.and_then(same));
    if let Some(other) = other.filter(|held| Path::new(held).is_absolute()) {
        let message = format!("it was started from another configuration, {other}");
        let hint = format!("ask about that one: countersign doctor --config {other}");
        checks.push(Check::warning("gateway", message, hint));
    }
    if checks.is_empty() {
        checks.push(Check::ok("gateway", "it holds what the configuration says"));
    }
    checks
}

/// The files of TLS, if it is set up.
fn certificate(config: &Config) -> Option<Check> {
    let (file, _) = config.tls.pair()?;
    Some(match check_certificate(&config.tls) {
        Ok(()) => Check::ok("tls", format!("{} and its key fit", file.display())),
        Err(error) => Check::error("tls", explain(&error), "see docs/guides/tls.md"),
    })
}

/// Where the gateway listens, or could.
fn ports(config: &Config, listener: &Listener, file: Option<&Path>) -> Vec<Check> {
    let places = config.listen.addresses().iter();
    let first = config.listen.tcp().next();
    match listener {
        Listener::OurGateway(_, at) => {
            vec![Check::ok("port", format!("our gateway answers at {at}"))]
        }
        Listener::WithoutKey(at) => {
            let message = format!("a gateway of this data directory answers at {at}");
            vec![Check::ok("port", message)]
        }
        Listener::OtherGateway(at) => {
            let elsewhere = first.map(|listen| free_port_hint(listen, file));
            let hint = format!(
                "stop it, or name its own --config and --data-dir, or serve elsewhere: {}",
                elsewhere.unwrap_or_default()
            );
            let message = format!("a gateway with another key answers at {at}");
            vec![Check::error("port", message, hint)]
        }
        Listener::OtherProgram | Listener::None => places
            .map(|place| match place {
                ListenAddress::Tcp(listen) => free_port(*listen, file),
                ListenAddress::Unix(_) => free_socket(&place.within(&config.data_dir)),
            })
            .collect(),
    }
}

fn free_port(listen: SocketAddr, file: Option<&Path>) -> Check {
    let message = match TcpListener::bind(listen) {
        Ok(_) => return Check::ok("port", format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            format!("another program listens on {listen}")
        }
        Err(error) => format!("cannot listen on {listen}: {error}"),
    };
    Check::error("port", message, free_port_hint(listen, file))
}

fn free_socket(place: &ListenAddress) -> Check {
    let way = GatewayAddress::choose(std::slice::from_ref(place), false);
    if way.is_some_and(|way| way.answers()) {
        let hint = "stop it, or name another path in \"listen\"";
        return Check::error("port", format!("another program listens on {place}"), hint);
    }
    Check::ok("port", format!("{place} is free"))
}

/// The next port that is free, and how to take it.
fn free_port_hint(listen: SocketAddr, file: Option<&Path>) -> String {
    let ports = (listen.port().max(1023)..u16::MAX).take(100);
    let mut next = ports.map(|port| SocketAddr::new(listen.ip(), port + 1));
    let free = next.find(|address| TcpListener::bind(address).is_ok());
    let free = free.map_or_else(|| "another address".to_owned(), |free| free.to_string());
    let place = file.map(|file| format!(" in {}", file.display()));
    let place = place.unwrap_or_default();
    format!(
        "set \"listen\": \"{free}\"{place}, which is free, or run: countersign serve --listen {free}"
    )
}

fn key(config: &Config, listener: &Listener) -> Check {
    const NAME: &str = "api key";
    if config.api_key.is_some() {
        return Check::ok(NAME, "from the configuration or the environment");
    }
    let path = config.data_dir.join("api_key");
    let shown = path.display();
    let used = config.data_dir.join("activity.db").exists();
    match (stored_api_key(&config.data_dir), listener) {
        (Ok(Some(_)), _) if files::mode(&path).is_some_and(|mode| mode & 0o077 != 0) => {
            let message = format!("others may read {shown}");
            Check::warning(NAME, message, format!("run: chmod 600 {shown}"))
        }
        (Ok(Some(_)), _) => Check::ok(NAME, format!("in {shown}")),
        (Ok(None), Listener::WithoutKey(at) | Listener::OurGateway(_, at)) => Check::error(
            NAME,
            format!("the gateway at {at} runs, and its key, {shown}, is gone"),
            format!(
                "put the key back into {shown}, or stop the gateway and run `countersign serve`: it makes a new key and shows it once"
            ),
        ),
        (Ok(None), _) if used => Check::warning(
            NAME,
            format!(
                "{shown} is gone: the next start makes a new key, and clients with the old one are refused"
            ),
            format!(
                "put the old key back into {shown}, or give clients the one that `countersign serve` shows"
            ),
        ),
        (Ok(None), _) => Check::ok(NAME, format!("made at the first start, into {shown}")),
        (Err(error), _) => Check::error(
            NAME,
            with_cause(&error),
            format!(
                "run: rm -r {shown}   (the next `countersign serve` makes a new key), or set COUNTERSIGN_API_KEY"
            ),
        ),
    }
}
