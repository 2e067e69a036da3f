//! Which entries of a table belong to a node.

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
