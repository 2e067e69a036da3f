//! The result of a validation.

use std::fmt;

/// The boolean verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The instance conforms.
    Valid,
    /// It does not.
    Invalid,
    /// The fuel ran out before an answer.
    Exhausted,
}

/// The explained verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The instance conforms.
    Valid,
    /// It does not, and this is why.
    Invalid(Violations),
    /// The fuel ran out before an answer.
    Exhausted,
}

impl Outcome {
    /// The same answer without its reasons.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Valid => Verdict::Valid,
            Self::Invalid(_) => Verdict::Invalid,
            Self::Exhausted => Verdict::Exhausted,
        }
    }
}

/// One to sixteen violations, in the order of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations {
    first: Violation,
    rest: Vec<Violation>,
}

impl Violations {
    pub(crate) fn new(first: Violation, rest: Vec<Violation>) -> Self {
        Self { first, rest }
    }

    /// The first violation.
    pub fn first(&self) -> &Violation {
        &self.first
    }

    /// All violations that were collected.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// How many were collected; at least one.
    #[expect(
        clippy::len_without_is_empty,
        reason = "there is always a first violation"
    )]
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }
}

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// An item of an array.
    Index(u32),
    /// A member of an object. The name is the instance's own text, and as trustworthy.
    Property {
        /// The decoded name.
        name: Box<str>,
        /// The member's position in the object.
        ordinal: u32,
    },
}

/// One assertion that did not hold. It carries places and types, never values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub(crate) keyword: &'static str,
    pub(crate) path: Vec<Segment>,
    pub(crate) schema_pointer: String,
    pub(crate) expected: String,
    pub(crate) actual: &'static str,
}

impl Violation {
    /// The keyword that failed.
    pub fn keyword(&self) -> &str {
        self.keyword
    }

    /// The way from the root of the instance to the value that failed.
    pub fn path(&self) -> &[Segment] {
        &self.path
    }

    /// The same as an RFC 6901 pointer. It contains the instance's own property names.
    pub fn instance_pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.path {
            pointer.push('/');
            match segment {
                Segment::Index(index) => pointer.push_str(&index.to_string()),
                Segment::Property { name, .. } => {
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }

    /// Where the keyword stands in the schema, as an RFC 6901 pointer; after a URI and `#` in another document.
    pub fn schema_pointer(&self) -> &str {
        &self.schema_pointer
    }

    /// What would have been right, in words.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The JSON type of the value that failed.
    pub fn actual(&self) -> &'static str {
        self.actual
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.instance_pointer();
        let place = if pointer.is_empty() {
            "the root"
        } else {
            &pointer
        };
        write!(
            f,
            "{} at {place}: expected {}, got {}",
            self.keyword, self.expected, self.actual
        )
    }
}
