//! A compiled schema, for programs that validate JSON text by themselves.

use std::cell::Cell;

use countersign_schema::{Compiler, Dialect, Fuel, Outcome, Schema, Unenforceable, Verdict};
use countersign_tape::{Limits, Scratch, Tape};

thread_local! {
    /// The buffers of the last tape, so that not every call allocates. A tape does not keep very large ones.
    static SCRATCH: Cell<Scratch> = Cell::default();
}

/// A schema that can be enforced.
pub struct CompiledSchema(Schema);

/// Why a schema or an instance cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// A stable word.
    pub kind: &'static str,
    /// Where in the schema.
    pub pointer: String,
    /// One sentence, without any value.
    pub message: String,
}

/// What came of validating an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaOutcome {
    /// It conforms.
    Valid,
    /// It does not: keyword, instance pointer, schema pointer, expected, actual.
    Invalid(Box<[String; 5]>),
    /// Judging it costs more than it may.
    Exhausted,
    /// It is not JSON.
    NotJson,
}

impl SchemaOutcome {
    /// A stable word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid(_) => "invalid",
            Self::Exhausted => "exhausted",
            Self::NotJson => "not_json",
        }
    }

    /// A number for languages in which a word costs more than the judging: 0 valid, 1 invalid, 2 exhausted, 3 not JSON.
    pub const fn as_number(&self) -> u32 {
        match self {
            Self::Valid => 0,
            Self::Invalid(_) => 1,
            Self::Exhausted => 2,
            Self::NotJson => 3,
        }
    }

    /// The word, then the parts of the violation if there is one.
    pub fn into_parts(self) -> Vec<String> {
        let mut parts = vec![self.as_str().to_owned()];
        if let Self::Invalid(violation) = self {
            parts.extend(*violation);
        }
        parts
    }
}

impl SchemaError {
    /// The parts as JSON text, for languages whose errors have only a message.
    pub fn to_json(&self) -> String {
        let Self {
            kind,
            pointer,
            message,
        } = self;
        serde_json::json!({"message": message, "kind": kind, "pointer": pointer}).to_string()
    }
}

impl CompiledSchema {
    /// Compiles JSON text. `dialect` holds where the schema names none.
    pub fn compile(
        schema: &[u8],
        dialect: &str,
        assert_formats: bool,
    ) -> Result<Self, SchemaError> {
        let dialects = [
            Dialect::Draft202012,
            Dialect::Draft201909,
            Dialect::Draft7,
            Dialect::Draft6,
            Dialect::Draft4,
        ];
        let named = dialects.into_iter().find(|known| known.as_str() == dialect);
        let dialect = named.ok_or_else(|| SchemaError {
            kind: "unknown_dialect",
            pointer: String::new(),
            message: format!(
                "unknown dialect; allowed: {}",
                dialects.map(Dialect::as_str).join(", ")
            ),
        })?;
        let compiler = Compiler::new()
            .default_dialect(dialect)
            .assert_formats(assert_formats);
        compiler
            .compile(schema)
            .map(Self)
            .map_err(|why| unenforceable(&why))
    }

    /// Whether an instance conforms.
    pub fn is_valid(&self, instance: &[u8]) -> SchemaOutcome {
        with_tape(instance, |tape| {
            match self.0.is_valid(tape, &mut Fuel::for_instance(tape, 1.0)) {
                Verdict::Valid => SchemaOutcome::Valid,
                Verdict::Invalid => SchemaOutcome::Invalid(Box::default()),
                Verdict::Exhausted => SchemaOutcome::Exhausted,
            }
        })
    }

    /// The same, with the first violation.
    pub fn validate(&self, instance: &[u8]) -> SchemaOutcome {
        with_tape(instance, |tape| {
            match self.0.validate(tape, &mut Fuel::for_instance(tape, 1.0)) {
                Outcome::Valid => SchemaOutcome::Valid,
                Outcome::Exhausted => SchemaOutcome::Exhausted,
                Outcome::Invalid(violations) => {
                    let first = violations.first();
                    SchemaOutcome::Invalid(Box::new([
                        first.keyword().to_owned(),
                        first.instance_pointer(),
                        first.schema_pointer().to_owned(),
                        first.expected().to_owned(),
                        first.actual().to_owned(),
                    ]))
                }
            }
        })
    }
}

/// Judges an instance on a tape whose buffers the thread keeps for the next one.
fn with_tape(instance: &[u8], judge: impl FnOnce(&Tape<'_>) -> SchemaOutcome) -> SchemaOutcome {
    let mut scratch = SCRATCH.take();
    let outcome = match Tape::parse_with(instance, &Limits::LIFTED, &mut scratch) {
        Ok(tape) => {
            let outcome = judge(&tape);
            tape.recycle(&mut scratch);
            outcome
        }
        Err(_) => SchemaOutcome::NotJson,
    };
    SCRATCH.set(scratch);
    outcome
}

fn unenforceable(why: &Unenforceable) -> SchemaError {
    let (kind, pointer) = match why {
        Unenforceable::NotJson { .. } => ("not_json", ""),
        Unenforceable::Invalid { pointer, .. } => ("invalid", pointer.as_str()),
        Unenforceable::ExternalRef { .. } => ("external_ref", ""),
        Unenforceable::DanglingRef { pointer } => ("dangling_ref", pointer.as_str()),
        Unenforceable::UnknownDialect { .. } => ("unknown_dialect", ""),
        Unenforceable::UnknownVocabulary { .. } => ("unknown_vocabulary", ""),
        Unenforceable::Pattern { pointer, .. } => ("pattern", pointer.as_str()),
        _ => ("limit", ""),
    };
    let message = match why {
        // Texts of the schema's author are not repeated.
        Unenforceable::ExternalRef { .. } => "external $ref is never fetched".to_owned(),
        Unenforceable::UnknownDialect { .. } => "unknown $schema dialect".to_owned(),
        Unenforceable::UnknownVocabulary { .. } => "a required vocabulary is unknown".to_owned(),
        Unenforceable::Pattern { .. } => "a pattern cannot be enforced".to_owned(),
        other => other.to_string(),
    };
    SchemaError {
        kind,
        pointer: pointer.to_owned(),
        message,
    }
}
