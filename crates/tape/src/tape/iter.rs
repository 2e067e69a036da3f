//! Iterators over the direct children of a container, by node index.

use crate::node::Node;

/// The elements of an array, by node index.
#[derive(Debug, Clone)]
pub struct Children<'t> {
    pub(super) nodes: &'t [Node],
    pub(super) at: u32,
    pub(super) end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.at >= self.end {
            return None;
        }
        let here = self.at;
        self.at = self.nodes.get(here as usize)?.next;
        Some(here)
    }
}

/// The members of an object, as (key index, value index).
#[derive(Debug, Clone)]
pub struct Members<'t> {
    pub(super) nodes: &'t [Node],
    pub(super) at: u32,
    pub(super) end: u32,
}

impl Iterator for Members<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.at >= self.end {
            return None;
        }
        let key = self.at;
        self.at = self.nodes.get(key as usize + 1)?.next;
        Some((key, key + 1))
    }
}
