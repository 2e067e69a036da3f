//! One server: its name, whether it is used, its limits and its tools.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Resolver;
use crate::config::document::{brief, step};
use crate::config::duration;
use crate::config::model::{Profile, Server, ToolConfig};
use crate::config::name;
use crate::config::problem::Problem;
use crate::config::raw::{RawServer, RawServers, RawTool};

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
        self.sanitisation(&format!("{pointer}/output_sanitisation"), &sanitisation);
        server.profile = raw.profile.as_deref().and_then(Profile::parse);
        server.output = raw.output_validation;
        server.input = raw.input_validation;
        server.sanitisation = sanitisation;
        server.classify = self.allowed(pointer, raw.classify);
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
        self.sanitisation(&format!("{pointer}/output_sanitisation"), &sanitisation);
        ToolConfig {
            classify: self.allowed(pointer, raw.classify),
            free_text: raw.free_text,
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
        if enabled && raw.quarantined == Some(true) {
            let warning = Problem::new(None, "quarantined, so it is not used")
                .hint("remove \"quarantined\" once you trust this server");
            self.warn(pointer, warning);
            return false;
        }
        enabled
    }

    pub(super) fn both(&mut self, pointer: &str, one: &str, other: &str) {
        let message = format!("\"{one}\" and \"{other}\" are both given");
        self.refuse(
            pointer,
            Problem::new(None, message).hint(format!("keep \"{one}\"")),
        );
    }
}
