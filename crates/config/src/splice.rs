//! Edits of a file's text that leave the rest as its author wrote it.

use countersign_tape::{Edits, Span, Tape};

use super::problem::{ConfigError, Problem};

/// The text with the edits made.
pub(crate) fn edited(edits: Edits<'_>) -> Result<String, ConfigError> {
    let text = edits.apply().ok();
    let text = text.and_then(|text| String::from_utf8(text.to_vec()).ok());
    text.ok_or_else(|| Problem::without_hint("the file cannot be changed").into())
}

/// Puts text behind the last child of a list or object, on a line of its own if the last child has one; or into what is
/// empty.
pub(crate) fn append(
    tape: &Tape<'_>,
    edits: &mut Edits<'_>,
    parent: u32,
    text: &str,
    indent: usize,
) {
    let whole = span(tape, parent);
    let members = tape.members(parent).last();
    let elements = tape.children(parent).last();
    let last = members.or(elements.map(|element| (element, element)));
    if let Some((first, last)) = last {
        let start = tape.node(first).start() as usize;
        let before = tape.text().get(..start).unwrap_or_default();
        let space = &before[before.trim_end().len()..];
        let end = tape.node(last).end();
        edits.replace(Span::new(end, end), format!(",{space}{text}"));
    } else {
        let inside = Span::new(whole.start + 1, whole.end - 1);
        let deeper = indent + 2;
        let lines = format!("\n{:deeper$}{text}\n{:indent$}", "", "");
        edits.replace(inside, lines);
    }
}

/// Removes an element of a list, and the comma that it leaves.
pub(crate) fn remove_element(tape: &Tape<'_>, edits: &mut Edits<'_>, list: u32, element: u32) {
    let elements: Vec<Span> = tape.children(list).map(|child| span(tape, child)).collect();
    let removed = span(tape, element);
    let at = elements
        .iter()
        .position(|element| element.start == removed.start);
    let at = at.unwrap_or_default();
    let gap = match (
        at.checked_sub(1).and_then(|at| elements.get(at)),
        elements.get(at + 1),
    ) {
        (Some(before), _) => Span::new(before.end, removed.end),
        (None, Some(after)) => Span::new(removed.start, after.start),
        (None, None) => {
            let list = span(tape, list);
            Span::new(list.start + 1, list.end - 1)
        }
    };
    edits.replace(gap, "");
}

/// Where a value stands.
pub(crate) fn span(tape: &Tape<'_>, index: u32) -> Span {
    let node = tape.node(index);
    Span::new(node.start(), node.end())
}
