//! The compiled form of a schema: flat tables that validation walks without chasing pointers.
//!
//! A program is immutable once built. Nodes refer to each other and to their plans by index; [`NONE`] means absent.

mod names;

use crate::format;
use crate::keyword::Keyword;
use crate::number::{Decimal, Divisor};
use crate::pattern::Pattern;
use crate::types::TypeSet;

pub(crate) use names::Names;

/// Index of a subschema in [`Program::nodes`].
pub(crate) type NodeId = u32;

/// The absent index.
pub(crate) const NONE: u32 = u32::MAX;

/// A compiled schema.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) branches: Vec<NodeId>,
    pub(crate) values: Vec<Values>,
    pub(crate) numbers: Vec<NumberPlan>,
    pub(crate) strings: Vec<StringPlan>,
    pub(crate) objects: Vec<ObjectPlan>,
    pub(crate) arrays: Vec<ArrayPlan>,
    pub(crate) patterns: Vec<Pattern>,
    /// For each dynamic anchor that several resources define: the resources and where their anchor points.
    pub(crate) dynamic_anchors: Vec<Vec<(u32, NodeId)>>,
}

/// One subschema. Fields are ordered by how often validation reads them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// Values that pass by what they are: nothing more is asked of them.
    pub(crate) passes: TypeSet,
    /// Containers that validation may run straight through: members or items are listed, and nothing else is asked.
    pub(crate) plain: TypeSet,
    /// Scalars of which one plan, or one list of values, is all that is asked.
    pub(crate) simple: TypeSet,
    pub(crate) types: TypeSet,
    pub(crate) flags: Flags,
    pub(crate) object: u32,
    pub(crate) array: u32,
    pub(crate) string: u32,
    pub(crate) number: u32,
    /// `enum` and `const`: a range of [`Program::values`].
    pub(crate) values: Range,
    /// Applicators on the same instance value: a range of [`Program::operations`].
    pub(crate) operations: Range,
    pub(crate) unevaluated_items: NodeId,
    pub(crate) unevaluated_properties: NodeId,
    /// The schema resource it belongs to, for the dynamic scope.
    pub(crate) resource: u32,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            passes: TypeSet::EMPTY,
            plain: TypeSet::EMPTY,
            simple: TypeSet::EMPTY,
            types: TypeSet::ANY,
            flags: Flags::default(),
            object: NONE,
            array: NONE,
            string: NONE,
            number: NONE,
            values: Range::default(),
            operations: Range::default(),
            unevaluated_items: NONE,
            unevaluated_properties: NONE,
            resource: 0,
        }
    }
}

/// Properties of a node that are known once the whole program is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Accepts everything.
    pub(crate) const TRUE: Flags = Flags(1);
    /// Accepts nothing: the boolean schema `false`.
    pub(crate) const FALSE: Flags = Flags(2);
    /// Reached on the same value by several ways: worth remembering.
    pub(crate) const MEMO: Flags = Flags(4);
    /// Its applicators nest so little that they may be decided without a frame, on a scalar.
    pub(crate) const SHALLOW: Flags = Flags(8);

    /// The same for any value: none of them looks into objects or arrays.
    pub(crate) const SHALLOW_EVERYWHERE: Flags = Flags(16);
    /// A frame may need bits: for many names, or for what is evaluated.
    pub(crate) const BITS: Flags = Flags(32);
    /// Draft-04: an `integer` is a number written without fraction and exponent, so `1.0` is none.
    pub(crate) const INTEGER_LITERALS: Flags = Flags(64);

    #[inline]
    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }
}

/// A range of indexes, half as large as the standard one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Range {
    #[inline]
    pub(crate) fn len(self) -> u32 {
        self.end - self.start
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The entries of a table that are in the range.
    #[inline]
    pub(crate) fn slice<T>(self, table: &[T]) -> &[T] {
        table
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// An applicator that judges the same instance value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// `$ref`, and `$dynamicRef` with one candidate.
    Ref(NodeId),
    /// A reference that the dynamic scope decides, with the target when the scope has none.
    DynamicRef {
        anchor: u32,
        fallback: NodeId,
    },
    All(Range),
    Any(Range),
    One(Range),
    Not(NodeId),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    /// `dependentSchemas`: applies when the object has the property with this index in its plan's names.
    Dependent {
        property: u32,
        schema: NodeId,
    },
}

impl Operation {
    pub(crate) fn keyword(self) -> Keyword {
        match self {
            Self::Ref(_) => Keyword::Ref,
            Self::DynamicRef { .. } => Keyword::DynamicRef,
            Self::All(_) => Keyword::AllOf,
            Self::Any(_) => Keyword::AnyOf,
            Self::One(_) => Keyword::OneOf,
            Self::Not(_) => Keyword::Not,
            Self::If { .. } => Keyword::If,
            Self::Dependent { .. } => Keyword::DependentSchemas,
        }
    }

    /// The subschemas that it names one by one, with [`NONE`] for an absent one. Branches are elsewhere.
    pub(crate) fn targets_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let targets = match self {
            Self::Ref(id)
            | Self::Not(id)
            | Self::DynamicRef { fallback: id, .. }
            | Self::Dependent { schema: id, .. } => [Some(id), None, None],
            Self::If {
                condition,
                then,
                otherwise,
            } => [Some(condition), Some(then), Some(otherwise)],
            Self::All(_) | Self::Any(_) | Self::One(_) => [None, None, None],
        };
        targets.into_iter().flatten()
    }
}

