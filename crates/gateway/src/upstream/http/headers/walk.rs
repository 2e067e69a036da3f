//! The walk over a schema in search of marked arguments: every subschema once, with the names of the
//! properties that lead to it. A server writes the schema, so nothing is copied on the way down.

use countersign_tape::{Kind, Tape};

/// Where a subschema stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The schema itself.
    Root,
    /// Below `properties`; the index of its step.
    Property(usize),
    /// Anywhere else: an argument may or may not be there.
    Elsewhere,
}

/// The name of a property, and where the schema stands that has it.
#[derive(Debug)]
struct Step {
    key: u32,
    parent: Place,
}

/// The subschemas that are still to be visited.
#[derive(Debug)]
pub(super) struct Walk {
    open: Vec<(u32, Place)>,
    steps: Vec<Step>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            open: vec![(0, Place::Root)],
            steps: Vec::new(),
        }
    }
}

impl Walk {
    /// The next object of the schema; its own children come later.
    pub(super) fn next(&mut self, tape: &Tape<'_>) -> Option<(u32, Place)> {
        while let Some((value, place)) = self.open.pop() {
            match tape.node(value).kind() {
                Kind::Object => {
                    self.enter(tape, value, place);
                    return Some((value, place));
                }
                Kind::Array => {
                    let elements = tape.children(value);
                    self.open
                        .extend(elements.map(|one| (one, Place::Elsewhere)));
                }
                _ => {}
            }
        }
        None
    }

    fn enter(&mut self, tape: &Tape<'_>, value: u32, place: Place) {
        for (key, inner) in tape.members(value) {
            match (place, &*tape.string(key)) {
                (_, super::MARK | "const" | "enum" | "default" | "examples") => {}
                (Place::Root | Place::Property(_), "properties") => {
                    for (key, inner) in tape.members(inner) {
                        self.open.push((inner, Place::Property(self.steps.len())));
                        self.steps.push(Step { key, parent: place });
                    }
                }
                _ => self.open.push((inner, Place::Elsewhere)),
            }
        }
    }

    /// The names of the properties that lead to a place; nothing if it is no single argument.
    pub(super) fn way(&self, tape: &Tape<'_>, place: Place) -> Option<Vec<String>> {
        let mut way = Vec::new();
        let mut place = place;
        while let Place::Property(step) = place {
            let step = self.steps.get(step)?;
            way.push(tape.string(step.key).into_owned());
            place = step.parent;
        }
        way.reverse();
        (!way.is_empty()).then_some(way)
    }
}
