//! Edits of an object's members: the commas are worked out per object, for all its changes together.

use super::error::{EditError, Reason};
use super::{MemberPosition, Patch};
use crate::grammar::skip_space;
use crate::span::{Span, members};

/// One change to one object.
#[derive(Debug, Clone)]
pub(super) struct ObjectChange {
    pub(super) object: Span,
    pub(super) what: MemberChange,
}

#[derive(Debug, Clone)]
pub(super) enum MemberChange {
    /// Remove the member whose key has this span.
    Remove(Span),
    /// Add members, `"name":value`, with commas between them.
    Insert(MemberPosition, Vec<u8>),
}

/// Turn member changes into patches of raw bytes.
pub(super) fn patches(
    original: &[u8],
    changes: &mut [ObjectChange],
    patches: &mut Vec<Patch>,
) -> Result<(), EditError> {
    changes.sort_by_key(|change| change.object);
    for group in changes.chunk_by(|one, other| one.object == other.object) {
        let Some(object) = group.first().map(|change| change.object) else {
            continue;
        };
        let [b'{', .., b'}'] = object.bytes(original) else {
            return Err(EditError::new(object.start, Reason::NotAnObject));
        };
        let removed = removed(group)?;
        let last = if removed.is_empty() {
            last_member_end(original, object)
        } else {
            remove(original, object, &removed, patches)?
        };
        insert(object, last, group, patches);
    }
    Ok(())
}

/// The keys to remove, in order.
fn removed(changes: &[ObjectChange]) -> Result<Vec<Span>, EditError> {
    let mut keys: Vec<Span> = changes
        .iter()
        .filter_map(|change| match change.what {
            MemberChange::Remove(key) => Some(key),
            MemberChange::Insert(..) => None,
        })
        .collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(EditError::new(pair[0].start, Reason::Overlap)),
        None => Ok(keys),
    }
}

/// Where the last member ends, found from the closing brace; nothing if the object is empty.
fn last_member_end(original: &[u8], object: Span) -> Option<u32> {
    let inner = Span::new(object.start + 1, object.end - 1);
    let text = inner.bytes(original).trim_ascii_end();
    if skip_space(text, 0) == text.len() {
        return None;
    }
    Some(inner.inner(Span::from_range(0, text.len())).end)
}

/// Patch away the members with these keys, each run of them with the comma that has become idle. Returns
/// where the last remaining member ends.
fn remove(
    original: &[u8],
    object: Span,
    keys: &[Span],
    patches: &mut Vec<Patch>,
) -> Result<Option<u32>, EditError> {
    let mut keys = keys.iter().peekable();
    let mut kept_end = None;
    // A run of removed members: where the cut starts and where the last one ends.
    let mut run: Option<(u32, u32)> = None;
    for (key, value) in members(original, object) {
        if keys.next_if(|&&next| next == key).is_some() {
            let from = run.map_or(kept_end.unwrap_or(key.start), |(from, _)| from);
            run = Some((from, value.end));
        } else {
            if let Some((from, end)) = run.take() {
                // Without a member before it, the run takes the comma after it.
                let to = if kept_end.is_some() { end } else { key.start };
                patches.push(Patch::new(from, to, Vec::new()));
            }
            kept_end = Some(value.end);
        }
    }
    if let Some((from, end)) = run {
        patches.push(Patch::new(from, end, Vec::new()));
    }
    match keys.next() {
        Some(key) => Err(EditError::new(key.start, Reason::NotAMember)),
        None => Ok(kept_end),
    }
}

/// Patch in the new members, around those that remain.
fn insert(object: Span, last: Option<u32>, changes: &[ObjectChange], patches: &mut Vec<Patch>) {
    let mut first = joined(changes, MemberPosition::First);
    let mut final_ones = joined(changes, MemberPosition::Last);
    let after_brace = object.start + 1;
    if let Some(last) = last {
        if !first.is_empty() {
            first.push(b',');
            patches.push(Patch::new(after_brace, after_brace, first));
        }
        if !final_ones.is_empty() {
            final_ones.insert(0, b',');
            patches.push(Patch::new(last, last, final_ones));
        }
        return;
    }
    if !first.is_empty() && !final_ones.is_empty() {
        first.push(b',');
    }
    first.append(&mut final_ones);
    if !first.is_empty() {
        patches.push(Patch::new(after_brace, after_brace, first));
    }
}

/// The members to insert at one place, comma between them.
fn joined(changes: &[ObjectChange], wanted: MemberPosition) -> Vec<u8> {
    let members = || {
        changes.iter().filter_map(|change| match &change.what {
            MemberChange::Insert(place, members) if *place == wanted => Some(members),
            _ => None,
        })
    };
    // Room for a comma on either side of each, which most callers add.
    let length: usize = members().map(|members| members.len() + 2).sum();
    let mut all = Vec::with_capacity(length);
    for members in members() {
        if !all.is_empty() {
            all.push(b',');
        }
        all.extend_from_slice(members);
    }
    all
}
