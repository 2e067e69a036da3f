//! What was found in a server's descriptions and instructions. Hidden text in a description is how a tool is poisoned, so it
//! is recorded, once and not with every call.

use bytes::Bytes;
use countersign_audit::{Record, Source};
use countersign_config::Config;
use countersign_inspect::{Decision, Listing};

use crate::services::Services;
use crate::state::Settings;

/// The record about a description or instructions that had something in them.
pub(super) fn record(
    services: &Services,
    server: &str,
    tool: Option<&str>,
    listing: &Listing,
) -> Option<Record> {
    if listing.decision() == Decision::Allowed {
        return None;
    }
    let mut record = Record::decided(services.store.next_id(), listing.decision());
    record.source = Source::Internal;
    record.server = Some(server.to_owned());
    record.tool = tool.map(str::to_owned);
    record.reason = listing.reason().map(str::to_owned);
    record.findings = listing.findings().to_vec();
    Some(record)
}

/// A server's instructions as they may be shown.
pub(crate) fn clean_instructions(raw: &Bytes, config: &Config, server: &str) -> Bytes {
    clean(raw, config, server).bytes().clone()
}

fn clean(raw: &Bytes, config: &Config, server: &str) -> Listing {
    let policy = config.policy(server, "");
    Listing::instructions(raw.clone(), &policy.sanitisation)
}

/// A server's instructions as they may be shown, and the record about them unless they are `known`.
pub(super) fn instructions(
    services: &Services,
    settings: &Settings,
    server: &str,
    said: Option<&Listing>,
    known: Option<&Bytes>,
) -> (Option<Bytes>, Option<Record>) {
    let Some(said) = said else {
        return (None, None);
    };
    let listing = clean(said.bytes(), &settings.config, server);
    let is_news = known != Some(listing.bytes());
    let record = is_news
        .then(|| record(services, server, None, &listing))
        .flatten();
    (Some(listing.bytes().clone()), record)
}
