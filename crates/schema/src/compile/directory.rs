//! Finding a member or an item of a large container again and again, for references.
//!
//! A pointer costs a walk over the siblings it passes. A thousand pointers into one large container would cost a
//! thousand walks, so a large container is put in order once.

use std::collections::BTreeMap;

use countersign_tape::{Kind, Tape};

/// Containers up to this size are walked.
const SMALL: u32 = 32;

/// The large containers of one document that references have led into.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// By container: its members as (key, value) in the order of names, or its items.
    ordered: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl Directories {
    /// One step of a JSON pointer.
    pub(super) fn step(&mut self, tape: &Tape<'_>, node: u32, token: &str) -> Option<u32> {
        match tape.node(node).kind() {
            Kind::Object => self.member(tape, node, &token.replace("~1", "/").replace("~0", "~")),
            Kind::Array => {
                let canonical = token == "0" || !token.starts_with(['0', '+']);
                self.item(tape, node, token.parse().ok().filter(|_| canonical)?)
            }
            _ => None,
        }
    }

    fn member(&mut self, tape: &Tape<'_>, object: u32, name: &str) -> Option<u32> {
        if tape.node(object).count() <= SMALL {
            return tape.get(object, name);
        }
        let members = self.ordered.entry(object).or_insert_with(|| {
            let mut members: Vec<(u32, u32)> = tape.members(object).collect();
            members.sort_by(|a, b| tape.string(a.0).cmp(&tape.string(b.0)));
            members
        });
        let found = members.binary_search_by(|(key, _)| tape.string(*key).as_ref().cmp(name));
        found
            .ok()
            .and_then(|at| members.get(at))
            .map(|(_, value)| *value)
    }

    fn item(&mut self, tape: &Tape<'_>, array: u32, position: usize) -> Option<u32> {
        if tape.node(array).count() <= SMALL {
            return tape.children(array).nth(position);
        }
        let items = self
            .ordered
            .entry(array)
            .or_insert_with(|| tape.children(array).map(|item| (item, item)).collect());
        items.get(position).map(|(_, item)| *item)
    }
}

#[cfg(test)]
mod tests {
    use countersign_tape::Limits;

    use super::*;

    #[test]
    fn large_containers_answer_like_small_ones() {
        let members: Vec<String> = (0..100)
            .map(|n| format!(r#""k{n}~\/\u0041":[{}]"#, vec![n.to_string(); n].join(",")))
            .collect();
        let text = format!("{{{}}}", members.join(","));
        let tape = Tape::parse(text.as_bytes(), &Limits::default()).expect("JSON");
        let mut directories = Directories::default();
        for n in 0..100_usize {
            let array = directories
                .step(&tape, 0, &format!("k{n}~0~1A"))
                .expect("a member");
            for position in [0, n / 2, n.saturating_sub(1), n] {
                let item = directories.step(&tape, array, &position.to_string());
                assert_eq!(item, tape.children(array).nth(position), "{n} {position}");
            }
            assert_eq!(directories.step(&tape, array, "01"), None);
        }
        assert_eq!(directories.step(&tape, 0, "k100~0~1A"), None);
    }
}
