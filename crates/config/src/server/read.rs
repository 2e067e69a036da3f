//! Reads servers: their names, and whether they are used.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_inspect::Era;
use countersign_tape::Kind;

use super::Server;
use crate::document::brief;
use crate::isolation::Isolation;
use crate::name;
use crate::oauth::OAuthCredentials;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::setting::Keys;
use crate::transport::{Protocol, Transport};

impl Reader<'_, '_> {
    /// The servers of an array, or of an object by their names.
    pub(super) fn servers(&mut self, node: u32) -> Vec<Server> {
        let listed: Vec<(Option<String>, u32)> = if self.tape().node(node).kind() == Kind::Array {
            self.tape()
                .children(node)
                .map(|server| (None, server))
                .collect()
        } else {
            let members = self.members(node).into_iter();
            members.map(|(key, server)| (Some(key), server)).collect()
        };
        let mut places = BTreeMap::new();
        let mut named = Vec::new();
        for (key, server) in listed {
            let Some(name) = self.name(server, key) else {
                continue;
            };
            match places.entry(name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(server);
                    named.push((server, name));
                }
                Entry::Occupied(first) => {
                    let (name, first) = (brief(&name), self.tape().pointer(*first.get()));
                    let message = format!("the name \"{name}\" is already that of {first}");
                    self.refuse(server, message, "give each server its own");
                }
            }
        }
        let names = name::assign(&places.keys().map(String::as_str).collect());
        let named = named.into_iter();
        let servers = named.filter_map(|(node, written)| {
            let name = names.get(&written)?.clone();
            let mut server = self.server(node, name)?;
            if server.name != written {
                self.warn_of_rename(node, &written, &server.name);
                server.configured_name = Some(written);
            }
            Some(server)
        });
        servers.collect()
    }

    fn warn_of_rename(&mut self, node: u32, written: &str, name: &str) {
        let written = brief(written);
        let message = format!(
            "\"{written}\" does not fit into tool names, so this server is called \"{name}\""
        );
        let hint = format!("to choose another name, write {}", name::ALLOWED);
        self.warn(node, Problem::new(message, hint));
    }

    /// The name that the file gives a server.
    fn name(&mut self, node: u32, key: Option<String>) -> Option<String> {
        let inner = self.text_of(node, "name");
        let place = self.member(node, "name").unwrap_or(node);
        let (place, name) = match (key, inner) {
            (Some(key), Some(inner)) if key != inner => {
                let message = format!("\"name\" is \"{}\" here", brief(&inner));
                self.refuse(place, message, "remove it; the key is the name");
                return None;
            }
            (Some(key), _) => (node, key),
            (None, inner) => (place, inner.unwrap_or_default()),
        };
        if !name.is_empty() {
            return Some(name);
        }
        self.refuse(
            place,
            "a server needs a \"name\"",
            format!("a name is {}", name::ALLOWED),
        );
        None
    }

    fn server(&mut self, node: u32, name: String) -> Option<Server> {
        let enabled = self.enabled(node);
        self.unset_references.clear();
        let transport = self.transport(node, enabled)?;
        let mut server = Server::new(name, transport);
        server.read_keys(self, node);
        self.check_era(node, &server);
        self.check_oauth(node, &server);
        server.enabled = enabled;
        server.unset_references = std::mem::take(&mut self.unset_references);
        Some(server)
    }

    fn check_era(&mut self, node: u32, server: &Server) {
        let is_sse = matches!(
            server.transport,
            Transport::Http {
                protocol: Protocol::Sse,
                ..
            }
        );
        if is_sse
            && server.era == Some(Era::Modern)
            && let Some(era) = self.member(node, "era")
        {
            let message = "the protocol sse has no modern era";
            self.refuse(era, message, "remove \"era\"");
        }
    }

    fn check_oauth(&mut self, node: u32, server: &Server) {
        let (Some(oauth), Some(node)) = (&server.oauth, self.member(node, "oauth")) else {
            return;
        };
        let checked = match &server.transport {
            Transport::Stdio { .. } => Err(Problem::new(
                "\"oauth\" is for a server with a \"url\"",
                "give the program its secret in \"env\", or give a \"url\" instead of the \"command\"",
            )),
            Transport::Http { .. }
                if oauth.credentials == OAuthCredentials::Caller
                    && server.isolation == Some(Isolation::Shared) =>
            {
                Err(Problem::new(
                    "\"credentials\": \"caller\" beside \"isolation\": \"shared\"",
                    "remove \"isolation\": a session belongs to the caller whose token opened it",
                ))
            }
            Transport::Http { url, headers, .. } => oauth.check(url, headers.keys()),
        };
        self.usable(node, checked);
    }

    fn enabled(&mut self, node: u32) -> bool {
        let flag = |key: &str| Some(self.flag(self.member(node, key)?));
        let [enabled, disabled, quarantined] = ["enabled", "disabled", "quarantined"].map(flag);
        if enabled.is_some() && disabled.is_some() {
            self.refuse_both(node, "enabled", "disabled");
        }
        let enabled = enabled.unwrap_or(disabled != Some(true));
        // An operator who held a server back did not mean it to run because another program reads the file.
        if enabled && quarantined == Some(true) {
            self.warn(
                node,
                Problem::new(
                    "quarantined, so it is not used",
                    "remove \"quarantined\" once you trust this server",
                ),
            );
            return false;
        }
        enabled
    }
}
