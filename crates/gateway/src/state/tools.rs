//! The tools of one server, as its list has them.

use std::collections::HashMap;
use std::sync::Arc;

use countersign_config::Config;

use super::{Index, Tally, Tool};

/// The tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    all: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    index: Index,
    /// Whether this is what the server said in this run.
    pub(crate) fresh: bool,
    /// How long the server lets clients keep its list.
    pub(crate) ttl_ms: u64,
}

impl Tools {
    pub(crate) fn new(all: Vec<Arc<Tool>>, fresh: bool) -> Self {
        let names = all.iter().enumerate();
        let by_name = names
            .map(|(index, tool)| (tool.name().to_owned(), index))
            .collect();
        Self {
            index: Index::from_tools(&all),
            all,
            by_name,
            fresh,
            ttl_ms: 0,
        }
    }

    /// The same tools, which clients may keep for this long.
    pub(crate) fn with_ttl(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// The same tools under the policies of a configuration. Blocks: schemas may have to be compiled again.
    pub(crate) fn with_policies(self: &Arc<Self>, config: &Config, server: &str) -> Arc<Self> {
        let mut changed = false;
        let tools = self.all.iter().map(|tool| {
            let policy = config.policy(server, tool.name());
            if tool.has_policy(&policy) {
                return Arc::clone(tool);
            }
            changed = true;
            let changed = tool.with_policy(server, policy);
            changed.map_or_else(|| Arc::clone(tool), Arc::new)
        });
        let tools = tools.collect();
        if !changed {
            return Arc::clone(self);
        }
        Arc::new(Self::new(tools, self.fresh).with_ttl(self.ttl_ms))
    }

    /// The tool of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.all.get(*self.by_name.get(name)?)
    }

    /// What the tools are about.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Every tool, in the server's order.
    pub(crate) fn all(&self) -> &[Arc<Tool>] {
        &self.all
    }

    /// How many there are, and how much of what they declare can be enforced.
    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.all.iter().for_each(|tool| tally.add(tool));
        tally
    }
}

/// A JSON array of these values.
pub(super) fn joined(values: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut array = vec![b'['];
    for (index, value) in values.enumerate() {
        if index > 0 {
            array.push(b',');
        }
        array.extend(value);
    }
    array.push(b']');
    array
}