/// `enum` or `const`, sorted by the kind of value so that most instances meet one comparison.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one JSON value or one question"
)]
pub(crate) struct Values {
    pub(crate) keyword: Keyword,
    pub(crate) null: bool,
    pub(crate) yes: bool,
    pub(crate) no: bool,
    pub(crate) strings: Names,
    /// Canonical forms of numbers, arrays and objects, sorted.
    pub(crate) canonical: Vec<Box<[u8]>>,
    /// Whether any canonical form is an array or object.
    pub(crate) composite: bool,
}

#[derive(Debug, Default)]
pub(crate) struct NumberPlan {
    pub(crate) bounds: Vec<Bound>,
    pub(crate) multiple_of: Option<Divisor>,
    /// The lowest and the highest machine integer that holds every bound, where those are all that is asked.
    pub(crate) integers: Option<(i64, i64)>,
}

impl NumberPlan {
    /// Sets what follows from the rest.
    pub(crate) fn finish(&mut self) {
        if self.multiple_of.is_some() {
            return;
        }
        let (mut lowest, mut highest) = (i64::MIN, i64::MAX);
        for bound in &self.bounds {
            let Some(small) = bound.small else {
                return;
            };
            let (low, high) = match bound.keyword {
                Keyword::Minimum => (small, i64::MAX),
                Keyword::ExclusiveMinimum => (small.saturating_add(1), i64::MAX),
                Keyword::Maximum => (i64::MIN, small),
                _ => (i64::MIN, small.saturating_sub(1)),
            };
            lowest = lowest.max(low);
            highest = highest.min(high);
        }
        self.integers = Some((lowest, highest));
    }
}

#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) keyword: Keyword,
    pub(crate) value: Decimal,
    /// The bound as a machine integer, for the usual case.
    pub(crate) small: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct StringPlan {
    pub(crate) min_length: u64,
    pub(crate) max_length: u64,
    /// Index into [`Program::patterns`].
    pub(crate) pattern: u32,
    pub(crate) format: Option<format::Check>,
}

/// A subschema with its shortcuts at hand, for the straight way through plain containers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) child: NodeId,
    pub(crate) passes: TypeSet,
    pub(crate) plain: TypeSet,
    pub(crate) simple: TypeSet,
    /// The keyword that leads there.
    pub(crate) keyword: Keyword,
}

impl Target {
    /// Asks nothing.
    pub(crate) const NONE: Target = Target {
        child: NONE,
        passes: TypeSet::ANY,
        plain: TypeSet::EMPTY,
        simple: TypeSet::EMPTY,
        keyword: Keyword::FalseSchema,
    };

    /// The subschema of this number, or nothing.
    pub(crate) fn new(nodes: &[Node], child: NodeId, keyword: Keyword) -> Self {
        nodes.get(child as usize).map_or(Self::NONE, |node| Self {
            child,
            passes: node.passes,
            plain: node.plain,
            simple: node.simple,
            keyword,
        })
    }
}

#[derive(Debug)]
pub(crate) struct ObjectPlan {
    /// Every property name some keyword of this subschema mentions.
    pub(crate) names: Names,
    /// Per name: the schema of `properties`, or [`NONE`].
    pub(crate) schemas: Vec<NodeId>,
    /// What a member of another name meets, when the plan is plain; `names` knows it for the others.
    pub(crate) other: Target,
    /// Name indexes.
    pub(crate) required: Vec<u32>,
    /// The same as bits, when all names fit in 64 of them.
    pub(crate) required_mask: u64,
    pub(crate) dependent_required: Vec<DependentRequired>,
    /// Pattern index and schema.
    pub(crate) patterns: Vec<(u32, NodeId)>,
    pub(crate) additional: NodeId,
    pub(crate) property_names: NodeId,
    pub(crate) min_properties: u64,
    pub(crate) max_properties: u64,
}

