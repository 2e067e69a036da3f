//! What can be said before anything is sent: schemas, authored arguments, overrides.

use super::Engine;
use crate::judge::Violation;
use crate::load::LoadError;
use crate::load::validator::now_ms;
use crate::policy::{SchemaPolicy, Site};

impl Engine {
    /// Refuses a plan whose own arguments the tools refuse; notes the rest.
    pub(super) fn check(&self, declared: Vec<(String, Violation)>) -> Result<(), LoadError> {
        let law = self.validator.law();
        let mut verdicts = self.validator.verdicts();
        let now = now_ms();
        for (name, violation) in declared {
            let applied = law.apply(&name, &violation);
            let tool = law.tools.iter().position(|tool| *tool == name);
            let tool = tool.unwrap_or(usize::MAX);
            law.record(&mut verdicts.violations, tool, &violation, &applied, now);
        }
        for (scenario, tools) in self.plan.scenarios.iter().zip(&self.tools) {
            for (call, tool) in scenario.calls.iter().zip(tools) {
                let Some(fixed) = call.arguments.fixed() else {
                    continue;
                };
                let findings = law.judge.arguments(&call.tool, fixed);
                if findings.is_empty() {
                    continue;
                }
                let site = Site::Authored;
                let violation = Violation { site, findings };
                let applied = law.apply(&call.tool, &violation);
                if applied.policy == SchemaPolicy::Fail {
                    let what = format!("scenario {:?}, tool {:?}", scenario.name, call.tool);
                    return Err(LoadError::Authored(what));
                }
                law.record(&mut verdicts.violations, *tool, &violation, &applied, now);
            }
        }
        let listed = self.sessions.list.tools.iter();
        let listed: Vec<&str> = listed.map(|tool| tool.name.as_str()).collect();
        for one in law.validation.unmatched(&listed) {
            self.note(format!("the override for {:?} matches no tool", one.tool));
        }
        Ok(())
    }
}
