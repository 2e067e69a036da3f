//! A panel of one classifier, and results for it.

use std::time::Duration;

use countersign_classify::{Kind, Options, Origin, Panel, PanelResult, Settings};
use countersign_inspect::{
    Decision, Declaration, Examined, Inspected, Policy, RawReply, Source, ToolName, examine,
};

/// Long enough never to be reached by what is meant to succeed.
pub(crate) const LONG: Duration = Duration::from_mins(1);

pub(crate) fn options() -> Options {
    Options {
        timeout: LONG,
        ..Options::default()
    }
}

pub(crate) fn panel(kind: Kind, options: Options) -> Panel {
    within(kind, options, LONG)
}

pub(crate) fn within(kind: Kind, options: Options, budget: Duration) -> Panel {
    let settings = Settings {
        name: "guard".into(),
        options,
        kind,
    };
    Panel::build([&settings], budget).expect("it can be set up")
}

/// A result with one text block for each text.
pub(crate) fn examined(texts: &[&str]) -> Examined {
    let blocks: Vec<_> = texts
        .iter()
        .map(|text| serde_json::json!({ "type": "text", "text": text }))
        .collect();
    let result = serde_json::json!({ "content": blocks }).to_string();
    let policy = Policy::default();
    let contract = Declaration::new(ToolName::on_server("files", "read")).capture(&policy.output);
    examine(RawReply::new(result, Source::default()), &contract, &policy)
}

pub(crate) fn origin() -> Origin {
    Origin {
        request_id: "01A".into(),
        server: "files".into(),
        tool: "read".into(),
    }
}

pub(crate) async fn answered(panel: &Panel, texts: &[&str]) -> (PanelResult, Inspected) {
    let examined = examined(texts);
    let answered = panel.screen(&["guard"], &origin(), &examined).await;
    let inspected = examined.conclude(answered.screening.clone());
    (answered, inspected)
}

/// The decision, and each finding's rule and detail.
pub(crate) async fn concluded(panel: &Panel, texts: &[&str]) -> (Decision, Vec<String>) {
    let (_, inspected) = answered(panel, texts).await;
    let findings = inspected.findings().iter();
    let findings = findings
        .map(|finding| {
            format!(
                "{}: {}",
                finding.rule,
                finding.detail.as_deref().unwrap_or_default()
            )
        })
        .collect();
    (inspected.decision(), findings)
}
