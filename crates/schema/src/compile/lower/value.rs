//! `type`, `enum` and `const`.

use countersign_tape::{Kind, Tape};

use super::Lowering;
use crate::canonical::Canonicaliser;
use crate::compile::index::position;
use crate::keyword::Keyword;
use crate::program::{Names, Range, Values};
use crate::types::TypeSet;
use crate::unenforceable::Unenforceable;

impl Lowering<'_, '_> {
    pub(super) fn types(&self) -> Result<TypeSet, Unenforceable> {
        let Some(value) = self.part(Keyword::Type) else {
            return Ok(TypeSet::ANY);
        };
        let tape = self.tape();
        let named = |node: u32| {
            self.expect(
                node,
                Kind::String,
                "type must be a name or an array of names",
            )?;
            TypeSet::named(&tape.string(node))
                .ok_or_else(|| self.invalid(node, "not the name of a type"))
        };
        if tape.node(value).kind() == Kind::Array {
            tape.children(value)
                .try_fold(TypeSet::EMPTY, |set, child| Ok(set.union(named(child)?)))
        } else {
            named(value)
        }
    }

    pub(super) fn values(&mut self) -> Result<Range, Unenforceable> {
        let start = position(self.program.values.len());
        if let Some(value) = self.part(Keyword::Const) {
            let values = gather(self.tape(), Keyword::Const, [value]);
            self.program.values.push(values);
        }
        if let Some(value) = self.part(Keyword::Enum) {
            self.expect(value, Kind::Array, "enum must be an array")?;
            self.shared.enum_values += self.tape().node(value).count() as usize;
            if self.shared.enum_values > self.index.settings().limits.max_enum_values {
                return Err(Unenforceable::Limit {
                    bound: "enum values",
                });
            }
            let values = gather(self.tape(), Keyword::Enum, self.tape().children(value));
            self.program.values.push(values);
        }
        Ok(Range {
            start,
            end: position(self.program.values.len()),
        })
    }
}

fn gather(tape: &Tape<'_>, keyword: Keyword, nodes: impl IntoIterator<Item = u32>) -> Values {
    let mut values = Values {
        keyword,
        null: false,
        yes: false,
        no: false,
        strings: Names::default(),
        canonical: Vec::new(),
        composite: false,
    };
    let mut strings: Vec<Box<str>> = Vec::new();
    let mut canonicaliser = Canonicaliser::default();
    for node in nodes {
        match tape.node(node).kind() {
            Kind::Null => values.null = true,
            Kind::True => values.yes = true,
            Kind::False => values.no = true,
            Kind::String | Kind::Key => strings.push(tape.string(node).into()),
            kind => {
                values.composite |= kind != Kind::Number;
                let mut form = Vec::new();
                canonicaliser.write(tape, node, &mut form);
                values.canonical.push(form.into());
            }
        }
    }
    values.canonical.sort_unstable();
    strings.sort_unstable();
    strings.dedup();
    values.strings = Names::new(&strings);
    values
}
