//! What can be said before anything is sent: schemas, authored arguments, overrides.

use std::sync::atomic::Ordering;

use countersign_inspect::nearest_word;

use super::Engine;
use crate::judge::Violation;
use crate::load::LoadError;
use crate::policy::SchemaPolicy;

impl Engine {
    /// Refuses a plan whose own arguments the tools refuse; notes the rest.
    pub(super) fn check(&self, declared: Vec<(String, Violation)>) -> Result<(), LoadError> {
        let rules = self.validator.rules();
        let mut verdicts = self.validator.verdicts();
        for (name, violation) in declared {
            let applied = rules.apply(&name, &violation);
            let tool = rules.tools.iter().position(|tool| *tool == name);
            let tool = tool.unwrap_or(usize::MAX);
            rules.record(&mut verdicts.violations, tool, &violation, &applied);
        }
        for (scenario, tools) in self.plan.scenarios.iter().zip(&self.tools) {
            for (call, tool) in scenario.calls.iter().zip(tools) {
                let Some(fixed) = call.arguments.fixed() else {
                    continue;
                };
                let Some(violation) = rules.authored(&call.tool, fixed) else {
                    continue;
                };
                let applied = rules.apply(&call.tool, &violation);
                if applied.policy == SchemaPolicy::Fail {
                    let what = format!("scenario {:?}, tool {:?}", scenario.name, call.tool);
                    return Err(LoadError::Authored(what));
                }
                rules.record(&mut verdicts.violations, *tool, &violation, &applied);
            }
        }
        let listed = self.sessions.list.tools.iter();
        let listed: Vec<&str> = listed.map(|tool| tool.name.as_str()).collect();
        for one in rules.validation.unmatched(&listed) {
            self.note(format!("the override for {:?} matches no tool", one.tool));
        }
        for name in &rules.tools {
            if !listed.contains(&name.as_str()) {
                self.note(unlisted(name, &listed));
            }
        }
        Ok(())
    }

    /// Whether a strict run may send arguments that were made from a template. If they break the
    /// input schema, the violation is written down and the call is not made.
    pub(super) fn may_send(&self, tool: usize, arguments: &[u8]) -> bool {
        let rules = self.validator.rules();
        let name = rules.tool(tool);
        let Some(violation) = rules.authored(name, arguments) else {
            return true;
        };
        let applied = rules.apply(name, &violation);
        if applied.policy != SchemaPolicy::Fail {
            return true;
        }
        let mut verdicts = self.validator.verdicts();
        rules.record(&mut verdicts.violations, tool, &violation, &applied);
        self.tally.withheld.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// A tool of the plan that the server does not list, with the name that was probably meant.
fn unlisted(name: &str, listed: &[&str]) -> String {
    let meant = nearest_word(name, listed.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant:?}?"));
    format!("the server lists no tool {name:?}{meant}")
}
