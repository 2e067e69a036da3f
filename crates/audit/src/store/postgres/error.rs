//! What can go wrong with PostgreSQL, and whether trying again may help.

use std::time::Duration;

use thiserror::Error;
use tokio_postgres::error::SqlState;

/// PostgreSQL could not do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL cannot be used.
    #[error("{0}")]
    Address(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be used: {0}")]
    Tls(String),
    /// No answer in time.
    #[error("PostgreSQL did not answer within {0:?}")]
    Timeout(Duration),
    /// The server, or the way to it, failed. The text has everything that the driver says, so that is no further cause.
    #[error("{}", describe(.0))]
    Database(tokio_postgres::Error),
    /// The runtime of a connection could not be started.
    #[error("cannot start the runtime of a connection: {0}")]
    Runtime(#[source] std::io::Error),
    /// A row does not hold what it must.
    #[error("a stored value has the wrong form: {0}")]
    Value(&'static str),
    /// The tables are older than this program needs, and this user may not change them.
    #[error("{}; run `countersign store migrate URL` as the owner of its tables", describe_format(*.found, *.needed))]
    Older {
        /// The format found; 0 where there are no tables.
        found: i32,
        /// The format needed.
        needed: i32,
    },
    /// A newer version has changed the tables so that this one must not write.
    #[error("the database takes writers of format {needed} or later; this program has {known}")]
    TooOld {
        /// The oldest format that may write.
        needed: i32,
        /// This program's.
        known: i32,
    },
}

/// The driver says "db error" and hides the server's words behind `source`.
fn describe(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(server), _) => format!("{} ({})", server.message(), server.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

fn describe_format(found: i32, needed: i32) -> String {
    match found {
        0 => {
            "the database has no tables of Countersign, and this user may not make them".to_owned()
        }
        _ => format!("the database has format {found} and this program needs {needed}"),
    }
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl PostgresError {
    fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Database(error) => error.code(),
            _ => None,
        }
    }

    /// The statement can never succeed, whatever the state of the server: the values in it are at fault.
    pub(in crate::store) fn is_hopeless(&self) -> bool {
        let class = self.code().map(|code| code.code().get(..2));
        matches!(class.flatten(), Some("22" | "23" | "54")) && !self.is_missing_day()
    }

    /// No partition takes the row: its day has not been made.
    pub(super) fn is_missing_day(&self) -> bool {
        self.code() == Some(&SqlState::CHECK_VIOLATION)
    }

    /// The server has no room left.
    pub(in crate::store) fn is_full(&self) -> bool {
        self.code() == Some(&SqlState::DISK_FULL)
    }

    /// This user may not do that.
    pub(super) fn is_forbidden(&self) -> bool {
        self.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }
}
