//! What is asked of numbers and strings, and which values `enum` and `const` list.

use crate::format;
use crate::keyword::Keyword;
use crate::number::{Decimal, Divisor};

use super::Names;

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

impl Values {
    /// Bytes held, roughly.
    pub(super) fn memory_usage(&self) -> usize {
        let forms = self.canonical.iter();
        let canonical: usize = forms.map(|form| form.len() + size_of_val(form)).sum();
        size_of_val(self) + self.strings.memory_usage() + canonical
    }
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
    /// Index into [`Program::patterns`](super::Program::patterns).
    pub(crate) pattern: u32,
    pub(crate) format: Option<format::Check>,
}
