//! One byte form per JSON value: equal values have equal forms, however they were written.
//!
//! `enum`, `const` and `uniqueItems` compare these forms, so that `1` equals `1.0`, `"\u0061"` equals `"a"` and key
//! order does not matter. Written with an explicit stack; the depth of a value is data.

use countersign_tape::{Kind, Tape};

use crate::number::Number;

/// Writes canonical forms, reusing its buffers.
#[derive(Debug, Default)]
pub(crate) struct Canonicaliser {
    /// What is still to be written, last first.
    pending: Vec<u32>,
    /// Members of the object at hand.
    members: Vec<u32>,
}

impl Canonicaliser {
    /// Appends the form of the value at `root`.
    pub(crate) fn write(&mut self, tape: &Tape<'_>, root: u32, out: &mut Vec<u8>) {
        self.pending.clear();
        self.pending.push(root);
        while let Some(index) = self.pending.pop() {
            let node = tape.node(index);
            match node.kind() {
                Kind::Null => out.push(b'n'),
                Kind::True => out.push(b't'),
                Kind::False => out.push(b'f'),
                Kind::Number => write_number(tape.raw(index), out),
                Kind::String => write_string(tape, index, out),
                Kind::Key => {
                    write_string(tape, index, out);
                    self.pending.push(index + 1);
                }
                Kind::Array => {
                    out.push(b'a');
                    out.extend_from_slice(&node.count().to_le_bytes());
                    let start = self.pending.len();
                    self.pending.extend(tape.children(index));
                    if let Some(batch) = self.pending.get_mut(start..) {
                        batch.reverse();
                    }
                }
                Kind::Object => {
                    out.push(b'o');
                    out.extend_from_slice(&node.count().to_le_bytes());
                    self.queue_members(tape, index);
                }
            }
        }
    }

    /// The buffers it keeps between values.
    pub(crate) fn buffers(&mut self) -> [&mut Vec<u32>; 2] {
        [&mut self.pending, &mut self.members]
    }

    /// Queues an object's members in the order of their decoded names.
    fn queue_members(&mut self, tape: &Tape<'_>, object: u32) {
        self.members.clear();
        self.members
            .extend(tape.members(object).map(|(key, _)| key));
        let plain = self.members.iter().all(|key| !tape.node(*key).is_escaped());
        if plain {
            self.members
                .sort_by(|a, b| tape.raw_string(*b).cmp(tape.raw_string(*a)));
        } else {
            self.members
                .sort_by_cached_key(|key| std::cmp::Reverse(tape.string(*key)));
        }
        self.pending.append(&mut self.members);
    }
}

fn write_string(tape: &Tape<'_>, index: u32, out: &mut Vec<u8>) {
    let text = tape.string(index);
    out.push(b's');
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A number with an extreme exponent is only equal to itself, letter by letter.
fn write_number(text: &str, out: &mut Vec<u8>) {
    if let Some(number) = Number::parse(text) {
        out.push(b'd');
        number.canonical(|part| out.extend_from_slice(part));
    } else {
        out.push(b'x');
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b';');
}
