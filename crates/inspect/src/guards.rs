//! Two numbers compared with two limits, before anything more expensive looks at the value.
//! The scan measured them; nothing is read here. Stage 4b.

use countersign_tape::Envelope;

use crate::config::OutputValidation;
use crate::found::Found;

/// The guard that `structuredContent` breaks, if any. Equal passes.
pub(crate) fn check(envelope: &Envelope, config: &OutputValidation) -> Option<Found> {
    let bytes = u64::from(envelope.structured_content()?.len());
    if bytes > config.max_bytes {
        return Some(Found::guard(
            "max_bytes",
            "guard.max_bytes",
            bytes,
            config.max_bytes,
        ));
    }
    let depth = envelope.structured_content_depth();
    if depth > config.max_depth {
        let (depth, limit) = (u64::from(depth), u64::from(config.max_depth));
        return Some(Found::guard("max_depth", "guard.max_depth", depth, limit));
    }
    None
}