#[derive(Debug)]
pub(crate) struct DependentRequired {
    pub(crate) keyword: Keyword,
    pub(crate) when: u32,
    pub(crate) then: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct ArrayPlan {
    pub(crate) prefix: Vec<NodeId>,
    /// The same with shortcuts, when the plan is plain.
    pub(crate) targets: Vec<Target>,
    /// What other items meet.
    pub(crate) other: Target,
    /// The keyword that `prefix` came from.
    pub(crate) prefix_keyword: Keyword,
    pub(crate) rest: NodeId,
    /// The keyword that `rest` came from.
    pub(crate) rest_keyword: Keyword,
    pub(crate) contains: NodeId,
    pub(crate) min_contains: u64,
    pub(crate) max_contains: u64,
    /// 2020-12: an item that matches `contains` counts as evaluated.
    pub(crate) contains_evaluates: bool,
    pub(crate) min_items: u64,
    pub(crate) max_items: u64,
    pub(crate) unique: bool,
}

impl Node {
    /// Whether any instance passes.
    pub(crate) fn asserts_nothing(&self) -> bool {
        self.types == TypeSet::ANY
            && self.values.is_empty()
            && self.operations.is_empty()
            && [
                self.object,
                self.array,
                self.string,
                self.number,
                self.unevaluated_items,
                self.unevaluated_properties,
            ]
            .iter()
            .all(|part| *part == NONE)
    }
}

impl ObjectPlan {
    fn shrink(&mut self) {
        self.names.shrink();
        self.schemas.shrink_to_fit();
        self.required.shrink_to_fit();
        self.dependent_required.shrink_to_fit();
        self.patterns.shrink_to_fit();
    }

    /// Whether the names seen in one object fit in a word.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.schemas.len() <= 64
    }

    /// Whether the number of members matters.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.min_properties != 0 || self.max_properties != u64::MAX
    }

    /// Whether each member has at most one schema, and names fit in a word.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_narrow()
            && self.patterns.is_empty()
            && self.property_names == NONE
            && self.dependent_required.is_empty()
    }

    pub(crate) fn asserts_nothing(&self) -> bool {
        self.names.len() == 0
            && self.patterns.is_empty()
            && self.additional == NONE
            && self.property_names == NONE
            && self.min_properties == 0
            && self.max_properties == u64::MAX
    }
}

impl ArrayPlan {
    /// Whether the number of items matters.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.min_items != 0 || self.max_items != u64::MAX
    }

    /// Whether each item has at most one schema.
    pub(crate) fn is_plain(&self) -> bool {
        self.contains == NONE && !self.unique
    }

    pub(crate) fn asserts_nothing(&self) -> bool {
        self.prefix.is_empty()
            && self.rest == NONE
            && self.contains == NONE
            && self.min_items == 0
            && self.max_items == u64::MAX
            && !self.unique
    }
}

impl Program {
    /// What a node applies to the value that it judges.
    #[inline]
    pub(crate) fn operations_of(&self, node: NodeId) -> &[Operation] {
        let node = &self.nodes[node as usize];
        node.operations.slice(&self.operations)
    }

    /// Gives back the room that the tables have for growing: most have one or two entries, and room for four. A gateway
    /// may hold a program for each of thousands of tools.
    pub(crate) fn shrink(&mut self) {
        for values in &mut self.values {
            values.strings.shrink();
            values.canonical.shrink_to_fit();
        }
        for number in &mut self.numbers {
            number.bounds.shrink_to_fit();
        }
        self.objects.iter_mut().for_each(ObjectPlan::shrink);
        for array in &mut self.arrays {
            array.prefix.shrink_to_fit();
            array.targets.shrink_to_fit();
        }
        self.nodes.shrink_to_fit();
        self.operations.shrink_to_fit();
        self.branches.shrink_to_fit();
        self.values.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.strings.shrink_to_fit();
        self.objects.shrink_to_fit();
        self.arrays.shrink_to_fit();
        self.patterns.shrink_to_fit();
        self.dynamic_anchors.shrink_to_fit();
    }

    /// Bytes held, roughly.
    pub(crate) fn memory_usage(&self) -> usize {
        let object = |plan: &ObjectPlan| size_of_val(plan) + plan.names.memory_usage();
        let objects: usize = self.objects.iter().map(object).sum();
        let values: usize = self.values.iter().map(Values::memory_usage).sum();
        let patterns: usize = self.patterns.iter().map(Pattern::memory_usage).sum();
        size_of_val(self.nodes.as_slice())
            + size_of_val(self.operations.as_slice())
            + size_of_val(self.branches.as_slice())
            + size_of_val(self.numbers.as_slice())
            + size_of_val(self.strings.as_slice())
            + size_of_val(self.arrays.as_slice())
            + objects
            + values
            + patterns
    }
}

impl Values {
    fn memory_usage(&self) -> usize {
        let forms = self.canonical.iter();
        let canonical: usize = forms.map(|form| form.len() + size_of_val(form)).sum();
        size_of_val(self) + self.strings.memory_usage() + canonical
    }
}
