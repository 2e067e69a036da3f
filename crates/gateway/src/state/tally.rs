//! How many tools a server has, and how much of what they declare can be enforced.

use super::Tool;

/// What a server's list has.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many tools there are.
    pub tools: usize,
    /// Entries of the list that are no tools.
    pub skipped: usize,
    /// How many declare an output schema.
    pub output_schemas: usize,
    /// Tools whose schema cannot be enforced, and why.
    pub unenforceable: Vec<(String, String)>,
}

impl Tally {
    pub(crate) fn add(&mut self, tool: &Tool) {
        self.tools += 1;
        if tool.contract().output().is_some() {
            self.output_schemas += 1;
        }
        if let Some(why) = tool.unenforceable_reason() {
            self.unenforceable.push((tool.name().to_owned(), why));
        }
    }
}
