//! Size limits, checked before the schema is. The scan has measured size and depth of
//! `structuredContent`; blocks are counted here, and only in content long enough to have too many.

use countersign_tape::{Envelope, Kind, elements};

use crate::config::OutputValidation;
use crate::open::transport::OpenedReply;
use crate::verdict::explained::{ExplainedFinding, Guard};

/// The guard that `structuredContent` breaks, if any. Equal passes.
pub(crate) fn check(envelope: &Envelope, config: &OutputValidation) -> Option<ExplainedFinding> {
    let (bytes, depth) = (
        u64::from(envelope.structured_content()?.len()),
        u64::from(envelope.structured_content_depth()),
    );
    let measured = [
        (Guard::Bytes, bytes, config.max_bytes),
        (Guard::Depth, depth, u64::from(config.max_depth)),
    ];
    let breached = measured
        .into_iter()
        .find(|(_, actual, limit)| actual > limit);
    breached.map(|(guard, actual, limit)| ExplainedFinding::guard(guard, actual, limit))
}

/// The guard that `content` breaks, if it does: more blocks than `max_blocks`, whether or not a schema is declared.
pub(crate) fn check_blocks(
    opened: &OpenedReply<'_, '_>,
    config: &OutputValidation,
) -> Option<ExplainedFinding> {
    let content = opened.envelope.content()?;
    let limit = u64::from(config.max_blocks);
    // An element takes two bytes at least, its comma included.
    if u64::from(content.len()) / 2 < limit {
        return None;
    }
    let blocks = match &opened.tapes.content {
        Some(tape) if tape.node(0).kind() == Kind::Array => u64::from(tape.node(0).count()),
        Some(_) => 0,
        // Content that is too large to be laid out is read a second time.
        None => {
            let blocks = elements(opened.text.as_bytes(), content).count();
            u64::try_from(blocks).unwrap_or(u64::MAX)
        }
    };
    (blocks > limit).then(|| ExplainedFinding::guard(Guard::Blocks, blocks, limit))
}
