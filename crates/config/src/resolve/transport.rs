//! How one server is reached: as a child process or over HTTP, and that everything said about it
//! belongs to that way. Starts and connects nothing.

use std::collections::BTreeMap;

use super::Resolver;
use crate::document::step;
use crate::model::{Protocol, Transport};
use crate::problem::Problem;
use crate::raw::RawServer;
use crate::secret::Secret;

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
    pub(super) fn transport(
        &mut self,
        pointer: &str,
        raw: &RawServer,
        enabled: bool,
    ) -> Option<Transport> {
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
                self.refuse(
                    &place,
                    Problem::new(None, "not the name of a variable")
                        .hint("a name is not empty and has no = in it"),
                );
            }
            if let Some(value) = self.server_secret(&place, text, enabled) {
                if value.expose().contains('\0') {
                    self.refuse(
                        &place,
                        Problem::new(None, "a variable cannot hold a NUL character")
                            .hint("look at where the value comes from"),
                    );
                }
                env.insert(variable.clone(), value);
            }
        }
        let working_dir = match (&raw.working_dir, &raw.cwd) {
            (Some(directory), _) => self.path(&format!("{pointer}/working_dir"), directory),
            (None, Some(directory)) => self.path(&format!("{pointer}/cwd"), directory),
            (None, None) => None,
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
            let problem = Problem::new(None, "not a program")
                .hint("write the name of a program or a path to one");
            self.refuse(&pointer, problem);
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
            if let Some(value) = self.server_secret(&place, text, enabled) {
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

pub(super) fn check_url(url: &str) -> Result<(), Problem> {
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

pub(super) fn check_header(
    name: &str,
    value: &Secret,
    others: &BTreeMap<String, Secret>,
) -> Result<(), Problem> {
    let lower = name.to_ascii_lowercase();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(Problem::new(None, "not the name of a header")
            .hint("a name is letters, digits and -, without spaces or colon"));
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
