//! RFC 6901 pointers of nodes, built on demand by walking down from the root.
//! Parents are not stored: a pointer is asked for once per finding, a parent link would cost every node.

use std::fmt::Write as _;

use crate::kind::Kind;
use crate::tape::Tape;

impl Tape<'_> {
    /// The RFC 6901 pointer of a node; a key has the pointer of its value. The root's is empty.
    pub fn pointer(&self, index: u32) -> String {
        let target = if self.node(index).kind() == Kind::Key {
            index + 1
        } else {
            index
        };
        let mut pointer = String::new();
        let mut at = 0;
        while at != target {
            let step = match self.node(at).kind() {
                Kind::Object => member_step(self, at, target, &mut pointer),
                Kind::Array => element_step(self, at, target, &mut pointer),
                _ => None,
            };
            // The subtrees of a container cover every index up to its end, so a step is always found.
            let Some(child) = step else { break };
            at = child;
        }
        pointer
    }
}

fn member_step(tape: &Tape<'_>, at: u32, target: u32, pointer: &mut String) -> Option<u32> {
    let (key, value) = tape
        .members(at)
        .find(|&(_, value)| target < tape.node(value).next())?;
    pointer.push('/');
    push_token(&tape.string(key), pointer);
    Some(value)
}

fn element_step(tape: &Tape<'_>, at: u32, target: u32, pointer: &mut String) -> Option<u32> {
    let (place, element) = tape
        .children(at)
        .enumerate()
        .find(|&(_, child)| target < tape.node(child).next())?;
    // Writing to a String does not fail.
    write!(pointer, "/{place}").ok()?;
    Some(element)
}

/// Append one reference token: `~` is `~0`, `/` is `~1`.
pub(crate) fn push_token(name: &str, pointer: &mut String) {
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
