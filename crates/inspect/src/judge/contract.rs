//! What a tool declared about itself, captured once: its schemas as received, their digests, the version
//! of the tool list, and the compiled schemas or the reason they do not compile. A call keeps the
//! contract it started with, even if the tool list changes while it runs.

mod check;
mod declared;
mod diagnostic;
mod free_text;

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use countersign_tape::{Kind, Span, members};

pub(crate) use check::{Conformance, ConformanceReader, apply_schema, check, check_cleaned};
pub use declared::{DeclaredSchema, SchemaKind};
pub use diagnostic::Diagnostic;

use crate::config::{Advertise, OutputValidation};
use crate::digest::Digest;
use crate::era::ClientEra;
use crate::error::Error;
use crate::tool::ToolName;

/// A tool's declaration on its way to becoming a [`Contract`].
///
/// ```
/// use countersign_inspect::{Declaration, config::OutputValidation};
///
/// let tool = br#"{"name":"count","outputSchema":{"type":"integer"}}"#;
/// let contract = Declaration::read(tool)?.generation(7).capture(&OutputValidation::default());
/// assert_eq!(contract.tool().tool(), "count");
/// assert_eq!(contract.output().map(|schema| schema.bytes()), Some(&br#"{"type":"integer"}"#[..]));
/// assert!(!contract.has_free_text());
/// # Ok::<(), countersign_inspect::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Declaration {
    tool: ToolName,
    generation: u64,
    output: Option<Bytes>,
    input: Option<Bytes>,
    documents: Vec<(String, Bytes)>,
    free_text: Option<bool>,
}

impl Declaration {
    /// A tool that declares nothing yet.
    pub fn new(tool: ToolName) -> Self {
        Self {
            tool,
            generation: 0,
            output: None,
            input: None,
            documents: Vec::new(),
            free_text: None,
        }
    }

    /// Reads one element of a tool list. Only `name`, `inputSchema` and `outputSchema` are
    /// read; [`capture`](Self::capture) checks whether the schemas can be enforced.
    pub fn read(tool: &[u8]) -> Result<Self, Error> {
        Self::read_with(tool, |schema| Bytes::copy_from_slice(schema.bytes(tool)))
    }

    /// The same without a copy of the schemas: they keep all of `tool` in memory.
    pub fn read_shared(tool: &Bytes) -> Result<Self, Error> {
        Self::read_with(tool, |schema| tool.slice(schema.range()))
    }

    fn read_with(tool: &[u8], bytes_of: impl Fn(Span) -> Bytes) -> Result<Self, Error> {
        let object = countersign_tape::scan(tool, &countersign_tape::ScanLimits::default())
            .map_err(|_| Error::declaration("not JSON"))?;
        if object.kind() != Kind::Object {
            return Err(Error::declaration("not an object"));
        }
        let mut name = None;
        let mut schemas = [None, None];
        for (key, value) in members(tool, object.root()) {
            let slot = match key.string(tool).as_deref() {
                Some("name") => {
                    name = value.string(tool);
                    continue;
                }
                Some("inputSchema") => 0,
                Some("outputSchema") => 1,
                _ => continue,
            };
            // `null` is how some servers write that there is none.
            let is_declared = value.kind(tool) != Some(Kind::Null);
            let schema = is_declared.then(|| bytes_of(value));
            if let Some(slot) = schemas.get_mut(slot)
                && schema.is_some()
                && std::mem::replace(slot, schema).is_some()
            {
                return Err(Error::declaration("a schema is declared twice"));
            }
        }
        let name = name.ok_or_else(|| Error::declaration("no name"))?;
        let [input, output] = schemas;
        Ok(Self {
            output,
            input,
            ..Self::new(ToolName::new(name.as_ref()))
        })
    }

    /// The tool it is about.
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// Names the server, where there are several.
    #[must_use]
    pub fn server(mut self, server: &str) -> Self {
        self.tool = ToolName::on_server(server, self.tool.tool());
        self
    }

