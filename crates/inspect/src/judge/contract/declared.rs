//! One declared schema: its text, its digest, and the compiled form or the reason there is none.

mod compiled_schemas;

use std::sync::Arc;

use bytes::Bytes;
use countersign_schema::{Compiler, Schema, Unenforceable};
use countersign_tape::{Kind, Limits, ScanLimits, Span, Tape, elements, members, scan};

use super::free_text::{Interpretation, admits_free_text};
use crate::config::OutputValidation;
use crate::digest::Digest;

/// Which of a tool's two schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaKind {
    /// `outputSchema`
    Output,
    /// `inputSchema`
    Input,
}

impl SchemaKind {
    /// The member's name in a tool declaration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Output => "outputSchema",
            Self::Input => "inputSchema",
        }
    }
}

/// A schema as a tool declared it.
#[derive(Debug)]
pub struct DeclaredSchema {
    kind: SchemaKind,
    bytes: Bytes,
    digest: Digest,
    compiled: Result<Arc<Schema>, Unenforceable>,
    free_text: bool,
    says_object: bool,
    wraps_result: bool,
}

impl DeclaredSchema {
    pub(super) fn new(
        bytes: Bytes,
        kind: SchemaKind,
        documents: &[(String, Bytes)],
        config: &OutputValidation,
    ) -> Self {
        let digest = Digest::sha256(&bytes);
        let compiled = compile((&bytes, digest), documents, config);
        let mut declared = Self {
            kind,
            bytes: Bytes::new(),
            digest,
            compiled,
            free_text: true,
            says_object: says_object(&bytes),
            wraps_result: false,
        };
        // Only text the compiler accepted is worth a second look, and the compiler's limits hold for it.
        if let Ok(schema) = &declared.compiled
            && let Ok(tape) = Tape::parse(&bytes, &Limits::LIFTED)
        {
            let reading = Interpretation {
                dialect: schema.dialect(),
                assert_formats: config.assert_formats,
            };
            declared.free_text = admits_free_text(&tape, reading);
            declared.wraps_result = tape.get(0, "x-fastmcp-wrap-result").is_some();
        }
        declared.bytes = bytes;
        declared
    }

    /// Which of the two it is.
    pub fn kind(&self) -> SchemaKind {
        self.kind
    }

    /// The text as received.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of the text as received.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The compiled schema, or why it cannot be enforced.
    pub fn schema(&self) -> Result<&Schema, &Unenforceable> {
        self.compiled.as_deref()
    }

    /// Whether a conforming value may carry free text.
    pub fn has_free_text(&self) -> bool {
        self.free_text
    }

    /// Whether the text is an object schema, compiled or not: its root says `"type": "object"`, and `properties` and
    /// `required` have the JSON types that clients insist on.
    pub(super) fn says_object(&self) -> bool {
        self.says_object
    }

    /// Whether the server announces a wrapped result, as one SDK does for non-object values.
    pub(super) fn wraps_result(&self) -> bool {
        self.wraps_result
    }
}

/// Compiles a schema, or finds it compiled already.
fn compile(
    (bytes, digest): (&Bytes, Digest),
    documents: &[(String, Bytes)],
    config: &OutputValidation,
) -> Result<Arc<Schema>, Unenforceable> {
    // A boolean is a schema, but not one a tool may declare: `true` would be a contract that
    // says nothing while looking like one.
    if matches!(bytes.trim_ascii(), b"true" | b"false") {
        return Err(Unenforceable::Invalid {
            pointer: String::new(),
            reason: "a tool's schema must be an object",
        });
    }
    let mut compiler = Compiler::new().assert_formats(config.assert_formats);
    if documents.is_empty() {
        let key = (digest, config.assert_formats);
        return compiled_schemas::share(key, || compiler.compile(bytes));
    }
    for (uri, document) in documents {
        compiler = compiler.document(uri, document.to_vec());
    }
    compiler.compile(bytes).map(Arc::new)
}

/// Looks at the text alone, so that a schema the compiler refused has an answer too. A member that is written twice
/// must be right both times, since readers differ in which one they take.
fn says_object(schema: &[u8]) -> bool {
    let Ok(found) = scan(schema, &ScanLimits::default()) else {
        return false;
    };
    if found.kind() != Kind::Object {
        return false;
    }
    let mut is_typed = false;
    for (key, value) in members(schema, found.root()) {
        let is_right = match key.string(schema).as_deref() {
            Some("type") => {
                is_typed = true;
                value.is_text(schema, "object")
            }
            Some("properties") => is_map_of_schemas(schema, value),
            Some("required") => is_list_of_names(schema, value),
            _ => true,
        };
        if !is_right {
            return false;
        }
    }
    is_typed
}

fn is_map_of_schemas(text: &[u8], value: Span) -> bool {
    let is_schema = |kind| matches!(kind, Some(Kind::Object | Kind::True | Kind::False));
    value.kind(text) == Some(Kind::Object)
        && members(text, value).all(|(_, schema)| is_schema(schema.kind(text)))
}

fn is_list_of_names(text: &[u8], value: Span) -> bool {
    value.kind(text) == Some(Kind::Array)
        && elements(text, value).all(|name| name.kind(text) == Some(Kind::String))
}
