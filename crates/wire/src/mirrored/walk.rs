//! The walk over a schema in search of marked arguments: every subschema once, with the names of the
//! properties that lead to it. A server writes the schema, so nothing is copied on the way down.

use countersign_tape::{Kind, Tape};

/// Where a subschema stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
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
    parent: Position,
}

/// The subschemas that are still to be visited.
#[derive(Debug)]
pub(super) struct Walk {
    open: Vec<(u32, Position)>,
    steps: Vec<Step>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            open: vec![(0, Position::Root)],
            steps: Vec::new(),
        }
    }
}

impl Walk {
    /// The next object of the schema; its own children come later.
    pub(super) fn next(&mut self, tape: &Tape<'_>) -> Option<(u32, Position)> {
        while let Some((value, position)) = self.open.pop() {
            match tape.node(value).kind() {
                Kind::Object => {
                    self.enter(tape, value, position);
                    return Some((value, position));
                }
                Kind::Array => {
                    let elements = tape.children(value);
                    self.open
                        .extend(elements.map(|one| (one, Position::Elsewhere)));
                }
                _ => {}
            }
        }
        None
    }

    fn enter(&mut self, tape: &Tape<'_>, value: u32, position: Position) {
        for (key, inner) in tape.members(value) {
            match (position, &*tape.string(key)) {
                (_, super::MARK | "const" | "enum" | "default" | "examples") => {}
                (Position::Root | Position::Property(_), "properties") => {
                    for (key, inner) in tape.members(inner) {
                        self.open
                            .push((inner, Position::Property(self.steps.len())));
                        self.steps.push(Step {
                            key,
                            parent: position,
                        });
                    }
                }
                _ => self.open.push((inner, Position::Elsewhere)),
            }
        }
    }

    /// The names of the properties that lead to a position; nothing if it is no single argument.
    pub(super) fn path_to(&self, tape: &Tape<'_>, position: Position) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let mut position = position;
        while let Position::Property(step) = position {
            let step = self.steps.get(step)?;
            names.push(tape.string(step.key).into_owned());
            position = step.parent;
        }
        names.reverse();
        (!names.is_empty()).then_some(names)
    }
}
