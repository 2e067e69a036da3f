//! A result that is inspected on request: the verdict, stage by stage.

use askama::Template;

use super::{Finding, Frame};
use crate::text::Text;

/// What one stage made of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageVerdict {
    /// The stage.
    pub stage: &'static str,
    /// What it found.
    pub findings: Vec<Finding>,
}

/// What became of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The decision, which is the class of its colour.
    pub decision: &'static str,
    /// Why, in one sentence.
    pub reason: Text,
    /// Each stage in its order.
    pub stages: Vec<StageVerdict>,
    /// What the agent would receive.
    pub emitted: Text,
    /// The same as a case of the corpus, to be copied.
    pub case: String,
}

/// The page to try a result.
#[derive(Clone, Debug, Template)]
#[template(path = "try.html")]
pub struct Attempt {
    /// What is around it.
    pub frame: Frame,
    /// The tool, as it was typed.
    pub tool: String,
    /// The result, as it was typed.
    pub result: String,
    /// Every mode, and whether it is chosen.
    pub modes: Vec<(&'static str, bool)>,
    /// Why there is no verdict, if there is none.
    pub refusal: Option<Text>,
    /// The verdict, once something was tried.
    pub verdict: Option<Verdict>,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    #[test]
    fn a_verdict_is_shown_stage_by_stage() {
        let page = Attempt {
            frame: frame(Nav::Try, Role::Viewer),
            tool: format!("</textarea>{HOSTILE}"),
            result: "{}".to_owned(),
            modes: vec![("strict", true)],
            refusal: None,
            verdict: Some(Verdict {
                decision: "blocked",
                reason: Text::new(HOSTILE),
                stages: vec![
                    StageVerdict {
                        stage: "shape",
                        findings: Vec::new(),
                    },
                    StageVerdict {
                        stage: "contract",
                        findings: vec![Finding {
                            rule: Text::new("schema.type"),
                            ..Finding::default()
                        }],
                    },
                ],
                emitted: Text::new(HOSTILE),
                case: format!("</textarea>{HOSTILE}"),
            }),
        };
        let html = page.html();
        // The field holds what was typed, escaped.
        assert_inert(&html.replace('\u{202e}', ""));
        assert_eq!(html.matches("</textarea>").count(), 3, "{html}");
        assert!(html.contains("nothing found") && html.contains("schema.type"));
    }
}
