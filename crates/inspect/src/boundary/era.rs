//! Which era a connection is in: a modern request names its version, a legacy connection settles it once.

use countersign_tape::{Envelope, Member, scan};

use super::UNLIMITED;
use super::message::member;
use crate::era::{ClientEra, Era};

/// The first protocol version of the modern era.
const MODERN: &str = "2026-07-28";

pub(super) fn client_era(era: Option<Era>) -> ClientEra {
    era.map_or(ClientEra::Unnegotiated, ClientEra::from)
}

/// The era that a request names by itself, as modern requests do.
pub(super) fn request_era(message: &[u8], envelope: &Envelope) -> Option<Era> {
    let meta = envelope.get(Member::ParamsMeta)?;
    let version = member(message, meta, "io.modelcontextprotocol/protocolVersion")?;
    era_of(&version.string(message)?)
}

/// The era that the answer to `initialize` names.
pub(super) fn negotiated_era(message: &[u8]) -> Option<Era> {
    let envelope = scan(message, &UNLIMITED).ok()?;
    let version = member(message, envelope.result()?, "protocolVersion")?;
    era_of(&version.string(message)?)
}

/// Versions are dates, so text order is their order.
fn era_of(version: &str) -> Option<Era> {
    let era = if version < MODERN {
        Era::Legacy
    } else {
        Era::Modern
    };
    (!version.is_empty()).then_some(era)
}