    /// Sets the `outputSchema`, as JSON text.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Bytes>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// Sets the `inputSchema`, as JSON text.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Bytes>) -> Self {
        self.input = Some(schema.into());
        self
    }

    /// The declared schemas as JSON text: input, output.
    pub(crate) fn schemas(&self) -> (Option<&[u8]>, Option<&[u8]>) {
        (self.input.as_deref(), self.output.as_deref())
    }

    /// Sets which version of the tool list this is from.
    #[must_use]
    pub fn generation(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    /// Hands in a document that references may resolve to. Nothing is ever fetched here.
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, schema: impl Into<Bytes>) -> Self {
        self.documents.push((uri.into(), schema.into()));
        self
    }

    /// Overrides what the schema says about free text.
    #[must_use]
    pub fn free_text(mut self, free_text: bool) -> Self {
        self.free_text = Some(free_text);
        self
    }

    /// Compiles what is declared. Never fails: a schema that cannot be enforced is captured as
    /// such, with a diagnostic.
    pub fn capture(self, config: &OutputValidation) -> Contract {
        let compile = |schema, kind| DeclaredSchema::new(schema, kind, &self.documents, config);
        let (output, input) = (self.output.clone(), self.input.clone());
        let output = output.map(|schema| compile(schema, SchemaKind::Output));
        let input = input.map(|schema| compile(schema, SchemaKind::Input));
        let diagnostics = [&output, &input]
            .into_iter()
            .flatten()
            .flat_map(|schema| Diagnostic::for_schema(schema, &self.tool, self.generation))
            .collect();
        Contract {
            declaration: self,
            output,
            input,
            diagnostics,
            diagnostics_taken: AtomicBool::new(false),
        }
    }
}

/// A tool's captured declaration. Immutable; share it.
#[derive(Debug)]
pub struct Contract {
    declaration: Declaration,
    output: Option<DeclaredSchema>,
    input: Option<DeclaredSchema>,
    diagnostics: Vec<Diagnostic>,
    diagnostics_taken: AtomicBool,
}

impl Contract {
    /// The contract of a tool that declares nothing.
    pub fn undeclared(tool: ToolName) -> Self {
        Declaration::new(tool).capture(&OutputValidation::default())
    }

    /// Whose contract this is.
    pub fn tool(&self) -> &ToolName {
        &self.declaration.tool
    }

    /// Which version of the tool list it is from.
    pub fn generation(&self) -> u64 {
        self.declaration.generation
    }

    /// The declared `outputSchema`.
    pub fn output(&self) -> Option<&DeclaredSchema> {
        self.output.as_ref()
    }

    /// The declared `inputSchema`.
    pub fn input(&self) -> Option<&DeclaredSchema> {
        self.input.as_ref()
    }

    /// Whether a conforming result may carry free text: true unless the schema proves the
    /// opposite or the operator said so.
    pub fn has_free_text(&self) -> bool {
        let output = self.output.as_ref();
        let derived = || output.is_none_or(DeclaredSchema::has_free_text);
        self.declaration.free_text.unwrap_or_else(derived)
    }

    /// What the operator should know about the declaration.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same, but only to the first caller: one diagnostic per tool and generation.
    pub fn take_diagnostics(&self) -> &[Diagnostic] {
        if self.diagnostics.is_empty() || self.diagnostics_taken.swap(true, Ordering::Relaxed) {
            return &[];
        }
        &self.diagnostics
    }

    /// Whether a client should see the declared `outputSchema`. A schema that cannot be enforced is
    /// never shown, because some clients then reject the whole list; one whose root does not say
    /// `"type": "object"` is not shown to legacy clients for the same reason.
    pub fn advertises_output(&self, client: ClientEra, how: Advertise, violated: bool) -> bool {
        let shown = match how {
            Advertise::Always => true,
            Advertise::Conforming => !violated,
            Advertise::Never => false,
        };
        let acceptable = |schema: &DeclaredSchema| {
            schema.schema().is_ok() && (client != ClientEra::Legacy || schema.says_object())
        };
        shown && self.output.as_ref().is_some_and(acceptable)
    }

    /// Whether clients may see the declared `inputSchema`: any object schema, compiled or not, since a model makes its
    /// arguments from it. If not, advertise `{"type":"object"}` in its place.
    pub fn advertises_input(&self) -> bool {
        self.input.as_ref().is_some_and(DeclaredSchema::says_object)
    }
}

/// The schema that a result was validated against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaVersion {
    /// SHA-256 of the schema as received.
    pub digest: Digest,
    /// The version of the tool list it is from.
    pub generation: u64,
}

#[cfg(test)]
mod tests;
