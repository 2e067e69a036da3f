//! Making the arguments of a finding smaller, as long as they still show it. The server is asked
//! each time, so the tries are counted.

use serde_json::Value;

use super::Runner;
use super::intent::intent_of;
use crate::contract::case::{Case, Intent};
use crate::contract::oracle;
use crate::contract::record::{Observation, Requirement};
use crate::contract::session::RunError;
use crate::contract::shrink;

/// Calls spent on making the arguments of one finding smaller.
const SHRINK_CALLS: u32 = 80;
/// The same where each call costs a time-out or a restart.
const COSTLY_SHRINK_CALLS: u32 = 12;

impl Runner<'_> {
    /// Smaller arguments that show the same, asked of the server each time.
    pub(super) async fn shrink(
        &mut self,
        tool: &str,
        case: &Case,
        observation: &Observation,
    ) -> Result<Value, RunError> {
        let mut left = match observation.requirement {
            Requirement::Rule(rule) if rule == &oracle::SLOW => 0,
            Requirement::Rule(rule) if [oracle::HANG, oracle::CRASH].contains(rule) => {
                COSTLY_SHRINK_CALLS
            }
            _ => SHRINK_CALLS,
        };
        let mut best = case.clone();
        'smaller: loop {
            for arguments in shrink::candidates(&best.arguments) {
                let Some(candidate) = self.relabelled(tool, &best, arguments) else {
                    continue;
                };
                if left == 0 {
                    break 'smaller;
                }
                left -= 1;
                let examined = self.ask(tool, &candidate).await?;
                let mut seen = examined.observations.iter();
                if seen.any(|one| one.key() == observation.key()) {
                    best = candidate;
                    continue 'smaller;
                }
            }
            break;
        }
        Ok(best.arguments)
    }

    /// The candidate as a case of the same intent; `None` if it is something else.
    fn relabelled(&self, tool: &str, case: &Case, arguments: Value) -> Option<Case> {
        let intent = intent_of(&self.judge, tool, &arguments);
        let same = match (&intent, &case.intent) {
            (
                Intent::Invalid { keyword, .. },
                Intent::Invalid {
                    keyword: wanted, ..
                },
            ) => keyword == wanted,
            (one, other) => one == other,
        };
        same.then(|| Case {
            name: case.name.clone(),
            intent,
            arguments,
        })
    }
}
