//! `type`, `enum` and `const`.

use countersign_tape::{Kind, Tape};

use super::{Lowering, append_all};
use crate::canonical::Canonicaliser;
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
            let reason = "type must be a name or an array of names";
            self.expect(node, Kind::String, reason)?;
            TypeSet::from_name(&tape.string(node))
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
        let mut all = Vec::new();
        if let Some(value) = self.part(Keyword::Const) {
            all.push(gather(self.tape(), Keyword::Const, [value]));
        }
        if let Some(value) = self.part(Keyword::Enum) {
            self.expect(value, Kind::Array, "enum must be an array")?;
            self.shared.enum_values += self.tape().node(value).count() as usize;
            let most = self.index.settings().limits.max_enum_values;
            Unenforceable::check_limit(self.shared.enum_values <= most, "enum values")?;
            let values = self.tape().children(value);
            all.push(gather(self.tape(), Keyword::Enum, values));
        }
        Ok(append_all(&mut self.program.values, all))
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
