//! One answer to one case: how it was answered, and everything about it that is wrong.

use countersign_inspect::Finding;

use super::case::{Case, Intent};
use super::leak::find_leak;
use super::oracle::{self, Assessment, Family, ReplyKind};
use super::record::{Observation, Requirement};
use crate::client::{Exchange, Fault, Reply};
use crate::judge::{Judge, Judgement, Violation, texts};
use crate::policy::Site;

/// Findings of one answer that are looked at.
const MAX_SIGHTINGS: usize = 128;

pub(crate) struct Examined {
    pub(crate) reply: ReplyKind,
    /// Whether the answer came, and later than it may.
    pub(crate) is_slow: bool,
    pub(crate) observations: Vec<Observation>,
    pub(crate) structured: Option<Vec<u8>>,
    pub(crate) texts: Vec<String>,
    pub(crate) request_id: Option<String>,
}

/// Looks at an answer.
pub(crate) fn examine(
    judge: &Judge,
    family: Family,
    tool: &str,
    case: &Case,
    exchange: &Exchange,
) -> Examined {
    let message = exchange.message.clone().unwrap_or_default();
    let judgement =
        matches!(exchange.reply, Ok(Reply::Result(_))).then(|| judge.reply(tool, message.clone()));
    let reply = reply_kind(exchange, judgement.as_ref());
    let texts = texts(&message);
    let mut observations = Vec::new();
    match oracle::assess(&case.intent, family, reply) {
        Assessment::Pass | Assessment::KnownDeviation => {}
        Assessment::Accepted => observations.push(accepted(&case.intent)),
        Assessment::Wrong(rule) => observations.push(broken_rule(rule, reply, judgement.as_ref())),
    }
    if let (ReplyKind::Success, Intent::Valid, Some(judgement)) = (reply, &case.intent, &judgement)
    {
        observations.extend(judgement.violations.iter().flat_map(violation_sightings));
    }
    if matches!(reply, ReplyKind::ToolError | ReplyKind::Error(_)) && !case.intent.is_valid() {
        observations.extend(refusal(case, &texts));
    }
    observations.truncate(MAX_SIGHTINGS);
    let structured = judgement
        .as_ref()
        .and_then(|one| one.answer.structured(&message))
        .map(<[u8]>::to_vec);
    Examined {
        reply,
        is_slow: false,
        observations,
        structured,
        texts,
        request_id: request_id(&message),
    }
}

fn reply_kind(exchange: &Exchange, judgement: Option<&Judgement>) -> ReplyKind {
    match &exchange.reply {
        Ok(Reply::Result(_)) => match judgement {
            Some(judgement) if !judgement.malformed.is_empty() => ReplyKind::Malformed,
            Some(judgement) if judgement.answer.is_error => ReplyKind::ToolError,
            _ => ReplyKind::Success,
        },
        Ok(Reply::Error(error)) => error.code.map_or(ReplyKind::Malformed, ReplyKind::Error),
        Err(Fault::TimedOut | Fault::NoMemory) => ReplyKind::Timeout,
        Err(Fault::Closed | Fault::Unreachable) => ReplyKind::Ended,
        Err(Fault::Malformed | Fault::TooLarge) => ReplyKind::Malformed,
        Err(Fault::Status(status)) => ReplyKind::Error(i64::from(*status)),
    }
}

fn accepted(intent: &Intent) -> Observation {
    let mut observation = Observation::from_site(Site::Accepted);
    if let Intent::Invalid { keyword, pointer } = intent {
        observation.keyword_location = Some(keyword.clone());
        observation.instance_pointer = Some(pointer.clone());
        observation.detail = Some(format!("arguments that break `{keyword}` are accepted"));
    }
    observation
}

fn broken_rule(
    rule: &'static oracle::Rule,
    reply: ReplyKind,
    judgement: Option<&Judgement>,
) -> Observation {
    let mut observation = Observation::from_rule(rule);
    if let ReplyKind::Error(code) = reply {
        observation.actual = Some(code.to_string());
    }
    if let Some(finding) = judgement.and_then(|judgement| judgement.malformed.first()) {
        observation.keyword_location = Some(finding.rule.to_string());
        observation
            .instance_pointer
            .clone_from(&finding.instance_pointer);
    }
    observation
}

/// The observations of a violation: one per finding, or one for the site itself.
pub(crate) fn violation_sightings(violation: &Violation) -> Vec<Observation> {
    if violation.findings.is_empty() {
        return vec![Observation::from_site(violation.site)];
    }
    let observation = |finding: &Finding| Observation {
        requirement: Requirement::Site(violation.site),
        keyword_location: finding.schema_pointer.clone(),
        instance_pointer: finding.instance_pointer.clone(),
        expected: finding.expected.clone(),
        actual: finding.actual.clone(),
        detail: finding.detail.clone(),
    };
    violation.findings.iter().map(observation).collect()
}

/// What is wrong with the words of a refusal.
fn refusal(case: &Case, texts: &[String]) -> Vec<Observation> {
    let mut found = Vec::new();
    let sent = case.arguments.to_string();
    if let Some(leak) = texts.iter().find_map(|text| find_leak(text, &sent)) {
        let detail = format!("a refusal shows a {leak}");
        found.push(Observation::from_rule(&oracle::LEAK).detail(detail));
    }
    let named = match &case.intent {
        Intent::Invalid { pointer, .. } => {
            let is_name =
                |step: &&str| !step.is_empty() && !step.bytes().all(|byte| byte.is_ascii_digit());
            let mut names = pointer.split('/').filter(is_name).peekable();
            names.peek().is_none() || names.any(|name| texts.iter().any(|text| text.contains(name)))
        }
        _ => true,
    };
    if !named {
        found.push(Observation::from_rule(&oracle::UNNAMED));
    }
    found
}

fn request_id(message: &[u8]) -> Option<String> {
    let envelope =
        countersign_tape::scan(message, &countersign_tape::ScanLimits::default()).ok()?;
    Some(String::from_utf8_lossy(envelope.id()?.bytes(message)).into_owned())
}
