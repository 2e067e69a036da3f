//! The instructions of a server on their way to a client: cleaned when they were captured, screened here by the classifiers
//! that may see what the server says. Instructions that a classifier blocks are not shown, and that is recorded.

use std::sync::Arc;

use bytes::Bytes;
use countersign_audit::{Kind, Outcome, Record, Source};
use countersign_classify::Origin;
use countersign_inspect::config::Posture;
use countersign_inspect::{Decision, Screening, Text};
use countersign_tape::Span;

use super::screen;
use crate::services::Services;
use crate::state::Settings;

/// The instructions of a server if they may be shown, as a JSON string.
pub(crate) async fn shown(
    services: &Services,
    settings: &Arc<Settings>,
    server: &Arc<str>,
    instructions: &Bytes,
) -> Option<Bytes> {
    if settings.config.classify(server, "").is_empty() {
        return Some(instructions.clone());
    }
    let verdicts = &services.instruction_verdicts;
    let known = verdicts.get(server, instructions, settings);
    let is_blocked = if let Some(is_blocked) = known {
        is_blocked
    } else {
        let is_blocked = judge(services, settings, server, instructions).await;
        verdicts.set(server, instructions, settings, is_blocked);
        is_blocked
    };
    (!is_blocked).then(|| instructions.clone())
}

/// Asks the classifiers and records what they say; true if the instructions are not to be shown.
async fn judge(
    services: &Services,
    settings: &Settings,
    server: &Arc<str>,
    instructions: &Bytes,
) -> bool {
    let Some(text) = Span::whole(instructions).string(instructions) else {
        return true;
    };
    let id = services.store.next_id();
    let origin = Origin {
        request_id: id.id.to_string().into(),
        server: (&**server).into(),
        tool: "instructions".into(),
    };
    let texts = [Text {
        pointer: "/instructions".to_owned(),
        text,
    }];
    let screening = screen::screen_texts(&services.events, &settings.config, &origin, &texts).await;
    let found = screening.findings();
    let is_blocked = found.iter().any(|it| it.action == Posture::Block);
    if !found.is_empty() {
        let records = records(services, (id, server), &screening, is_blocked);
        services.metrics.observe(&records);
        let _recorded = services.store.commit((), records).await;
    }
    is_blocked
}

fn records(
    services: &Services,
    (id, server): (countersign_audit::NewId, &str),
    screening: &Screening,
    is_blocked: bool,
) -> Vec<Record> {
    let (outcome, decision) = if is_blocked {
        (Outcome::Rejected, Decision::Blocked)
    } else {
        (Outcome::Success, Decision::Flagged)
    };
    let mut said = Record::new(id, Kind::ServerText, outcome);
    let mut decided = Record::decided(services.store.next_id(), decision);
    decided.parent_id = Some(said.id());
    let findings = screening.findings().iter();
    decided.findings = findings.map(|it| it.finding.clone()).collect();
    for record in [&mut said, &mut decided] {
        record.source = Source::Internal;
        record.server = Some(server.to_owned());
        record.reason = Some("instructions".to_owned());
    }
    vec![said, decided]
}
