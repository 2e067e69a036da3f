//! Which values inside a schema object are schemas too.

use countersign_tape::Kind;

use super::Index;
use crate::compile::SchemaLocation;
use crate::dialect::Dialect;
use crate::keyword::{Keyword, SubschemaLayout};
use crate::unenforceable::Unenforceable;

impl Index<'_> {
    /// Puts the subschemas that a schema object holds on the work list.
    pub(super) fn queue_children(
        &self,
        place: SchemaLocation,
        resource: u32,
        work: &mut Vec<(u32, u32)>,
    ) -> Result<(), Unenforceable> {
        let rules = self.rules(resource);
        let tape = self.tape(place);
        let masked =
            rules.dialect.reference_masks_siblings() && tape.get(place.node, "$ref").is_some();
        let start = work.len();
        for (key, value) in tape.members(place.node) {
            let Some(keyword) = Keyword::parse(&tape.string(key)) else {
                continue;
            };
            if !rules.knows(keyword) || (masked && keyword != Keyword::Definitions) {
                continue;
            }
            let first = work.len();
            match rules.subschema_layout(keyword) {
                SubschemaLayout::Nothing => {}
                SubschemaLayout::Schema => work.push((value, resource)),
                SubschemaLayout::SchemaOrArray if tape.node(value).kind() != Kind::Array => {
                    work.push((value, resource));
                }
                SubschemaLayout::SchemaArray | SubschemaLayout::SchemaOrArray => {
                    self.expect(
                        place.with_node(value),
                        Kind::Array,
                        "must be an array of schemas",
                    )?;
                    work.extend(tape.children(value).map(|child| (child, resource)));
                }
                SubschemaLayout::SchemaMap => {
                    self.expect(
                        place.with_node(value),
                        Kind::Object,
                        "must be an object of schemas",
                    )?;
                    work.extend(tape.members(value).map(|(_, child)| (child, resource)));
                }
                SubschemaLayout::Dependencies => {
                    self.expect(place.with_node(value), Kind::Object, "must be an object")?;
                    let schemas = tape
                        .members(value)
                        .filter(|(_, child)| tape.node(*child).kind() != Kind::Array);
                    work.extend(schemas.map(|(_, child)| (child, resource)));
                }
            }
            let may_be_boolean = matches!(
                keyword,
                Keyword::AdditionalItems | Keyword::AdditionalProperties
            );
            for (node, _) in work.iter().skip(first).filter(|_| !may_be_boolean) {
                self.refuse_boolean(place.with_node(*node), resource)?;
            }
        }
        // Taken from the end, so turn the batch round: numbers then follow the document.
        if let Some(batch) = work.get_mut(start..) {
            batch.reverse();
        }
        Ok(())
    }

    /// Draft-04 knows no boolean schemas; `additionalItems` and `additionalProperties` take a boolean of their own.
    pub(super) fn refuse_boolean(
        &self,
        place: SchemaLocation,
        resource: u32,
    ) -> Result<(), Unenforceable> {
        let kind = self.tape(place).node(place.node).kind();
        let is_boolean = matches!(kind, Kind::True | Kind::False);
        if is_boolean && self.rules(resource).dialect == Dialect::Draft4 {
            return Err(self.invalid(place, "draft-04 has no boolean schemas"));
        }
        Ok(())
    }
}
