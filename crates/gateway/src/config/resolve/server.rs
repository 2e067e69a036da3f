//! One server: its name, how it is reached, and that what is said about it fits together.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use super::Resolver;
use crate::config::document::{brief, step};
use crate::config::duration;
use crate::config::model::{Protocol, Server, ToolConfig, Transport};
use crate::config::name;
use crate::config::problem::Problem;
use crate::config::raw::{RawServer, RawServers, RawTool};
use crate::config::secret::Secret;

/// Headers that belong to the connection or to the protocol.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Resolver<'_, '_> {
    pub(super) fn servers(&mut self, raw: RawServers) -> Vec<Server> {
        let mut seen = BTreeMap::new();
        let mut servers = Vec::new();
        for (ordinal, (key, server)) in raw.0.into_iter().enumerate() {
            let pointer = match &key {
                Some(key) => format!("/mcpServers{}", step(key)),
                None => format!("/mcpServers/{ordinal}"),
            };
            let Some(name) = self.name(&pointer, key, server.name.as_deref()) else {
                continue;
            };
            match seen.entry(name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(pointer.clone());
                }
                Entry::Occupied(first) => {
                    let message = format!("the name \"{name}\" is already that of {}", first.get());
                    let problem = Problem::new(None, message).hint("give each server its own");
                    self.refuse(&pointer, problem);
                }
            }
            servers.extend(self.server(&pointer, name, server));
        }
        servers
    }

    fn name(&mut self, pointer: &str, key: Option<String>, inner: Option<&str>) -> Option<String> {
        let (pointer, name) = match (key, inner) {
            (Some(key), Some(inner)) if key != inner => {
                let message = format!("\"name\" is \"{}\" here", brief(inner));
                let problem = Problem::new(None, message).hint("remove it; the key is the name");
                self.refuse(&format!("{pointer}/name"), problem);
                return None;
            }
            (Some(key), _) => (pointer.to_owned(), key),
            (None, Some(inner)) => (format!("{pointer}/name"), inner.to_owned()),
            (None, None) => {
                let problem = Problem::new(None, "a server needs a \"name\"")
                    .hint(format!("a name is {}", name::ALLOWED));
                self.refuse(pointer, problem);
                return None;
            }
        };
        if name::is_allowed(&name) {
            return Some(name);
        }
        let message = format!("\"{}\" cannot be a server's name", brief(&name));
        let hint = match name::fixed(&name) {
            Some(fixed) => format!("a name is {}; for example \"{fixed}\"", name::ALLOWED),
            None => format!("a name is {}", name::ALLOWED),
        };
        self.refuse(&pointer, Problem::new(None, message).hint(hint));
        None
    }

    fn server(&mut self, pointer: &str, name: String, raw: RawServer) -> Option<Server> {
        let enabled = self.enabled(pointer, &raw);
        let transport = self.transport(pointer, &raw, enabled)?;
        let mut server = Server::new(name, transport);
        server.enabled = enabled;
        server.timeout = raw.timeout.as_deref().and_then(duration::parse);
        if let Some(limit) = raw.max_concurrent_requests {
            server.max_concurrent_requests = limit;
        }
        if let Some(size) = raw.queue_size {
            server.queue_size = size;
        }
        let sanitisation = raw.output_sanitisation;
        self.not_yet(
            &format!("{pointer}/output_sanitisation"),
            sanitisation.is_empty(),
        );
        server.output = raw.output_validation;
        server.input = raw.input_validation;
        server.sanitisation = sanitisation;
        let tools = raw.tools.into_iter();
        server.tools = tools
            .map(|(name, tool)| {
                let tool = self.tool(&format!("{pointer}/tools{}", step(&name)), tool);
                (name, tool)
            })
            .collect();
        Some(server)
    }

    fn tool(&mut self, pointer: &str, raw: RawTool) -> ToolConfig {
        let sanitisation = raw.output_sanitisation;
        self.not_yet(
            &format!("{pointer}/output_sanitisation"),
            sanitisation.is_empty(),
        );
        self.not_yet(&format!("{pointer}/classify"), raw.classify.is_empty());
        ToolConfig {
            output: raw.output_validation,
            input: raw.input_validation,
            sanitisation,
        }
    }

    fn enabled(&mut self, pointer: &str, raw: &RawServer) -> bool {
        if let (Some(_), Some(_)) = (raw.enabled, raw.disabled) {
            self.both(pointer, "enabled", "disabled");
        }
        let enabled = raw.enabled.unwrap_or(raw.disabled != Some(true));
        // Whoever held a server back did not mean it to run because another program reads the file.
        if enabled && raw.quarantined == Value::Bool(true) {
            let warning = Problem::new(None, "quarantined, so it is not used")
                .hint("remove \"quarantined\" once you trust this server");
            self.warn(pointer, warning);
            return false;
        }
        enabled
    }

    fn both(&mut self, pointer: &str, one: &str, other: &str) {
        let message = format!("\"{one}\" and \"{other}\" are both given");
        self.refuse(
            pointer,
            Problem::new(None, message).hint(format!("keep \"{one}\"")),
        );
    }

    fn transport(&mut self, pointer: &str, raw: &RawServer, enabled: bool) -> Option<Transport> {
        if raw.protocol.is_some() && raw.kind.is_some() {
            self.both(pointer, "protocol", "type");
        }
        let protocol = raw.protocol.as_deref().or(raw.kind.as_deref());
        match (&raw.command, &raw.url, protocol) {
            (Some(command), None, None | Some("auto" | "stdio")) => {
                self.unused(
                    pointer,
                    "headers",
                    raw.headers.as_ref().is_none_or(BTreeMap::is_empty),
                );
                Some(self.stdio(pointer, raw, command, enabled))
            }
            (None, Some(url), protocol) if protocol != Some("stdio") => {
                self.unused(
                    pointer,
                    "env",
                    raw.env.as_ref().is_none_or(BTreeMap::is_empty),
                );
                self.unused(pointer, "args", raw.args.as_ref().is_none_or(Vec::is_empty));
                Some(self.http(pointer, raw, url, protocol, enabled))
            }
            (command, url, protocol) => {
                self.unreachable(pointer, command.is_some(), url.is_some(), protocol);
                None
            }
        }
    }

    fn unreachable(&mut self, pointer: &str, command: bool, url: bool, protocol: Option<&str>) {
        let (message, hint) = match (command, url) {
            (true, true) => (
                "\"command\" and \"url\" are both given".to_owned(),
                "a server is either started or connected to; keep one".to_owned(),
            ),
            (false, false) => (
                "a server needs a \"command\" or a \"url\"".to_owned(),
                "give the program to start, or the address to connect to".to_owned(),
            ),
            (command, _) => {
                let (has, needs) = if command {
                    ("command", "url")
                } else {
                    ("url", "command")
                };
                let protocol = protocol.unwrap_or("auto");
                (
                    format!(
                        "the protocol {protocol} needs a \"{needs}\", and there is a \"{has}\""
                    ),
                    format!("leave out the protocol: a \"{has}\" implies it"),
                )
            }
        };
        self.refuse(pointer, Problem::new(None, message).hint(hint));
    }

    fn unused(&mut self, pointer: &str, key: &str, absent: bool) {
        if !absent {
            let message = format!("\"{key}\" means nothing for this kind of server and is ignored");
            self.warn(&format!("{pointer}/{key}"), Problem::new(None, message));
        }
    }

    fn stdio(&mut self, pointer: &str, raw: &RawServer, command: &str, enabled: bool) -> Transport {
        if raw.working_dir.is_some() && raw.cwd.is_some() {
            self.both(pointer, "working_dir", "cwd");
        }
        let args = raw.args.clone().unwrap_or_default();
        self.command(pointer, command, &args);
        for (ordinal, arg) in args.iter().enumerate() {
            self.no_reference(&format!("{pointer}/args/{ordinal}"), arg, "env");
        }
        let mut env = BTreeMap::new();
        for (variable, text) in raw.env.iter().flatten() {
            let place = format!("{pointer}/env{}", step(variable));
            if variable.is_empty() || variable.contains(['=', '\0']) {
                self.refuse(&place, Problem::new(None, "not the name of a variable"));
            }
            if let Some(value) = self.secret(&place, text, enabled) {
                if value.expose().contains('\0') {
                    self.refuse(&place, Problem::new(None, "a variable cannot hold a NUL"));
                }
                env.insert(variable.clone(), value);
            }
        }
        let directory = raw.working_dir.as_deref().or(raw.cwd.as_deref());
        let directory = directory.map(|directory| self.environment.expand(directory));
        let working_dir = match directory.transpose() {
            Ok(working_dir) => working_dir,
            Err(why) => {
                self.refuse(&format!("{pointer}/working_dir"), Problem::new(None, why));
                None
            }
        };
        Transport::Stdio {
            command: command.to_owned(),
            args,
            env,
            working_dir,
        }
    }

    fn command(&mut self, pointer: &str, command: &str, args: &[String]) {
        let pointer = format!("{pointer}/command");
        if command.trim().is_empty() || command.contains('\0') {
            self.refuse(&pointer, Problem::new(None, "not a program"));
        } else if args.is_empty() && command.contains(' ') {
            let warning = Problem::new(None, "a program with spaces in its name and no \"args\"")
                .hint("this is not a shell line; put the arguments into \"args\"");
            self.warn(&pointer, warning);
        }
        self.no_reference(&pointer, command, "env");
    }

    fn http(
        &mut self,
        pointer: &str,
        raw: &RawServer,
        url: &str,
        protocol: Option<&str>,
        enabled: bool,
    ) -> Transport {
        let place = format!("{pointer}/url");
        self.no_reference(&place, url, "headers");
        if let Err(problem) = check_url(url) {
            self.refuse(&place, problem);
        }
        let mut headers = BTreeMap::new();
        for (header, text) in raw.headers.iter().flatten() {
            let place = format!("{pointer}/headers{}", step(header));
            if let Some(value) = self.secret(&place, text, enabled) {
                if let Err(problem) = check_header(header, &value, &headers) {
                    self.refuse(&place, problem);
                }
                headers.insert(header.clone(), value);
            }
        }
        let protocol = match protocol {
            Some("sse") => Protocol::Sse,
            _ => Protocol::StreamableHttp,
        };
        Transport::Http {
            url: url.to_owned(),
            headers,
            protocol,
        }
    }

    /// Other users of the machine can read arguments, and logs name addresses.
    fn no_reference(&mut self, pointer: &str, text: &str, instead: &str) {
        if text.contains("${env:") || text.contains("${keyring:") {
            let problem = Problem::new(None, "references are not replaced here")
                .hint(format!("put the secret into \"{instead}\""));
            self.refuse(pointer, problem);
        }
    }
}

