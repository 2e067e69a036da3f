//! A set of short texts, found from a given place onwards. Steps through at most as many bytes as its longest text
//! has, so looking from every place of a text stays linear. Letters match in either case; the caller compares.

use std::collections::BTreeMap;

/// A compiled set; values are numbers given by the caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    edges: Vec<(u8, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    first_edge: u32,
    edges: u32,
    /// Values that end here.
    values: Vec<u32>,
}

impl Trie {
    /// Compiles texts with their values.
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut growing: Vec<(BTreeMap<u8, usize>, Vec<u32>)> = vec![Default::default()];
        for (text, value) in texts {
            let mut at = 0;
            for byte in text.bytes().map(|byte| byte.to_ascii_lowercase()) {
                let fresh = growing.len();
                let next = growing
                    .get_mut(at)
                    .map_or(fresh, |(edges, _)| *edges.entry(byte).or_insert(fresh));
                if next == fresh {
                    growing.push(Default::default());
                }
                at = next;
            }
            if let Some((_, values)) = growing.get_mut(at) {
                values.push(value);
            }
        }
        Self::flatten(growing)
    }

    fn flatten(growing: Vec<(BTreeMap<u8, usize>, Vec<u32>)>) -> Self {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut trie = Self::default();
        for (edges, values) in growing {
            trie.nodes.push(Node {
                first_edge: narrow(trie.edges.len()),
                edges: narrow(edges.len()),
                values,
            });
            trie.edges
                .extend(edges.into_iter().map(|(byte, node)| (byte, narrow(node))));
        }
        trie
    }

    /// Calls `found(length, values)` for every text at the start of `bytes`, shortest first. Returns the steps made.
    pub(crate) fn find_prefixes(&self, bytes: &[u8], mut found: impl FnMut(usize, &[u32])) -> u64 {
        let Some(mut node) = self.nodes.first() else {
            return 1;
        };
        let mut steps = 1;
        for (at, byte) in bytes.iter().enumerate() {
            let Some(next) = self.next(node, byte.to_ascii_lowercase()) else {
                break;
            };
            steps += 1;
            node = next;
            if !node.values.is_empty() {
                found(at + 1, &node.values);
            }
        }
        steps
    }

    fn next(&self, node: &Node, byte: u8) -> Option<&Node> {
        let first = node.first_edge as usize;
        let edges = self.edges.get(first..first + node.edges as usize)?;
        let (_, next) = match edges {
            // Behind the first letters nearly every node has one way on.
            [only] => (only.0 == byte).then_some(only)?,
            _ => edges.get(edges.binary_search_by_key(&byte, |(edge, _)| *edge).ok()?)?,
        };
        self.nodes.get(*next as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Trie;

    #[test]
    fn prefixes_are_reported_shortest_first_in_any_case() {
        let trie = Trie::new([("<a", 1), ("<ab>", 2), ("<AB>", 3), ("[x]", 4)]);
        let mut found = Vec::new();
        trie.find_prefixes(b"<aB> rest", |length, values| {
            found.push((length, values.to_vec()));
        });
        assert_eq!(found, [(2, vec![1]), (4, vec![2, 3])]);
        let steps = trie.find_prefixes(b"<<<<<<<<", |_, _| panic!("nothing to find"));
        assert_eq!(steps, 2);
    }
}
