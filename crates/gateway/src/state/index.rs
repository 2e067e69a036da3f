//! Which words occur in which tool of a server, and how much they say about it. One index per
//! server, made when its list is captured; a search adds them up, so a changed server costs no
//! other anything. Bounded per tool, because servers write the texts.
//!
//! Own rather than a search engine's: all of it is a map and the BM25 formula, the documents are
//! in memory anyway, and the engines there are bring storage, threads and a query language along.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use countersign_tape::{Span, members};
use countersign_wire::json::{member, path};

use super::words::words;
use crate::state::Tool;

/// So much of a description is read.
const DESCRIPTION: usize = 4096;
/// So many parameters are.
const PARAMETERS: usize = 128;

/// What a word weighs by where it stands.
const NAME: f32 = 3.0;
const TITLE: f32 = 2.0;
const PARAMETER: f32 = 1.0;
const TEXT: f32 = 1.0;

/// The words of a server's tools.
#[derive(Debug, Default)]
pub(crate) struct Index {
    words: BTreeMap<Box<str>, Vec<Posting>>,
    /// How long each tool's text is, its words weighed.
    lengths: Vec<f32>,
}

/// A word in a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    /// The tool's place in the server's list.
    pub(crate) tool: u32,
    pub(crate) weight: f32,
}

impl Index {
    /// An index of a server's tools.
    pub(crate) fn from_tools(tools: &[Arc<Tool>]) -> Self {
        let mut index = Self::default();
        for (place, tool) in (0..).zip(tools) {
            let mut weights: HashMap<String, f32> = HashMap::new();
            read(tool, |word, weight| {
                *weights.entry(word).or_default() += weight;
            });
            index.lengths.push(weights.values().sum());
            for (word, weight) in weights {
                let postings = index.words.entry(word.into_boxed_str()).or_default();
                postings.push(Posting {
                    tool: place,
                    weight,
                });
            }
        }
        for postings in index.words.values_mut() {
            postings.shrink_to_fit();
        }
        index
    }

    /// Where a word occurs.
    pub(crate) fn exact_matches(&self, word: &str) -> &[Posting] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Where words occur that start like this.
    pub(crate) fn starting<'a>(&'a self, with: &'a str) -> impl Iterator<Item = Posting> + 'a {
        self.words
            .range::<str, _>((Bound::Included(with), Bound::Unbounded))
            .take_while(move |(word, _)| word.starts_with(with))
            .flat_map(|(_, postings)| postings)
            .copied()
    }

    /// How long each tool's text is.
    pub(crate) fn lengths(&self) -> &[f32] {
        &self.lengths
    }
}

/// Gives every word of a tool with its weight.
fn read(tool: &Tool, mut give: impl FnMut(String, f32)) {
    let raw = tool.raw();
    let whole = Span::whole(raw);
    let mut text = |text: &str, weight| words(text).for_each(|word| give(word, weight));
    text(tool.name(), NAME);
    text(tool.contract().tool().server().unwrap_or_default(), TEXT);
    for (name, weight) in [("title", TITLE), ("description", TEXT)] {
        let value = member(raw, whole, name).and_then(|value| value.string(raw));
        if let Some(value) = value {
            text(truncate(&value, DESCRIPTION), weight);
        }
    }
    if let Some(properties) = path(raw, whole, &["inputSchema", "properties"]) {
        for (key, _) in members(raw, properties).take(PARAMETERS) {
            text(&key.string(raw).unwrap_or_default(), PARAMETER);
        }
    }
}

/// The start of a text, not longer than this.
pub(crate) fn truncate(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use countersign_inspect::Policy;

    use super::*;
    use crate::state::Entry;

    fn index(tools: &[&'static str]) -> Index {
        let tool = |text: &&'static str| {
            let entry = Entry::read(Bytes::from_static(text.as_bytes())).expect("a tool");
            Arc::new(Tool::capture(entry, "files", 1, Policy::default()))
        };
        Index::from_tools(&tools.iter().map(tool).collect::<Vec<_>>())
    }

    #[test]
    fn names_texts_and_parameters_are_found() {
        let index = index(&[
            r#"{"name":"readFile","description":"Gives what a \u0066ile holds.","inputSchema":{"properties":{"max_bytes":{}}}}"#,
            r#"{"name":"list","title":"Folders","description":5,"inputSchema":[]}"#,
        ]);
        let found = |word| {
            let postings = index.exact_matches(word).iter();
            postings
                .map(|posting| (posting.tool, posting.weight))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("read"), [(0, NAME)]);
        // Once in the name, once in the description, once in the server's name.
        assert_eq!(found("file"), [(0, NAME + TEXT + TEXT), (1, TEXT)]);
        assert_eq!(found("byte"), [(0, PARAMETER)]);
        assert_eq!(found("folder"), [(1, TITLE)]);
        assert_eq!(found("fo"), []);
        let starting: Vec<_> = index.starting("fo").map(|posting| posting.tool).collect();
        assert_eq!(starting, [1]);
        assert_eq!(index.lengths().len(), 2);
    }
}
