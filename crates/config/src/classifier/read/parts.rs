//! What several kinds have: an address, headers, keys, a threshold. A key must not travel in the clear.

use std::collections::BTreeMap;
use std::net::IpAddr;

use countersign_classify::Secret as Key;

use super::Reading;
use crate::rules::{check_header, check_url};

impl Reading<'_, '_, '_> {
    pub(super) fn threshold(&mut self) -> Option<f32> {
        let threshold = self.number("threshold")?;
        if threshold > 1.0 {
            let hint = "write a number up to 1, like 0.5";
            self.refuse("threshold", "no score is greater than 1", hint);
        }
        Some(threshold)
    }

    /// An address. A key must not travel in the clear; text should not.
    pub(super) fn endpoint(&mut self, keyed: bool) -> Option<String> {
        const KEY: &str = "endpoint";
        let Some(url) = self.word(KEY) else {
            return self.missing(KEY, "its address");
        };
        let place = self.place(KEY);
        self.reader.usable(place, check_url(&url))?;
        if url.contains('?') {
            let hint = "leave it out; what is secret goes into \"api_key\" or \"headers\"";
            self.refuse(KEY, "an address with a query", hint);
        }
        if url.starts_with("http://") && !is_here(&url) {
            let message = "what tools return would be sent in the clear";
            if keyed {
                self.refuse(KEY, message, "write an https:// address");
            } else {
                self.warn(KEY, message, "use https:// unless the network is your own");
            }
        }
        Some(url)
    }

    pub(super) fn headers(&mut self) -> BTreeMap<String, Key> {
        let mut headers = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for (header, node) in self.reader.members_of(self.node, "headers") {
            if let Some(value) = self.reader.secret(node) {
                let checked = check_header(&header, &value, &seen);
                self.reader.usable(node, checked);
                headers.insert(header.clone(), Key::new(value.expose()));
                let key = format!("headers/{header}");
                self.secrets.insert(key, value.clone());
                seen.insert(header, value);
            }
        }
        headers
    }

    /// A key, if it is given; it is kept for `config show`.
    pub(super) fn key(&mut self, key: &'static str) -> Option<Key> {
        let value = self.reader.secret(self.member(key)?)?;
        if value.expose().is_empty() || !value.expose().bytes().all(|byte| byte.is_ascii_graphic())
        {
            let hint = "a line break at the end of a variable is a common reason";
            self.refuse(key, "not a key that can be sent", hint);
        }
        let exposed = Key::new(value.expose());
        self.secrets.insert(key.to_owned(), value);
        Some(exposed)
    }
}

/// Whether an address is on this machine.
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
