//! How one server is reached: as a child process or over HTTP.

mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use countersign_audit::Redactor;
use countersign_inspect::word_enum;
use serde::ser::{SerializeMap, Serializer};

use super::mask::{shown_args, shown_url, shown_values};
use super::secret::Secret;

/// What `protocol` may be.
pub(crate) const PROTOCOLS: &[&str] = &["auto", "stdio", "streamable-http", "http", "sse"];

/// How a server is reached. `Debug` is without what may be secret.
#[derive(Clone)]
pub enum Transport {
    /// A child process.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables beside the few every child gets.
        env: BTreeMap<String, Secret>,
        /// Where it runs, if not where the gateway does.
        working_dir: Option<PathBuf>,
    },
    /// Over HTTP.
    Http {
        /// Where: `http://` or `https://`. May hold a secret in its query.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, Secret>,
        /// Which transport.
        protocol: Protocol,
    },
}

word_enum! {
    /// Which HTTP transport a server speaks.
    #[derive(Default)]
    pub enum Protocol {
        /// Streamable HTTP, in either era.
        #[default]
        StreamableHttp = "streamable-http",
        /// The transport before it: a GET stream and a POST address.
        Sse = "sse",
    }
}

impl Transport {
    /// What of it must not be shown, by name: the variables of a child process, or headers.
    pub fn secrets(&self) -> &BTreeMap<String, Secret> {
        match self {
            Self::Stdio { env, .. } => env,
            Self::Http { headers, .. } => headers,
        }
    }

    /// Adds its keys to what `config show` prints of a server.
    pub(crate) fn show<M: SerializeMap>(
        &self,
        redactor: &Redactor,
        map: &mut M,
    ) -> Result<(), M::Error> {
        match self {
            Self::Stdio {
                command,
                args,
                env,
                working_dir,
            } => {
                map.serialize_entry("command", command)?;
                map.serialize_entry("args", &shown_args(args, redactor))?;
                map.serialize_entry("env", &shown_values(env))?;
                map.serialize_entry("working_dir", working_dir)?;
                map.serialize_entry("protocol", "stdio")
            }
            Self::Http {
                url,
                headers,
                protocol,
            } => {
                map.serialize_entry("url", &shown_url(url))?;
                map.serialize_entry("headers", &shown_values(headers))?;
                map.serialize_entry("protocol", protocol)
            }
        }
    }

    /// Whether a server reached like this need not be reached anew.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Everything that decides how a server is reached, secrets included. Both sides of a comparison come from files of
    /// the same owner, so it need not take constant time.
    fn identity(&self) -> impl PartialEq {
        let (protocol, target, args, folder) = match self {
            Self::Stdio {
                command,
                args,
                working_dir,
                env: _,
            } => (None, command, args.as_slice(), working_dir.as_deref()),
            Self::Http {
                url,
                protocol,
                headers: _,
            } => (Some(*protocol), url, [].as_slice(), None),
        };
        let secrets = self.secrets().iter();
        let exposed = secrets.map(|(name, secret)| (name.as_str(), secret.expose()));
        (protocol, target, args, folder, exposed.collect::<Vec<_>>())
    }
}

/// As `config show` prints it.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        let mut to = serde_json::Serializer::new(&mut json);
        let shown = to.serialize_map(None).and_then(|mut map| {
            self.show(&Redactor::default(), &mut map)?;
            map.end()
        });
        shown.map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&json))
    }
}