fn check_url(url: &str) -> Result<(), Problem> {
    let hint = "write \"https://host/path\"";
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Err(Problem::new(None, "not an http:// or https:// address").hint(hint));
    };
    let authority = rest.split(['/', '?']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(
            Problem::new(None, "user and password cannot be part of the address")
                .hint("put them into \"headers\", with ${env:NAME}"),
        );
    }
    let graphic = url.bytes().all(|byte| byte.is_ascii_graphic());
    if authority.is_empty() || authority.starts_with(':') || !graphic || url.contains('#') {
        return Err(Problem::new(None, "not a complete address").hint(hint));
    }
    Ok(())
}

fn check_header(
    name: &str,
    value: &Secret,
    others: &BTreeMap<String, Secret>,
) -> Result<(), Problem> {
    let lower = name.to_ascii_lowercase();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(Problem::new(None, "not the name of a header"));
    }
    if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
        return Err(Problem::new(None, "the gateway sets this header itself").hint("remove it"));
    }
    if others.keys().any(|other| other.eq_ignore_ascii_case(name)) {
        return Err(Problem::new(None, "the header is given twice").hint("keep one"));
    }
    let fits = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    if !value.expose().bytes().all(fits) {
        return Err(
            Problem::new(None, "the value has characters a header cannot hold")
                .hint("a line break at the end of a variable is a common reason"),
        );
    }
    Ok(())
}
