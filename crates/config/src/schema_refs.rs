//! Which other documents the references of a tool's schema may lead to. Off by default, as SEP-2106 asks: without hosts
//! nothing is fetched.

use std::time::Duration;

use super::hosts::read_hosts;
use super::keys::Form;
use super::setting::keys;

keys! {
    /// Documents that a `$ref` in a tool's schema may lead to. Without `hosts` none is fetched, and such a schema cannot be
    /// enforced.
    #[block("schema_refs")]
    pub struct SchemaRefs {
        /// `false`: nothing is fetched, whatever `hosts` says.
        #[key(Form::Flag, Reload)]
        enabled: bool = true;
        /// The hosts that documents are fetched from, over https: names, with a port if it is not the usual one. There
        /// is no wildcard.
        #[key(Form::Texts, Reload)]
        hosts: Vec<String> = Vec::new(), read read_hosts;
        /// Whether a name in `hosts` may lead to loopback and private addresses, which may then be spoken to over plain
        /// http. Link-local addresses and metadata services of clouds are never connected to.
        #[key(Form::Flag, Reload)]
        allow_private: bool = false;
        /// How long fetching one document may take, connecting included.
        #[key(Form::Duration, Reload)]
        timeout: Duration = Duration::from_secs(5);
        /// The largest document, in bytes.
        #[key(Form::Number(1, 1 << 24), Reload)]
        max_bytes: usize = 256 << 10;
        /// How many documents the schemas of one server's tool list may lead to.
        #[key(Form::Number(1, 1024), Reload)]
        max_documents: usize = 16;
        /// How many documents may refer to one another in a row, counted from the schema.
        #[key(Form::Number(1, 64), Reload)]
        max_depth: usize = 4;
    }
}

impl Default for SchemaRefs {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl SchemaRefs {
    /// Whether anything is fetched at all.
    pub fn is_enabled(&self) -> bool {
        self.enabled && !self.hosts.is_empty()
    }

    /// Whether documents of this host are fetched.
    pub fn allows_host(&self, host: &str, port: u16, tls: bool) -> bool {
        let usual = if tls { 443 } else { 80 };
        let host = host.to_ascii_lowercase();
        let bracketed = if host.contains(':') {
            format!("[{host}]")
        } else {
            host
        };
        let with_port = format!("{bracketed}:{port}");
        self.hosts
            .iter()
            .any(|known| *known == with_port || (port == usual && *known == bracketed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_at_its_usual_port_or_at_the_one_that_is_named() {
        let off = SchemaRefs::default();
        assert!(!off.is_enabled() && !off.allows_host("a.example", 443, true));
        let hosts = ["a.example", "b.example:8443", "[::1]:80"];
        let refs = SchemaRefs {
            hosts: hosts.map(str::to_owned).to_vec(),
            ..off
        };
        for (host, port, tls, allowed) in [
            ("a.example", 443, true, true),
            ("A.Example", 443, true, true),
            ("a.example", 80, false, true),
            ("a.example", 8443, true, false),
            ("b.example", 8443, true, true),
            ("b.example", 443, true, false),
            ("x.a.example", 443, true, false),
            ("a.example.evil", 443, true, false),
            ("::1", 80, false, true),
            ("::1", 81, false, false),
        ] {
            assert_eq!(refs.allows_host(host, port, tls), allowed, "{host}:{port}");
        }
    }
}
