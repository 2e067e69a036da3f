//! Classifiers between the two halves of inspection: which of them may see a result, what they say, and what an operator
//! is told about it. The classifiers themselves are in the crate `classify`.

use countersign_classify::{OnError, Origin, Outcome};
use countersign_config::Config;
use countersign_inspect::config::Posture;
use countersign_inspect::{
    ClassifierFinding, Digest, Examined, Finding, Screening, Severity, SkipReason, Stage, Text,
};
use serde_json::{Value, json};

use crate::events::{Events, ResultClassified};
use crate::path::route::Route;
use crate::state::Tool;

/// Whether any classifier may see what this call returns.
pub(crate) fn applies(route: &Route) -> bool {
    !allowed(route).is_empty()
}

fn allowed(route: &Route) -> &[String] {
    let name = route.name().unwrap_or_default();
    route.settings.config.classify(route.upstream.name(), name)
}

/// Has a result screened. `id` is the call's, under which it will be recorded.
pub(crate) async fn screen(
    events: &Events,
    route: &Route,
    id: &str,
    examined: &Examined,
) -> Screening {
    let names = allowed(route);
    let config = &route.settings.config;
    let Ok(panel) = config.panel() else {
        return unavailable(config, names);
    };
    let origin = Origin {
        request_id: id.into(),
        server: (&**route.upstream.name()).into(),
        tool: route.name().unwrap_or_default().into(),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let answered = panel.screen(&names, &origin, examined).await;
    if !answered.outcomes.is_empty() {
        // Only its digest is ever logged, and only at the level that shows it.
        let digest = tracing::enabled!(tracing::Level::DEBUG).then(|| digest(examined));
        for outcome in &answered.outcomes {
            announce(outcome, &origin, digest.as_deref(), events);
        }
    }
    answered.screening
}

/// Has texts screened that a server sends of its own accord, by the classifiers that may see what the server says.
pub(crate) async fn screen_texts(
    events: &Events,
    config: &Config,
    origin: &Origin,
    texts: &[Text<'_>],
) -> Screening {
    let names = config.classify(&origin.server, "");
    if names.is_empty() {
        return Screening::skipped(SkipReason::NotConfigured);
    }
    let Ok(panel) = config.panel() else {
        return unavailable(config, names);
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let answered = panel.screen_texts(&names, origin, texts).await;
    for outcome in &answered.outcomes {
        announce(outcome, origin, None, events);
    }
    answered.screening
}

/// A configuration is checked before it is used, so this is not expected; it is an error of every classifier.
fn unavailable(config: &Config, names: &[String]) -> Screening {
    let failed = names.iter().filter_map(|name| {
        let on_error = config.classifier(name)?.options.on_error;
        let action = match on_error {
            OnError::Open => return None,
            OnError::Flag => Posture::Allow,
            OnError::Closed => Posture::Block,
        };
        let rule = format!("classifier.{name}.error");
        let finding = Finding::new(Stage::Classify, rule, Severity::Info).detail("not set up");
        Some(ClassifierFinding { finding, action })
    });
    Screening::with_findings(failed.collect())
}

fn digest(examined: &Examined) -> String {
    let texts = examined.texts();
    let parts: Vec<&[u8]> = texts.iter().map(|text| text.text.as_bytes()).collect();
    Digest::sha256_of(&parts).to_string()
}

fn announce(outcome: &Outcome, origin: &Origin, digest: Option<&str>, events: &Events) {
    ResultClassified {
        classifier: &outcome.name,
        server: &origin.server,
        tool: &origin.tool,
        verdict: outcome.verdict.action.as_str(),
        error: outcome.error.map(countersign_classify::Error::reason),
        chars: outcome.total_chars,
        sha256: digest,
        micros: u64::try_from(outcome.elapsed.as_micros()).unwrap_or(u64::MAX),
    }
    .emit(events);
}

/// Whether a tool's results are screened, by whom, and why or why not.
pub(crate) fn describe(config: &Config, server: &str, tool: &Tool) -> Value {
    let names = config.classify(server, tool.name());
    let own = config
        .server(server)
        .and_then(|server| server.tools.get(tool.name()));
    let said = own.and_then(|tool| tool.free_text);
    let free_text = said.unwrap_or_else(|| tool.contract().has_free_text());
    let (screened, reason) = match (names.is_empty(), free_text, said) {
        (true, _, _) if config.classifiers.is_empty() => ("never", "no classifier is configured"),
        (true, _, _) => ("never", "no classifier is allowed to see its results"),
        (false, true, Some(_)) => ("always", "the configuration says that it returns free text"),
        (false, true, None) if tool.contract().output().is_none() => {
            ("always", "it declares no output schema")
        }
        (false, true, None) => ("always", "its output schema admits free text"),
        (false, false, _) => (
            "beyond_schema",
            "its output schema admits no free text: sent only if a result breaks it, or if a text says more than the value",
        ),
    };
    json!({
        "classifiers": names,
        "free_text": free_text,
        "screened": screened,
        "reason": reason,
    })
}
