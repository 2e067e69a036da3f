//! Strongly connected components of the whole graph, by Tarjan's algorithm with its own stack.

use super::{all_targets, in_place};
use crate::compile::index::position;
use crate::program::{NONE, NodeId, Program};

/// For each node: whether it lies on a cycle some node of which applies several subschemas of that cycle to one value.
///
/// Such a cycle doubles the work with every level of the instance unless results are remembered. A recursion that
/// does not branch, like a plain tree, visits each value once and needs no memory.
pub(super) fn branching(program: &Program) -> Vec<bool> {
    let mut search = Search::new(program);
    for start in 0..position(program.nodes.len()) {
        search.run(start);
    }
    search.branching
}

struct Search<'p> {
    program: &'p Program,
    /// Order of discovery, from 1; 0 is undiscovered.
    order: Vec<u32>,
    lowest: Vec<u32>,
    on_path: Vec<bool>,
    path: Vec<NodeId>,
    work: Vec<(NodeId, Vec<NodeId>)>,
    discovered: u32,
    /// For each node the component it is in, by the component's first node, once that is known.
    component: Vec<NodeId>,
    branching: Vec<bool>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Self {
        let count = program.nodes.len();
        Self {
            program,
            order: vec![0; count],
            lowest: vec![0; count],
            on_path: vec![false; count],
            path: Vec::new(),
            work: Vec::new(),
            discovered: 0,
            component: vec![NONE; count],
            branching: vec![false; count],
        }
    }

    fn run(&mut self, start: NodeId) {
        if self.order[start as usize] == 0 {
            self.discover(start);
        }
        while let Some((node, targets)) = self.work.last_mut() {
            let node = *node;
            match targets.pop() {
                Some(next) if self.order[next as usize] == 0 => self.discover(next),
                Some(next) => {
                    if self.on_path[next as usize] {
                        self.lower(node, self.order[next as usize]);
                    }
                }
                None => self.close(node),
            }
        }
    }

    fn discover(&mut self, node: NodeId) {
        self.discovered += 1;
        self.order[node as usize] = self.discovered;
        self.lowest[node as usize] = self.discovered;
        self.on_path[node as usize] = true;
        self.path.push(node);
        self.work.push((node, all_targets(self.program, node)));
    }

    fn lower(&mut self, node: NodeId, order: u32) {
        let lowest = &mut self.lowest[node as usize];
        *lowest = (*lowest).min(order);
    }

    fn close(&mut self, node: NodeId) {
        self.work.pop();
        let lowest = self.lowest[node as usize];
        if let Some((parent, _)) = self.work.last() {
            self.lower(*parent, lowest);
        }
        if lowest != self.order[node as usize] {
            return;
        }
        let first = self.path.iter().rposition(|member| *member == node);
        let members = self.path.split_off(first.unwrap_or(0));
        for member in &members {
            self.on_path[*member as usize] = false;
            self.component[*member as usize] = node;
        }
        if members.len() > 1 && members.iter().any(|member| self.forks(*member)) {
            for member in members {
                self.branching[member as usize] = true;
            }
        }
    }

    /// Whether a node can apply more than one subschema of its own component to the same value or to the same part of it.
    /// What leaves the component does not come back, so it doubles nothing.
    fn forks(&self, id: NodeId) -> bool {
        let component = self.component[id as usize];
        let comes_back =
            |target: &NodeId| *target != NONE && self.component[*target as usize] == component;
        let node = &self.program.nodes[id as usize];
        let members = self.program.objects.get(node.object as usize);
        let members = members.map_or(0, |plan| {
            let listed = comes_back(&plan.additional) || plan.schemas.iter().any(comes_back);
            let patterns = plan.patterns.iter().map(|(_, schema)| schema);
            patterns.copied().filter(comes_back).count() + usize::from(listed)
        });
        let items = self.program.arrays.get(node.array as usize);
        let items = items.map_or(0, |plan| {
            let listed = comes_back(&plan.rest) || plan.prefix.iter().any(comes_back);
            usize::from(comes_back(&plan.contains)) + usize::from(listed)
        });
        let in_place = in_place(self.program, id);
        in_place.iter().copied().filter(comes_back).count() + members.max(items) > 1
    }
}
