//! What several kinds have: an address, headers, keys, a threshold. A key must not travel in the clear.

use std::collections::BTreeMap;
use std::net::IpAddr;

use countersign_classify::Secret as Key;

use super::Reading;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::rules::{check_header, check_url};

impl Reader<'_, '_> {
    pub(super) fn threshold(&mut self, reading: &Reading) -> Option<f32> {
        let threshold = reading.threshold?;
        if threshold > 1.0 {
            self.refuse(
                reading.at("threshold"),
                "no score is greater than 1",
                "write a number up to 1, like 0.5",
            );
        }
        Some(threshold)
    }

    /// An address. A key must not travel in the clear; text should not.
    pub(super) fn endpoint(&mut self, reading: &Reading, keyed: bool) -> Option<String> {
        let Some(url) = reading.word("endpoint") else {
            self.missing(reading, "endpoint", "its address");
            return None;
        };
        let place = reading.at("endpoint");
        self.usable(place, check_url(url))?;
        if url.contains('?') {
            self.refuse(
                place,
                "an address with a query",
                "leave it out; what is secret goes into \"api_key\" or \"headers\"",
            );
        }
        if url.starts_with("http://") && !is_here(url) {
            let message = "what tools return would be sent in the clear";
            if keyed {
                self.refuse(place, message, "write an https:// address");
            } else {
                let hint = "use https:// unless the network is your own";
                self.warn(place, Problem::new(message, hint));
            }
        }
        Some(url.to_owned())
    }

    pub(super) fn headers(&mut self, reading: &mut Reading) -> BTreeMap<String, Key> {
        let mut headers = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for (header, node) in self.members_of(reading.node, "headers") {
            if let Some(value) = self.secret(node) {
                self.usable(node, check_header(&header, &value, &seen));
                headers.insert(header.clone(), Key::new(value.expose()));
                reading
                    .secrets
                    .insert(format!("headers/{header}"), value.clone());
                seen.insert(header, value);
            }
        }
        headers
    }

    /// A key, if it is given; it is kept for `config show`.
    pub(super) fn key(&mut self, reading: &mut Reading, key: &'static str) -> Option<Key> {
        let value = self.secret(reading.member(key)?)?;
        if value.expose().is_empty() || !value.expose().bytes().all(|byte| byte.is_ascii_graphic())
        {
            self.refuse(
                reading.at(key),
                "not a key that can be sent",
                "a line break at the end of a variable is a common reason",
            );
        }
        let exposed = Key::new(value.expose());
        reading.secrets.insert(key.to_owned(), value);
        Some(exposed)
    }

    pub(super) fn missing(&mut self, reading: &Reading, key: &str, value: &str) {
        let kind = reading.word("kind").unwrap_or_default();
        let message = format!("a classifier of kind \"{kind}\" needs \"{key}\"");
        self.refuse(reading.node, message, format!("give {value}"));
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
