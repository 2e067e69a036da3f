//! Where the server under test is: a program to start, or one HTTP address with its headers.
//! Header values are never shown, because secrets travel in them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use countersign_dial::{Origin, inheritable};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Uri, http};
use thiserror::Error;
use tokio::process::Command;

/// A server to talk to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A child process that speaks over its standard input and output.
    Stdio(Program),
    /// A Streamable HTTP endpoint.
    Http(Site),
}

impl Target {
    /// An endpoint without headers of its own.
    pub fn url(url: &str) -> Result<Self, TargetError> {
        Site::new(url, &BTreeMap::new()).map(Self::Http)
    }

    /// A program with these arguments.
    pub fn command(command: impl Into<String>, args: impl IntoIterator<Item = String>) -> Self {
        Self::Stdio(Program {
            command: command.into(),
            args: args.into_iter().collect(),
            ..Program::default()
        })
    }
}

/// How to start a child process. It sees our environment but for our own settings.
#[derive(Clone, Default)]
pub struct Program {
    /// The program, looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables on top of the environment.
    pub env: BTreeMap<String, String>,
    /// Where it starts, if not where we are.
    pub working_dir: Option<PathBuf>,
}

impl Program {
    pub(super) fn command_line(&self) -> Command {
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(inheritable())
            .envs(&self.env)
            .stderr(Stdio::piped());
        if let Some(folder) = &self.working_dir {
            command.current_dir(folder);
        }
        command
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .field("working_dir", &self.working_dir)
            .finish()
    }
}

/// An HTTP endpoint: one origin, one path, and what every request to it says.
#[derive(Clone, Debug)]
pub struct Site {
    pub(super) origin: Origin,
    pub(super) path: Uri,
    pub(super) headers: HeaderMap,
}

/// Why an address cannot be used.
#[derive(Debug, Error)]
pub enum TargetError {
    /// It cannot be read.
    #[error("the address cannot be read")]
    Uri(#[from] http::uri::InvalidUri),
    /// It lacks a host, or is neither http nor https.
    #[error("the address has no host, or is neither http nor https")]
    Incomplete,
    /// A header cannot be sent.
    #[error("the header {name:?} has a name or value that cannot be sent")]
    Header {
        /// The header's name.
        name: String,
    },
}

impl Site {
    /// Reads an address; `headers` go out with every request.
    pub fn new(url: &str, headers: &BTreeMap<String, String>) -> Result<Self, TargetError> {
        let uri: Uri = url.parse()?;
        let origin = Origin::of(&uri).ok_or(TargetError::Incomplete)?;
        let parts = uri.into_parts();
        let authority = parts.authority.ok_or(TargetError::Incomplete)?;
        let mut all = HeaderMap::new();
        let both = "application/json, text/event-stream";
        let own = HeaderValue::from_str(authority.as_str());
        all.insert(HOST, own.map_err(|_| TargetError::Incomplete)?);
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static(both));
        for (name, value) in headers {
            let header = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_bytes(value.as_bytes()),
            );
            let (Ok(key), Ok(mut value)) = header else {
                return Err(TargetError::Header { name: name.clone() });
            };
            value.set_sensitive(true);
            all.insert(key, value);
        }
        let root = PathAndQuery::from_static("/");
        Ok(Self {
            origin,
            path: Uri::from(parts.path_and_query.unwrap_or(root)),
            headers: all,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let read = |url: &str| {
            let site = Site::new(url, &BTreeMap::new()).ok()?;
            Some(format!(
                "{} {} {} {}",
                site.origin.tls, site.origin.host, site.origin.port, site.path
            ))
        };
        for (url, expected) in [
            (
                "http://a.example/mcp?x=1",
                Some("false a.example 80 /mcp?x=1"),
            ),
            ("https://a.example", Some("true a.example 443 /")),
            ("http://[::1]:8080/m", Some("false ::1 8080 /m")),
            ("ftp://a/", None),
            ("http://a:99999/", None),
            ("/mcp", None),
        ] {
            assert_eq!(read(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = BTreeMap::from([("authorization".to_owned(), "s3cret".to_owned())]);
        let site = Site::new("http://a/", &secret).expect("an address");
        let program = Program {
            env: secret,
            ..Program::default()
        };
        assert_eq!(site.headers["authorization"], "s3cret");
        assert!(!format!("{site:?}{program:?}").contains("s3cret"));
    }
}
