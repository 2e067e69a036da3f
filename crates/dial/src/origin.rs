//! The origin of an address: scheme, host and port, without the path.

use hyper::Uri;

/// One origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether it is spoken to over TLS.
    pub tls: bool,
    /// Without the brackets of a numeric address.
    pub host: String,
    /// The one that is said, or the scheme's.
    pub port: u16,
}

impl Origin {
    /// The origin of an address; nothing if it has no host, or is neither http nor https.
    pub fn from_uri(uri: &Uri) -> Option<Self> {
        let tls = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let port = authority.port_u16();
        // A port that is no number of a port is not said to be there at all.
        let says_port = authority.as_str() != host;
        let host = bare.unwrap_or(host);
        if host.is_empty() || (says_port && port.is_none()) {
            return None;
        }
        Some(Self {
            tls,
            host: host.to_owned(),
            port: port.unwrap_or(if tls { 443 } else { 80 }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        for (url, expected) in [
            ("http://a.example/mcp?x=1", Some((false, "a.example", 80))),
            ("https://a.example", Some((true, "a.example", 443))),
            ("http://[::1]:8080/m", Some((false, "::1", 8080))),
            ("ftp://a/", None),
            ("http://a:99999/", None),
            ("http://a:/", None),
            ("/mcp", None),
        ] {
            let origin = url.parse().ok().and_then(|uri| Origin::from_uri(&uri));
            let found = origin.as_ref().map(|o| (o.tls, o.host.as_str(), o.port));
            assert_eq!(found, expected, "{url}");
        }
    }
}
