//! One server: its name, whether it is used, its limits and its tools.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_inspect::Era;

use super::Resolver;
use crate::document::{brief, step};
use crate::duration;
use crate::model::{Profile, Protocol, Server, ToolConfig, Transport};
use crate::name;
use crate::problem::Problem;
use crate::raw::{RawServer, RawServers, RawTool};

impl Resolver<'_, '_> {
    pub(super) fn servers(&mut self, raw: RawServers) -> Vec<Server> {
        let mut places = BTreeMap::new();
        let mut named = Vec::new();
        for (ordinal, (key, server)) in raw.0.into_iter().enumerate() {
            let pointer = match &key {
                Some(key) => format!("/mcpServers{}", step(key)),
                None => format!("/mcpServers/{ordinal}"),
            };
            let Some(name) = self.name(&pointer, key, server.name.as_deref()) else {
                continue;
            };
            match places.entry(name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(pointer.clone());
                    named.push((pointer, name, server));
                }
                Entry::Occupied(first) => {
                    let (name, first) = (brief(&name), first.get());
                    let message = format!("the name \"{name}\" is already that of {first}");
                    let problem = Problem::new(None, message).hint("give each server its own");
                    self.refuse(&pointer, problem);
                }
            }
        }
        let names = name::assign(&places.keys().map(String::as_str).collect());
        let named = named.into_iter();
        let servers = named.filter_map(|(pointer, written, raw)| {
            let name = names.get(&written)?.clone();
            let mut server = self.server(&pointer, name, raw)?;
            if server.name != written {
                self.warn_of_rename(&pointer, &written, &server.name);
                server.configured_name = Some(written);
            }
            Some(server)
        });
        servers.collect()
    }

    fn warn_of_rename(&mut self, pointer: &str, written: &str, name: &str) {
        let written = brief(written);
        let message = format!(
            "\"{written}\" does not fit into tool names, so this server is called \"{name}\""
        );
        let hint = format!("to choose another name, write {}", name::ALLOWED);
        self.warn(pointer, Problem::new(None, message).hint(hint));
    }

    /// The name that the file gives a server.
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
            (None, None) => (pointer.to_owned(), String::new()),
        };
        if !name.is_empty() {
            return Some(name);
        }
        let problem = Problem::new(None, "a server needs a \"name\"")
            .hint(format!("a name is {}", name::ALLOWED));
        self.refuse(&pointer, problem);
        None
    }

    fn server(&mut self, pointer: &str, name: String, raw: RawServer) -> Option<Server> {
        let enabled = self.enabled(pointer, &raw);
        self.unset_references.clear();
        let transport = self.transport(pointer, &raw, enabled)?;
        let mut server = Server::new(name, transport);
        // `auto` is the word of no era.
        server.era = raw.era.as_deref().and_then(|word| word.parse().ok());
        self.check_era(pointer, &server);
        server.enabled = enabled;
        server.unset_references = std::mem::take(&mut self.unset_references);
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

    fn check_era(&mut self, pointer: &str, server: &Server) {
        let is_sse = matches!(
            server.transport,
            Transport::Http {
                protocol: Protocol::Sse,
                ..
            }
        );
        if is_sse && server.era == Some(Era::Modern) {
            let message = "the protocol sse has no modern era";
            let problem = Problem::new(None, message).hint("remove \"era\"");
            self.refuse(&format!("{pointer}/era"), problem);
        }
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
