//! What is asked beside the cases: a tool that does not exist, one given case, the same call twice,
//! and whether the tool list is still what it was.

use serde_json::Value;

use super::super::case::{Case, Intent};
use super::super::examine::examine;
use super::super::oracle::{self, Family};
use super::super::record::{Observation, Pass};
use super::super::session::RunError;
use super::intent::intent_of;
use super::{NO_SUCH_TOOL, Runner};
use crate::client::{Declaration, Reply};
use crate::policy::Site;

impl Runner<'_> {
    /// Calls a tool that does not exist: the refusal shows which family of servers it is.
    pub(super) async fn unknown_tool(&mut self) -> Result<(), RunError> {
        let case = Case {
            name: "unknown tool".to_owned(),
            intent: Intent::UnknownTool,
            arguments: Value::Object(serde_json::Map::new()),
        };
        let patience = self.call_timeout(NO_SUCH_TOOL);
        let exchange = self.session.call(NO_SUCH_TOOL, b"{}", patience).await?;
        let first = examine(&self.judge, Family::Unknown, NO_SUCH_TOOL, &case, &exchange);
        self.family = Family::from_texts(&first.texts);
        self.report.family = self.family;
        let examined = examine(&self.judge, self.family, NO_SUCH_TOOL, &case, &exchange);
        self.findings.add_examined(NO_SUCH_TOOL, &case, &examined);
        Ok(())
    }

    /// The case a reproducer asks for.
    pub(super) async fn only_case(&mut self, arguments: &Value) -> Result<(), RunError> {
        for index in 0..self.subjects.len() {
            if self.subjects[index].run.refused.is_some() {
                continue;
            }
            let name = self.subjects[index].run.name.clone();
            let intent = intent_of(&self.judge, &name, arguments);
            let case = Case {
                name: "given".to_owned(),
                intent,
                arguments: arguments.clone(),
            };
            let examined = self.ask(&name, &case).await?;
            let subject = &mut self.subjects[index];
            subject.count(Pass::Coverage, &case, &examined);
            subject.minimal = case.intent.is_valid().then(|| case.arguments.clone());
            self.findings.add_examined(&name, &case, &examined);
            self.repeat(index).await?;
        }
        Ok(())
    }

    /// The same call twice, of a tool that says this makes no difference.
    pub(super) async fn repeat(&mut self, index: usize) -> Result<(), RunError> {
        let subject = &self.subjects[index];
        let may_repeat = subject.hints.is_repeatable() && subject.deaths == 0;
        let Some(arguments) = subject.minimal.clone().filter(|_| may_repeat) else {
            return Ok(());
        };
        let name = subject.run.name.clone();
        let bytes = arguments.to_string().into_bytes();
        let patience = self.call_timeout(&name);
        let mut answers = Vec::new();
        for _ in 0..2 {
            let exchange = self.session.call(&name, &bytes, patience).await?;
            answers.push(exchange.reply.ok().and_then(|reply| match reply {
                Reply::Result(result) => comparable(&result),
                Reply::Error(_) => None,
            }));
        }
        if let [Some(first), Some(second)] = answers.as_slice()
            && first != second
        {
            let observation = Observation::from_rule(&oracle::REPEAT);
            let shown = Some((arguments, None));
            self.findings
                .add(&name, Pass::Coverage, "repeat", &observation, shown);
        }
        Ok(())
    }

    /// Lines on stdout that are no messages: a stricter client ends the session over them.
    pub(super) fn note_noise(&mut self) {
        let lines = self.session.stray_lines();
        if lines > 0 {
            let rule = &oracle::NOISE;
            let observation =
                Observation::from_rule(rule).detail(format!("{}: {lines}", rule.description));
            self.findings
                .add("", Pass::Coverage, "stdout", &observation, None);
        }
    }

    /// Tools that mostly end in errors promise more than they take.
    pub(super) fn mostly_errors(&mut self) {
        for subject in &self.subjects {
            let run = &subject.run;
            let (errors, all) = (run.errored, run.errored + run.succeeded);
            if all >= 4 && errors * 2 > all {
                let rule = &oracle::VALID_MOSTLY_ERRORS;
                let detail = format!("{}: {errors} of {all}", rule.description);
                let observation = Observation::from_rule(rule).detail(detail);
                let case = "all valid cases";
                self.findings
                    .add(&run.name, Pass::Coverage, case, &observation, None);
            }
        }
    }

    /// Whether the list is still what it was.
    pub(super) async fn stability(&mut self, before: &[Declaration]) -> Result<(), RunError> {
        let after = self.session.list().await?.tools;
        if after == before {
            return Ok(());
        }
        let sorted = |tools: &[Declaration]| {
            let mut all = tools.to_vec();
            all.sort_by(|one, other| (&one.name, &one.raw).cmp(&(&other.name, &other.raw)));
            all
        };
        let observation = if sorted(before) == sorted(&after) {
            Observation::from_rule(&oracle::LIST_ORDER)
        } else {
            Observation::from_site(Site::ListChanged)
                .detail("the tool list is not what it was at the start")
        };
        self.findings
            .add("", Pass::Coverage, "list", &observation, None);
        Ok(())
    }
}

/// A result without what may differ each time.
fn comparable(result: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(result).ok()?;
    if let Some(object) = value.as_object_mut() {
        object.remove("_meta");
    }
    Some(value)
}
