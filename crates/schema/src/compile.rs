//! From schema bytes to a program, within limits.
//!
//! Four passes, all iterative: find every subschema and the names it goes by (`index`), resolve references
//! (`resolve`), turn keywords into plans (`lower`), and judge the whole graph (`analyse`). Nothing here fetches: a
//! reference that leaves the documents at hand ends the compilation.

mod analyse;
mod directory;
mod index;
mod lower;
mod resolve;
mod rules;

use countersign_tape::{self as tape, Tape};

use crate::dialect::Dialect;
use crate::keyword::Vocabulary;
use crate::limits::Limits;
use crate::program::{NodeId, Program};
use crate::rules::Rules;
use crate::unenforceable::Unenforceable;
use index::Index;

/// What the compiler was told beside the schema itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) default_dialect: Dialect,
    pub(crate) assert_formats: bool,
    /// Documents the caller vouches for, by URI.
    pub(crate) documents: &'a [(String, Vec<u8>)],
}

impl Settings<'_> {
    /// The rules of a dialect.
    fn rules_of(&self, dialect: Dialect) -> Rules {
        self.with_formats(Rules::from_dialect(dialect))
    }

    /// The rules, with `format` as an assertion if the caller asked for that.
    fn with_formats(&self, rules: Rules) -> Rules {
        if self.assert_formats {
            rules.with(Vocabulary::FormatAssertion)
        } else {
            rules
        }
    }
}

/// A finished compilation.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) root: NodeId,
    pub(crate) dialect: Dialect,
    pub(crate) places: Vec<SchemaLocation>,
    /// The texts that places point into; the schema itself is the first.
    pub(crate) texts: Vec<Text>,
}

/// The location of a subschema: a node of a document's tape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaLocation {
    pub(crate) document: u32,
    pub(crate) node: u32,
}

impl SchemaLocation {
    /// Another node of the same document.
    fn with_node(self, node: u32) -> Self {
        Self { node, ..self }
    }
}

/// A document kept so that a violation can name the place of its keyword.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) uri: String,
    pub(crate) bytes: Box<[u8]>,
}

pub(crate) fn compile(bytes: &[u8], settings: Settings<'_>) -> Result<Compiled, Unenforceable> {
    let mut index = Index::new(settings);
    let root = index.add_root(bytes)?;
    let mut program = Program::default();
    lower::lower(&mut index, &mut program)?;
    let root = analyse::analyse(&mut program, root, settings.limits)?;
    program.shrink();
    Ok(Compiled {
        program,
        root,
        dialect: index.root_rules().dialect,
        places: index.places(),
        texts: index.into_texts(),
    })
}

/// Parses a schema document within the limits.
fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Tape<'a>, Unenforceable> {
    let hard = tape::Limits {
        max_bytes: limits.max_bytes,
        max_depth: limits.max_depth,
    };
    Tape::parse(bytes, &hard).map_err(|error| {
        if error.is_too_large() {
            Unenforceable::Limit { bound: "bytes" }
        } else if error.is_too_deep() {
            Unenforceable::Limit {
                bound: "nesting depth",
            }
        } else {
            Unenforceable::NotJson {
                offset: error.offset(),
            }
        }
    })
}
