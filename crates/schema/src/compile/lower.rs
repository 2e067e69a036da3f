//! From keywords to plans, one subschema at a time.
//!
//! Each subschema's members are read once into a table by keyword; the parts of this module then build the plan for
//! one kind of instance each. A keyword whose value its specification forbids makes the schema unenforceable.

mod applicator;
mod array;
mod object;
mod scalar;
mod value;

use std::collections::BTreeMap;

use countersign_tape::{Kind, Tape};

use super::SchemaLocation;
use super::index::{Index, position};
use crate::dialect::Dialect;
use crate::keyword::Keyword;
use crate::number::Number;
use crate::pattern::{Pattern, PatternLimits};
use crate::program::{Flags, NONE, Node, NodeId, Operation, Program, Range};
use crate::rules::Rules;
use crate::unenforceable::Unenforceable;

/// Lowers every subschema, including those that references discover on the way.
pub(super) fn lower(index: &mut Index<'_>, program: &mut Program) -> Result<(), Unenforceable> {
    let mut shared = Shared::default();
    while program.nodes.len() < index.subschemas.len() {
        let id = position(program.nodes.len());
        let node = Lowering::new(index, program, &mut shared, id).node()?;
        program.nodes.push(node);
    }
    link_dynamic(index, program, &shared);
    Ok(())
}

/// What subschemas share: each text is compiled once.
#[derive(Debug, Default)]
struct Shared {
    patterns: BTreeMap<String, u32>,
    pattern_bytes: usize,
    anchors: Vec<String>,
    enum_values: usize,
}

/// A dynamic reference whose anchor only one resource defines is an ordinary one.
fn link_dynamic(index: &Index<'_>, program: &mut Program, shared: &Shared) {
    program.dynamic_anchors = shared
        .anchors
        .iter()
        .map(|anchor| index.definers(anchor))
        .collect();
    for operation in &mut program.operations {
        if let Operation::DynamicRef { anchor, fallback } = *operation
            && program
                .dynamic_anchors
                .get(anchor as usize)
                .is_none_or(|definers| definers.len() < 2)
        {
            *operation = Operation::Ref(fallback);
        }
    }
    let dynamic = |operation: &Operation| matches!(operation, Operation::DynamicRef { .. });
    if !program.operations.iter().any(dynamic) {
        program.dynamic_anchors = Vec::new();
    }
}

/// The lowering of one subschema.
struct Lowering<'l, 'a> {
    index: &'l mut Index<'a>,
    program: &'l mut Program,
    shared: &'l mut Shared,
    place: SchemaLocation,
    resource: u32,
    rules: Rules,
    /// Tape node of each keyword's value.
    parts: [u32; Keyword::COUNT],
}

impl<'l, 'a> Lowering<'l, 'a> {
    fn new(
        index: &'l mut Index<'a>,
        program: &'l mut Program,
        shared: &'l mut Shared,
        id: NodeId,
    ) -> Self {
        let subschema = index.subschemas[id as usize];
        let rules = index.rules(subschema.resource);
        Self {
            place: subschema.place,
            resource: subschema.resource,
            rules,
            index,
            program,
            shared,
            parts: [NONE; Keyword::COUNT],
        }
    }

    fn node(mut self) -> Result<Node, Unenforceable> {
        let mut node = Node {
            resource: self.resource,
            ..Node::default()
        };
        match self.tape().node(self.place.node).kind() {
            Kind::True => node.flags.set(Flags::TRUE),
            Kind::False => node.flags.set(Flags::FALSE),
            _ => {
                self.read_parts();
                self.fill(&mut node)?;
            }
        }
        Ok(node)
    }

    fn read_parts(&mut self) {
        let tape = &self.index.documents[self.place.document as usize].tape;
        for (key, value) in tape.members(self.place.node) {
            if let Some(keyword) = Keyword::parse(&tape.string(key))
                && self.rules.knows(keyword)
                && let Some(part) = self.parts.get_mut(keyword as usize)
            {
                *part = value;
            }
        }
        // Up to draft-07 a reference hides everything beside it.
        if self.rules.dialect.reference_masks_siblings()
            && let Some(reference) = self.part(Keyword::Ref)
        {
            self.parts = [NONE; Keyword::COUNT];
            self.parts[Keyword::Ref as usize] = reference;
        }
    }

