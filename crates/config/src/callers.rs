//! The callers that the file names: each with the digest of its key or the name in its certificate, its groups and its
//! rights. A key itself never stands in the file.

mod read;

use countersign_audit::Timestamp;
use countersign_inspect::{Digest, encode_hex, word_enum};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::keys::Form;
use super::setting::keys;

pub(crate) use read::check_caller_name;

/// How much of a digest is shown: enough to tell keys apart.
const SHOWN_DIGITS: usize = 8;

keys! {
    /// One caller, by a key of its own or by its certificate. See [callers](../concepts/callers.md).
    #[block("caller")]
    pub static CALLER {
        /// What it is called in records and rules, after `key:` or `cert:`: 1 to 20 of `a`-`z`, `0`-`9` and `-`. `client`
        /// and `operator` are the callers with `api_key` and `admin_key`. Required.
        #[key(Form::Text, Reload, FileOnly)]
        "name";
        /// The SHA-256 of its key, as 64 hexadecimal digits. `countersign keys add` makes a key and writes this.
        #[key(Form::Text, Reload, FileOnly)]
        "key_sha256";
        /// Instead of a key: the URI or DNS name in its client certificate.
        #[key(Form::Text, Reload, FileOnly)]
        "certificate";
        /// The groups it belongs to.
        #[key(Form::Texts, Reload, FileOnly)]
        "groups" = "[]";
        /// What it may do: `call` (use MCP), `read` (activity, events and metrics) and `manage` (every change).
        #[key(Form::Texts, Reload, FileOnly)]
        "rights" = r#"["call"]"#;
        /// When it is refused from: a time such as `2027-02-01T00:00:00Z`. Never, if not given.
        #[key(Form::Text, Reload, FileOnly)]
        "expires";
    }
}

/// A caller that the file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerConfig {
    /// Its name, without `key:` or `cert:`.
    pub name: String,
    /// How it proves who it is.
    pub credential: CallerCredential,
    /// The groups it belongs to.
    pub groups: Vec<String>,
    /// What it may do.
    pub rights: Vec<CallerRight>,
    /// When it is refused from.
    pub expires: Option<Timestamp>,
}

/// How a caller proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerCredential {
    /// By the key with this SHA-256.
    Key([u8; 32]),
    /// By a certificate with this URI or DNS name.
    Certificate(String),
}

word_enum! {
    /// Something a caller may do.
    pub enum CallerRight {
        /// Use MCP.
        Call = "call",
        /// Read activity, events and metrics.
        Read = "read",
        /// Change something.
        Manage = "manage",
    }
}

impl CallerCredential {
    /// The name that its certificate must have. Case matters in a URI and not in the name of a host, which is given in small
    /// letters. Nothing for a key.
    pub fn certificate_name(&self) -> Option<String> {
        match self {
            Self::Key(_) => None,
            Self::Certificate(name) if name.contains(':') => Some(name.clone()),
            Self::Certificate(name) => Some(name.to_ascii_lowercase()),
        }
    }
}

impl CallerConfig {
    /// What a revocation names: the SHA-256 of its key, or that of its name and the name in its certificate. A certificate that
    /// is issued again has the same name, so a caller comes back under another name only.
    pub fn revocation_digest(&self) -> [u8; 32] {
        match &self.credential {
            CallerCredential::Key(digest) => *digest,
            certificate @ CallerCredential::Certificate(_) => {
                let certificate = certificate.certificate_name().unwrap_or_default();
                // No key has a NUL in it.
                let named = ["certificate", &self.name, &certificate].join("\0");
                *Digest::sha256(named.as_bytes()).as_bytes()
            }
        }
    }

    /// Its name in records and rules.
    pub fn full_name(&self) -> String {
        let kind = match self.credential {
            CallerCredential::Key(_) => "key",
            CallerCredential::Certificate(_) => "cert",
        };
        format!("{kind}:{}", self.name)
    }

    /// The beginning of the digest of its key, which tells keys apart.
    pub fn fingerprint(&self) -> Option<String> {
        match &self.credential {
            CallerCredential::Key(digest) => {
                encode_hex(digest).get(..SHOWN_DIGITS).map(str::to_owned)
            }
            CallerCredential::Certificate(_) => None,
        }
    }
}

/// A caller as `config show` prints it.
struct ShownCaller<'a>(&'a CallerConfig);

impl Serialize for ShownCaller<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let caller = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &caller.name)?;
        if let Some(digits) = caller.fingerprint() {
            map.serialize_entry("key_sha256", &format!("[redacted, {digits}…]"))?;
        }
        if let CallerCredential::Certificate(name) = &caller.credential {
            map.serialize_entry("certificate", name)?;
        }
        map.serialize_entry("groups", &caller.groups)?;
        map.serialize_entry("rights", &caller.rights)?;
        if let Some(expires) = caller.expires {
            map.serialize_entry("expires", &expires.to_string())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(name: &str, certificate: &str) -> [u8; 32] {
        let caller = CallerConfig {
            name: name.to_owned(),
            credential: CallerCredential::Certificate(certificate.to_owned()),
            groups: Vec::new(),
            rights: Vec::new(),
            expires: None,
        };
        caller.revocation_digest()
    }

    #[test]
    fn a_revocation_names_the_caller_and_its_certificate() {
        let revoked = digest("mesh", "Agent.example.com");
        assert_eq!(revoked, digest("mesh", "agent.EXAMPLE.com"));
        assert_ne!(revoked, digest("mesh-2", "agent.example.com"));
        assert_ne!(revoked, digest("mesh", "other.example.com"));
        let uri = digest("mesh", "spiffe://example.com/agent");
        assert_ne!(uri, digest("mesh", "spiffe://example.com/Agent"));
    }
}
