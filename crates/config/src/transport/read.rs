//! Reads how a server is reached, and checks that everything said about it belongs to that way. Starts and connects nothing.

use std::collections::BTreeMap;

use super::{Protocol, Transport};
use crate::problem::Problem;
use crate::reader::Reader;
use crate::rules::{check_header, check_url};
use crate::secret::Secret;

impl Reader<'_, '_> {
    /// How the server at `node` is reached, if that is clear.
    pub(crate) fn transport(&mut self, node: u32, enabled: bool) -> Option<Transport> {
        let [protocol, kind] = ["protocol", "type"].map(|key| self.text_of(node, key));
        if protocol.is_some() && kind.is_some() {
            self.refuse_both(node, "protocol", "type");
        }
        let protocol = protocol.or(kind);
        let [command, url] = ["command", "url"].map(|key| self.member(node, key));
        match (command, url, protocol.as_deref()) {
            (Some(command), None, None | Some("auto" | "stdio")) => {
                self.warn_of_unused(node, &["headers"]);
                Some(self.stdio(node, command, enabled))
            }
            (None, Some(url), protocol) if protocol != Some("stdio") => {
                self.warn_of_unused(node, &["env", "args"]);
                Some(self.http(node, url, protocol, enabled))
            }
            (command, url, protocol) => {
                self.refuse_unreachable(node, command.is_some(), url.is_some(), protocol);
                None
            }
        }
    }

    fn refuse_unreachable(&mut self, node: u32, command: bool, url: bool, protocol: Option<&str>) {
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
        self.refuse(node, message, hint);
    }

    fn warn_of_unused(&mut self, node: u32, keys: &[&str]) {
        for key in keys {
            if let Some(value) = self.member(node, key)
                && self.tape().node(value).count() > 0
            {
                let message =
                    format!("\"{key}\" means nothing for this kind of server and is ignored");
                self.warn(value, Problem::without_hint(message));
            }
        }
    }

    fn stdio(&mut self, node: u32, command: u32, enabled: bool) -> Transport {
        let [working_dir, cwd] = ["working_dir", "cwd"].map(|key| {
            let is_given = self.text_of(node, key).is_some();
            self.member(node, key).filter(|_| is_given)
        });
        if working_dir.is_some() && cwd.is_some() {
            self.refuse_both(node, "working_dir", "cwd");
        }
        let args = self.member(node, "args");
        let args = args.map_or_else(Vec::new, |args| self.tape().children(args).collect());
        self.check_command(command, &args);
        for arg in &args {
            self.refuse_reference(*arg, "env");
        }
        Transport::Stdio {
            command: self.text(command),
            args: args.into_iter().map(|arg| self.text(arg)).collect(),
            env: self.env(node, enabled),
            working_dir: working_dir.or(cwd).and_then(|path| self.path(path)),
        }
    }

    fn env(&mut self, node: u32, enabled: bool) -> BTreeMap<String, Secret> {
        let mut env = BTreeMap::new();
        for (variable, node) in self.members_of(node, "env") {
            if variable.is_empty() || variable.contains(['=', '\0']) {
                self.refuse(
                    node,
                    "not the name of a variable",
                    "a name is not empty and has no = in it",
                );
            }
            if let Some(value) = self.server_secret(node, enabled) {
                if value.expose().contains('\0') {
                    self.refuse(
                        node,
                        "a variable cannot hold a NUL character",
                        "look at where the value comes from",
                    );
                }
                env.insert(variable, value);
            }
        }
        env
    }

    fn check_command(&mut self, node: u32, args: &[u32]) {
        let command = self.text(node);
        if command.trim().is_empty() || command.contains('\0') {
            self.refuse(
                node,
                "not a program",
                "write the name of a program or a path to one",
            );
        } else if args.is_empty() && command.contains(' ') {
            self.warn(
                node,
                Problem::new(
                    "a program with spaces in its name and no \"args\"",
                    "this is not a shell line; put the arguments into \"args\"",
                ),
            );
        }
        self.refuse_reference(node, "env");
    }

    fn http(&mut self, node: u32, url: u32, protocol: Option<&str>, enabled: bool) -> Transport {
        self.refuse_reference(url, "headers");
        let text = self.text(url);
        self.usable(url, check_url(&text));
        let mut headers = BTreeMap::new();
        for (header, node) in self.members_of(node, "headers") {
            if let Some(value) = self.server_secret(node, enabled) {
                self.usable(node, check_header(&header, &value, &headers));
                headers.insert(header, value);
            }
        }
        Transport::Http {
            url: text,
            headers,
            protocol: match protocol {
                Some("sse") => Protocol::Sse,
                _ => Protocol::StreamableHttp,
            },
        }
    }

    /// Other users of the machine can read arguments, and logs name addresses.
    fn refuse_reference(&mut self, node: u32, instead: &str) {
        let text = self.text(node);
        if text.contains("${env:") || text.contains("${keyring:") {
            self.refuse(
                node,
                "references are not replaced here",
                format!("put the secret into \"{instead}\""),
            );
        }
    }

    /// Two keys that mean the same are both given.
    pub(crate) fn refuse_both(&mut self, node: u32, one: &str, other: &str) {
        let message = format!("\"{one}\" and \"{other}\" are both given");
        self.refuse(node, message, format!("keep \"{one}\""));
    }
}
