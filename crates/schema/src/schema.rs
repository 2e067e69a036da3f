//! A compiled schema, and how to compile one.

mod explain;

use countersign_tape::{Limits as TapeLimits, Tape};

use crate::compile::{self, Compiled, Settings};
use crate::dialect::Dialect;
use crate::fuel::Fuel;
use crate::limits::Limits;
use crate::outcome::{Outcome, Verdict};
use crate::program::{NodeId, Program};
use crate::unenforceable::Unenforceable;
use crate::uri;
use crate::validate::{Buffers, Halt, Machine, Purpose};

/// Compiles a schema with the default options.
pub fn compile(bytes: &[u8], limits: &Limits) -> Result<Schema, Unenforceable> {
    Compiler::new().limits(limits.clone()).compile(bytes)
}

/// Options for compiling.
#[derive(Debug, Clone)]
pub struct Compiler {
    limits: Limits,
    default_dialect: Dialect,
    assert_formats: bool,
    documents: Vec<(String, Vec<u8>)>,
}

impl Default for Compiler {
    fn default() -> Self {
        Self::new()
    }
}

impl Compiler {
    /// The defaults: 2020-12 unless `$schema` says otherwise, formats as annotations, no other documents.
    pub fn new() -> Self {
        Self {
            limits: Limits::default(),
            default_dialect: Dialect::Draft202012,
            assert_formats: false,
            documents: Vec::new(),
        }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes `format` an assertion.
    #[must_use]
    pub fn assert_formats(mut self, assert: bool) -> Self {
        self.assert_formats = assert;
        self
    }

    /// The dialect of schemas without `$schema`.
    #[must_use]
    pub fn default_dialect(mut self, dialect: Dialect) -> Self {
        self.default_dialect = dialect;
        self
    }

    /// Hands in a document that references may lead to. This is the only way: nothing is ever fetched.
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let uri = uri::normalise(&uri.into()).to_owned();
        self.documents.push((uri, bytes.into()));
        self
    }

    /// Compiles a schema.
    pub fn compile(&self, bytes: &[u8]) -> Result<Schema, Unenforceable> {
        let settings = Settings {
            limits: &self.limits,
            default_dialect: self.default_dialect,
            assert_formats: self.assert_formats,
            documents: &self.documents,
        };
        let compiled = compile::compile(bytes, settings)?;
        Ok(Schema { compiled })
    }
}

/// A compiled schema: immutable, cheap to share between threads.
#[derive(Debug)]
pub struct Schema {
    compiled: Compiled,
}

impl Schema {
    /// Judges an instance, and explains a refusal.
    pub fn validate(&self, tape: &Tape<'_>, fuel: &mut Fuel) -> Outcome {
        Buffers::with_thread_buffers(|buffers| {
            let mut machine = Machine::new(self.program(), tape, fuel, buffers, Purpose::Decide);
            match machine.run(self.root(), 0) {
                Ok(true) => Outcome::Valid,
                Ok(false) => match machine.failures.first().copied() {
                    Some(decisive) => {
                        Outcome::Invalid(explain::explain(self, tape, fuel, buffers, decisive))
                    }
                    None => Outcome::Exhausted,
                },
                Err(Halt::Exhausted | Halt::Enough) => Outcome::Exhausted,
            }
        })
    }

    /// Judges an instance.
    pub fn is_valid(&self, tape: &Tape<'_>, fuel: &mut Fuel) -> Verdict {
        Buffers::with_thread_buffers(|buffers| {
            let mut machine = Machine::new(self.program(), tape, fuel, buffers, Purpose::Decide);
            match machine.run(self.root(), 0) {
                Ok(true) => Verdict::Valid,
                Ok(false) => Verdict::Invalid,
                Err(Halt::Exhausted | Halt::Enough) => Verdict::Exhausted,
            }
        })
    }

    /// Whether some keyword of the schema names this property.
    pub fn declares(&self, name: &str) -> bool {
        self.program()
            .objects
            .iter()
            .any(|plan| plan.names.find(name).is_some())
    }

    /// The dialect of the schema's root.
    pub fn dialect(&self) -> Dialect {
        self.compiled.dialect
    }

    /// Bytes of memory the compiled form holds, roughly. A gateway that keeps many schemas bounds their sum.
    pub fn memory_usage(&self) -> usize {
        let texts = self.compiled.texts.iter();
        let texts: usize = texts.map(|text| text.bytes.len()).sum();
        texts + size_of_val(self.compiled.places.as_slice()) + self.program().memory_usage()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.compiled.program
    }

    pub(crate) fn root(&self) -> NodeId {
        self.compiled.root
    }

    /// Where a subschema stands. The document is parsed again for it: violations are rare, schemas many.
    pub(crate) fn pointer(&self, node: NodeId) -> String {
        let Some(place) = self.compiled.places.get(node as usize) else {
            return String::new();
        };
        let Some(text) = self.compiled.texts.get(place.document as usize) else {
            return String::new();
        };
        let tape = Tape::parse(&text.bytes, &TapeLimits::LIFTED);
        let pointer = tape.map_or_else(|_| String::new(), |tape| tape.pointer(place.node));
        if place.document == 0 {
            pointer
        } else {
            format!("{}#{pointer}", text.uri)
        }
    }
}
