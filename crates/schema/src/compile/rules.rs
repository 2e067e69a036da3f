//! Which rules a schema resource follows, by its `$schema`.

use countersign_tape::{Kind, Tape};

use super::index::Index;
use crate::dialect::Dialect;
use crate::rules::Rules;
use crate::unenforceable::Unenforceable;
use crate::uri;

impl<'a> Index<'a> {
    /// The rules of a resource root. Without `$schema` it follows the resource around it.
    pub(super) fn rules_at(
        &self,
        tape: &Tape<'a>,
        object: u32,
        inherited: Rules,
    ) -> Result<Rules, Unenforceable> {
        let Some(value) = tape.get(object, "$schema") else {
            return Ok(inherited);
        };
        if tape.node(value).kind() != Kind::String {
            return Err(Unenforceable::Invalid {
                pointer: tape.pointer(value),
                reason: "$schema must be a string",
            });
        }
        let uri = tape.string(value);
        match Dialect::from_uri(&uri) {
            Some(dialect) => Ok(self.settings().rules_of(dialect)),
            None => self.custom_rules(&uri),
        }
    }

    /// The rules of a metaschema the caller handed in, from its `$vocabulary`.
    fn custom_rules(&self, uri: &str) -> Result<Rules, Unenforceable> {
        let unknown = || Unenforceable::UnknownDialect {
            uri: uri.to_owned(),
        };
        let bytes = self.handed_in(uri::normalise(uri)).ok_or_else(unknown)?;
        let tape = super::parse(bytes, self.settings().limits)?;
        let parent = tape
            .get(0, "$schema")
            .and_then(|value| Dialect::from_uri(&tape.string(value)))
            .ok_or_else(unknown)?;
        let Some(vocabulary) = tape.get(0, "$vocabulary") else {
            return Ok(self.settings().rules_of(parent));
        };
        let mut rules = Rules::core(parent);
        for (key, value) in tape.members(vocabulary) {
            let name = tape.string(key);
            match rules.with_uri(&name) {
                Some(more) => rules = more,
                None if tape.node(value).kind() == Kind::True => {
                    return Err(Unenforceable::UnknownVocabulary {
                        uri: name.into_owned(),
                    });
                }
                None => {}
            }
        }
        Ok(self.settings().with_formats(rules))
    }
}
