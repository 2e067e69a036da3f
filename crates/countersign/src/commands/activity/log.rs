//! The activity log: the running gateway is asked for it, or the store is opened where none runs. The answer is the same
//! both ways, to the byte where it is data.

use std::io::Write;

use anyhow::Context;
use countersign_audit::{ExportFormat, Filter, Query, Reader, StoreError, Ulid};
use countersign_config::Config;
use countersign_gateway::store_options;
use serde::Serialize;
use serde_json::Value;

use super::filter::{Pairs, query_string};
use crate::remote::Remote;
use crate::report::Failure;

/// The log of one gateway.
pub(in crate::commands) enum Log {
    Running(Remote),
    Stored(Reader),
}

impl Log {
    pub(in crate::commands) fn from_config(config: &Config) -> Result<Self, Failure> {
        match Remote::find(config)? {
            Some(remote) => Ok(Self::Running(remote)),
            None => stored(config).map(Self::Stored),
        }
    }

    /// What the gateway answers at `/api/v1/PATH?PAIRS`, or what `read` gets from the store. Both have to say the same.
    pub(in crate::commands) fn query<T: Serialize>(
        &self,
        path: &str,
        pairs: &Pairs,
        read: impl FnOnce(&Reader) -> Result<T, StoreError>,
    ) -> Result<Value, Failure> {
        match self {
            Self::Running(remote) => {
                let path = format!("/api/v1/{path}?{}", query_string(pairs));
                remote.get(&path)?.json()
            }
            Self::Stored(reader) => {
                let value = serde_json::to_value(read(reader).map_err(unreadable)?);
                Ok(value.map_err(anyhow::Error::from)?)
            }
        }
    }

    /// A page of records. `asked` and `pairs` say the same.
    pub(super) fn list(&self, asked: &Query, pairs: &Pairs) -> Result<Value, Failure> {
        self.query("activity", pairs, |reader| reader.list(asked))
    }

    /// One record; nothing if there is none of this id.
    pub(super) fn show(&self, id: Ulid) -> Result<Option<Value>, Failure> {
        match self {
            Self::Running(remote) => {
                let answer = remote.get(&format!("/api/v1/activity/{id}"))?;
                if answer.status == 404 {
                    Ok(None)
                } else {
                    answer.json().map(Some)
                }
            }
            Self::Stored(reader) => {
                let stored = reader.show(id).map_err(unreadable)?;
                let value = stored.map(serde_json::to_value).transpose();
                Ok(value.map_err(anyhow::Error::from)?)
            }
        }
    }

    /// Every matching record into `out`, one after the other.
    pub(super) fn export(
        &self,
        (filter, format): (&Filter, ExportFormat),
        pairs: &Pairs,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        match self {
            Self::Running(remote) => {
                let path = format!("/api/v1/activity/export?{}", query_string(pairs));
                let mut stream = remote.stream(&path, None)?;
                let copied = std::io::copy(&mut stream, out);
                let copied = copied.context("the export broke off");
                copied.map(drop).map_err(Failure::unreachable)
            }
            Self::Stored(reader) => {
                let exported = reader.export(filter, format, out);
                exported.map(drop).map_err(unreadable)
            }
        }
    }
}

/// The store itself, whether or not a gateway runs.
pub(super) fn stored(config: &Config) -> Result<Reader, Failure> {
    Reader::open(&store_options(config)).map_err(unreadable)
}

pub(super) fn unreadable(error: StoreError) -> Failure {
    Failure::usage(error).hint("check the data directory; `countersign serve` makes one; --demo names that of `serve --demo`")
}
