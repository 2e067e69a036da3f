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
        if let Some(output) = tool.contract().output() {
            self.output_schemas += 1;
            if let Err(why) = output.schema() {
                let name = tool.name().to_owned();
                self.unenforceable.push((name, why.to_string()));
            }
        }
    }
}
