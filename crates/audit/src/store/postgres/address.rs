//! `Address`: where a PostgreSQL store is, read from its URL.
//!
//! The driver knows no `sslmode=verify-full`, so `sslmode` and `sslrootcert` are read here. A connection is encrypted and
//! the server's certificate is verified unless the URL says `sslmode=disable`, which is refused for other machines: an
//! attacker on the network could read the records and change them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::error::PostgresError;
use super::tls::{self, Connector};

/// How long one host may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long sent data may stay unacknowledged before the connection counts as dead.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);
const IDLE_BEFORE_PROBES: Duration = Duration::from_secs(15);

/// Where a store is, and how to get there. Never shows its password.
#[derive(Clone)]
pub(crate) struct Address {
    config: Config,
    /// `None`: without encryption.
    connector: Option<Connector>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address")
            .field("hosts", &self.config.get_hosts())
            .field("database", &self.config.get_dbname())
            .field("encrypted", &self.connector.is_some())
            .finish_non_exhaustive()
    }
}

impl Address {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn connector(&self) -> Option<&Connector> {
        self.connector.as_ref()
    }
}

/// Checks a URL without connecting: `postgres://user@host/database`, with the parameters of libpq that the driver knows.
pub fn check_postgres_url(url: &str) -> Result<(), String> {
    let checked = UrlParts::parse(url).and_then(|parts| parts.config().map(drop));
    checked.map_err(|error| error.to_string())
}

impl FromStr for Address {
    type Err = PostgresError;

    fn from_str(url: &str) -> Result<Self, PostgresError> {
        let parts = UrlParts::parse(url)?;
        let mut config = parts.config()?;
        let is_encrypted = parts.mode == Mode::Verify && !only_sockets(&config);
        config.ssl_mode(if is_encrypted {
            SslMode::Require
        } else {
            SslMode::Disable
        });
        config.connect_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(IDLE_BEFORE_PROBES);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_application_name().is_none() {
            config.application_name("countersign");
        }
        let connector = is_encrypted.then(|| tls::connector(parts.root.as_deref()));
        Ok(Self {
            config,
            connector: connector.transpose()?,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Verify,
    Disable,
}

/// A URL taken apart: what the driver reads, and what is read here.
struct UrlParts {
    rest: String,
    mode: Mode,
    root: Option<Arc<PathBuf>>,
}

impl UrlParts {
    fn parse(url: &str) -> Result<Self, PostgresError> {
        let (before, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut kept) = (Mode::Verify, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => mode = parse_mode(value)?,
                "sslrootcert" => root = Some(Arc::new(PathBuf::from(decode_percent(value)?))),
                _ => kept.push(pair),
            }
        }
        let mut rest = before.to_owned();
        if !kept.is_empty() {
            rest.push('?');
            rest.push_str(&kept.join("&"));
        }
        Ok(Self { rest, mode, root })
    }

    fn config(&self) -> Result<Config, PostgresError> {
        // The driver's error may repeat a part of the URL, so its text is not passed on.
        let config: Config = self.rest.parse().map_err(|_| {
            let why = "not a PostgreSQL URL; write postgres://user:password@host:5432/database";
            PostgresError::Address(why.to_owned())
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(PostgresError::Address("the URL names no host".to_owned()));
        }
        if self.mode == Mode::Disable && !is_local(&config) {
            let why = "sslmode=disable is allowed for this machine only: loopback addresses and Unix sockets";
            return Err(PostgresError::Address(why.to_owned()));
        }
        Ok(config)
    }
}

fn parse_mode(word: &str) -> Result<Mode, PostgresError> {
    match word {
        // libpq's `require` verifies nothing. Here every encrypted connection is verified.
        "require" | "verify-ca" | "verify-full" => Ok(Mode::Verify),
        "disable" => Ok(Mode::Disable),
        _ => {
            let why = "sslmode must be verify-full (the default) or disable";
            Err(PostgresError::Address(why.to_owned()))
        }
    }
}

fn decode_percent(text: &str) -> Result<String, PostgresError> {
    let wrong = || PostgresError::Address("sslrootcert is not a path".to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next(), rest.next()];
            let digit = |at: usize| char::from(digits[at]?).to_digit(16);
            let value = digit(0).zip(digit(1)).map(|(high, low)| high << 4 | low);
            bytes.push(u8::try_from(value.ok_or_else(wrong)?).map_err(|_| wrong())?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Whether no packet leaves this machine. An address wins over the name beside it.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|address: IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    })
}

/// PostgreSQL encrypts no Unix sockets.
fn only_sockets(config: &Config) -> bool {
    config.get_hostaddrs().is_empty()
        && config
            .get_hosts()
            .iter()
            .all(|host| matches!(host, Host::Unix(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(url: &str) -> Result<bool, String> {
        let address: Result<Address, _> = url.parse();
        address
            .map(|address| address.connector().is_some())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn other_machines_are_reached_over_verified_tls_only() {
        assert_eq!(encrypted("postgres://ada:pw@localhost/x"), Ok(true));
        for local in ["localhost", "127.0.0.1", "%2Ftmp%2Fpg", "[::1]"] {
            let url = format!("postgres://ada:pw@{local}/x?sslmode=disable");
            assert_eq!(encrypted(&url), Ok(false), "{url}");
        }
        assert_eq!(encrypted("postgres://ada@%2Ftmp%2Fpg/x"), Ok(false));
        for remote in [
            "postgres://ada:secret@db.example/x?sslmode=disable",
            "postgres://ada:secret@localhost,db.example/x?sslmode=disable",
            "postgres://ada:secret@localhost/x?hostaddr=10.0.0.1&sslmode=disable",
            "postgres://ada:secret@db.example/x?sslmode=prefer",
            "postgres:///x",
            "postgres://ada:secret@db.example/x?colour=blue",
        ] {
            let error = encrypted(remote).expect_err(remote);
            assert!(!error.contains("secret"), "{error}");
            assert!(check_postgres_url(remote).is_err(), "{remote}");
        }
    }

    #[test]
    fn a_root_certificate_that_is_not_there_is_named() {
        let error = encrypted("postgres://ada@db.example/x?sslrootcert=%2Fnot%2Fthere.pem");
        let error = error.expect_err("refused");
        assert!(error.contains("/not/there.pem"), "{error}");
        check_postgres_url("postgres://ada@db.example/x?sslrootcert=%2Fnot%2Fthere.pem")
            .expect("the file is looked for later");
    }

    #[test]
    fn a_password_is_never_shown() {
        let address: Address = "postgres://ada:secret@localhost/x?sslmode=disable"
            .parse()
            .expect("an address");
        assert!(!format!("{address:?}").contains("secret"), "{address:?}");
    }
}
