//! The activity log, wherever it can be read: the running gateway is asked, or the store is opened where none runs.
//! Either way the answer is the same, to the byte where it is data.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use countersign_audit::{
    ExportFormat, Filter, GroupBy, Query, Reader, StoreError, Timestamp, Ulid,
};
use countersign_config::Config;
use countersign_gateway::store_options;
use serde_json::Value;

use super::filter::{Pairs, query};
use crate::remote::Remote;
use crate::report::Failure;

/// The log of one gateway.
pub(super) enum Log {
    Running(Remote),
    Stored(Reader),
}

impl Log {
    pub(super) fn from_config(config: &Config) -> Result<Self, Failure> {
        match Remote::find(config)? {
            Some(remote) => Ok(Self::Running(remote)),
            None => stored(config).map(Self::Stored),
        }
    }

    /// A page of records, as the REST interface writes it. Both arguments say the same.
    pub(super) fn list(&self, asked: &Query, pairs: &Pairs) -> Result<Value, Failure> {
        match self {
            Self::Running(remote) => {
                let path = format!("/api/v1/activity?{}", query(pairs));
                remote.get(&path)?.json()
            }
            Self::Stored(reader) => {
                let page = reader.list(asked).map_err(unreadable)?;
                Ok(serde_json::to_value(page).map_err(anyhow::Error::from)?)
            }
        }
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

    /// Counts over a period. Both pairs of arguments say the same.
    pub(super) fn summary(
        &self,
        (by, period): (GroupBy, Duration),
        pairs: &Pairs,
    ) -> Result<Value, Failure> {
        match self {
            Self::Running(remote) => {
                let path = format!("/api/v1/activity/summary?{}", query(pairs));
                remote.get(&path)?.json()
            }
            Self::Stored(reader) => {
                let summary = reader.summary(by, period, Timestamp::now());
                let summary = summary.map_err(unreadable)?;
                Ok(serde_json::to_value(summary).map_err(anyhow::Error::from)?)
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
                let path = format!("/api/v1/activity/export?{}", query(pairs));
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
pub(in crate::commands) fn stored(config: &Config) -> Result<Reader, Failure> {
    Reader::open(&store_options(config)).map_err(unreadable)
}

pub(in crate::commands) fn unreadable(error: StoreError) -> Failure {
    Failure::usage(error).hint("check the data directory; `countersign serve` makes one; --demo names that of `serve --demo`")
}