    fn fill(&mut self, node: &mut Node) -> Result<(), Unenforceable> {
        node.types = self.types()?;
        if self.rules.dialect == Dialect::Draft4 {
            node.flags.set(Flags::INTEGER_LITERALS);
        }
        node.values = self.values()?;
        node.number = self.number_plan()?;
        node.string = self.string_plan()?;
        node.object = self.object_plan()?;
        node.array = self.array_plan()?;
        node.operations = self.operations(node.object)?;
        node.unevaluated_items = self.schema(Keyword::UnevaluatedItems);
        node.unevaluated_properties = self.schema(Keyword::UnevaluatedProperties);
        if node.asserts_nothing() {
            node.flags.set(Flags::TRUE);
        }
        Ok(())
    }

    fn tape(&self) -> &Tape<'a> {
        self.index.tape(self.place)
    }

    fn part(&self, keyword: Keyword) -> Option<u32> {
        let part = self.parts[keyword as usize];
        (part != NONE).then_some(part)
    }

    /// The subschema a keyword holds.
    fn schema(&self, keyword: Keyword) -> NodeId {
        self.part(keyword)
            .map_or(NONE, |value| self.schema_at(value))
    }

    fn schema_at(&self, node: u32) -> NodeId {
        let place = self.place.with_node(node);
        self.index.find_subschema(place).unwrap_or(NONE)
    }

    fn invalid(&self, value: u32, reason: &'static str) -> Unenforceable {
        self.index.invalid(self.place.with_node(value), reason)
    }

    fn expect(&self, value: u32, kind: Kind, reason: &'static str) -> Result<(), Unenforceable> {
        self.index.expect(self.place.with_node(value), kind, reason)
    }

    fn boolean(&self, keyword: Keyword) -> Result<bool, Unenforceable> {
        let Some(value) = self.part(keyword) else {
            return Ok(false);
        };
        match self.tape().node(value).kind() {
            Kind::True => Ok(true),
            Kind::False => Ok(false),
            _ => Err(self.invalid(value, "must be a boolean")),
        }
    }

    /// A keyword that counts something; `otherwise` when it is absent.
    fn count(&self, keyword: Keyword, otherwise: u64) -> Result<u64, Unenforceable> {
        let Some(value) = self.part(keyword) else {
            return Ok(otherwise);
        };
        self.expect(value, Kind::Number, "must be a non-negative integer")?;
        Number::parse(self.tape().raw(value))
            .and_then(|number| number.as_count())
            .ok_or_else(|| self.invalid(value, "must be a non-negative integer"))
    }

    /// The decoded strings of an array value.
    fn strings(&self, array: u32) -> Result<Vec<String>, Unenforceable> {
        self.expect(array, Kind::Array, "must be an array of strings")?;
        let tape = self.tape();
        tape.children(array)
            .map(|child| {
                self.expect(child, Kind::String, "must be a string")?;
                Ok(tape.string(child).into_owned())
            })
            .collect()
    }

    /// Compiles a pattern, or finds the same one compiled before.
    fn pattern(&mut self, place: u32, text: &str) -> Result<u32, Unenforceable> {
        if let Some(known) = self.shared.patterns.get(text) {
            return Ok(*known);
        }
        let limits = self.index.settings().limits;
        let is_room = self.program.patterns.len() < limits.max_patterns;
        Unenforceable::check_limit(is_room, "patterns")?;
        let bounds = PatternLimits {
            max_bytes: limits.max_pattern_bytes,
            max_compiled: limits.max_compiled_pattern,
            max_table_work: table_work(self.program.patterns.len()),
            ..PatternLimits::default()
        };
        let pattern = Pattern::compile(text, &bounds).map_err(|error| Unenforceable::Pattern {
            pointer: self.index.pointer(self.place.with_node(place)),
            reason: error.to_string(),
        })?;
        self.shared.pattern_bytes += pattern.memory_usage();
        let is_kept = self.shared.pattern_bytes <= limits.max_compiled_patterns;
        Unenforceable::check_limit(is_kept, "compiled patterns")?;
        let number = append(&mut self.program.patterns, pattern);
        self.shared.patterns.insert(text.to_owned(), number);
        Ok(number)
    }
}

/// Appends an entry to a table of the program; gives its index.
fn append<T>(table: &mut Vec<T>, entry: T) -> u32 {
    table.push(entry);
    position(table.len() - 1)
}

/// Appends entries to a table of the program; gives their range.
fn append_all<T>(table: &mut Vec<T>, entries: impl IntoIterator<Item = T>) -> Range {
    let start = position(table.len());
    table.extend(entries);
    let end = position(table.len());
    Range { start, end }
}

/// What may be spent on a table for the next pattern: all that makes sense for the first few, then ever less, so that
/// many large patterns cost a schema no more than eight do.
fn table_work(patterns_before: usize) -> usize {
    PatternLimits::default().max_table_work >> (patterns_before / 4).min(16)
}
