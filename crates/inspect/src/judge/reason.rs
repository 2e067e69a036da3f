//! The one sentence that explains a decision. It is written when the decision is known, so it says what was done and counts
//! everything that it was done about. Records have it as it is; an agent whose result was blocked also reads which tool it
//! was, what was found and whether to call again. It contains no text of the server.

use crate::judge::decide::decide_sanitised;
use crate::tool::ToolName;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::hit::{Action, Carrier, Hit, carrier_name};
use crate::verdict::rule::{describe_rule, is_classifier_error};
use crate::verdict::{Decision, Finding};

/// Names of families or classes that are spelt out.
const MAX_NAMES: usize = 4;

/// Why `decision` was taken: `found` is the first finding that led to it, `all` are all findings.
pub(crate) fn reason(decision: Decision, found: &ExplainedFinding, all: &[Finding]) -> String {
    let finding = &found.finding;
    match (&found.sentence, &finding.hit) {
        (Some(sentence), _) => sentence.clone(),
        (None, Some(hit)) if hit.action != Action::Blocked => hits(finding, hit, all),
        (None, _) => format!("{decision} by policy: {} {}", finding.stage, finding.rule),
    }
}

/// What an agent reads in place of a blocked result: the reason, then the tool, what was found and whether it helps to
/// call again, each unless the reason says it. `found` led to the decision; without one, the gateway could not do its part.
pub(crate) fn blocked_text(
    reason: &str,
    found: Option<&ExplainedFinding>,
    tool: &ToolName,
) -> String {
    let mut text = reason.to_owned();
    let named = format!("(tool {})", tool.display());
    if !text.ends_with(&named) {
        text.push(' ');
        text.push_str(&named);
    }
    let rule = found.map(|found| found.finding.rule.as_ref());
    if let (Some(rule), Some(None)) = (rule, found.map(|found| &found.sentence)) {
        text.push_str(": ");
        text.push_str(describe_rule(rule));
    }
    text.push_str(if rule.is_some_and(is_classifier_error) {
        "; try again later"
    } else {
        "; retrying will not help"
    });
    text
}

/// What was found in texts and what was done about it, with all findings that are of the same kind added up.
fn hits(first: &Finding, hit: &Hit, all: &[Finding]) -> String {
    let is_same = |other: &&Finding| {
        kind(other) == kind(first)
            && other.hit.as_ref().is_some_and(|it| it.action == hit.action)
            && decide_sanitised(other) == decide_sanitised(first)
    };
    let same: Vec<(&Finding, &Hit)> = all
        .iter()
        .filter(is_same)
        .filter_map(|finding| Some((finding, &**finding.hit.as_ref()?)))
        .collect();
    let count: u64 = same.iter().map(|(_, hit)| hit.count).sum();
    let not_listed = |finding: &Finding| {
        finding
            .hit
            .as_ref()
            .is_some_and(|it| it.tokens_not_listed > 0)
    };
    let least = if kind(first) == "token" && all.iter().any(not_listed) {
        "at least "
    } else {
        ""
    };
    let what = describe_kind(kind(first), count, &names(&same));
    let done = match hit.action {
        Action::Reported => "found",
        action => action.as_str(),
    };
    format!("{least}{count} {what} {done} in {}", describe_place(&same))
}

fn kind(finding: &Finding) -> &str {
    finding.rule.split('.').next().unwrap_or_default()
}

fn describe_kind(kind: &str, count: u64, names: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    match kind {
        "token" => format!("control token{many} ({names})"),
        "invisible" => format!("hidden character{many} ({names})"),
        "ansi" => format!("terminal sequence{many}"),
        "encoded_token" => format!("encoded control token{many} ({names})"),
        "boundary_forgery" => format!("boundary tag{many}"),
        _ => format!("text{many}"),
    }
}

/// Families of tokens or classes of characters, each once, in the order of the findings.
fn names(same: &[(&Finding, &Hit)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, hit) in same {
        let name = hit.family.as_deref().unwrap_or(&hit.class);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn describe_place(same: &[(&Finding, &Hit)]) -> String {
    let mut places: Vec<(Carrier, Option<usize>)> = Vec::new();
    let mut pointers: Vec<Option<&str>> = Vec::new();
    for (finding, hit) in same {
        let (place, pointer) = (
            (hit.carrier, hit.block),
            finding.instance_pointer.as_deref(),
        );
        if !places.contains(&place) {
            places.push(place);
        }
        if !pointers.contains(&pointer) {
            pointers.push(pointer);
        }
    }
    match places.as_slice() {
        [(Carrier::Text, Some(block))] => format!("text block {block}"),
        [(_, Some(block))] => format!("block {block}"),
        [(carrier, None)] => carrier_name(*carrier).to_owned(),
        _ => format!("{} places", pointers.len().max(places.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Severity, Stage};

    fn token(family: &str, block: usize, count: u64, action: Action) -> Finding {
        let rule = format!("token.{family}");
        let finding = Finding::new(Stage::Sanitise, rule, Severity::Attack);
        finding
            .with_instance_pointer(format!("/content/{block}/text"))
            .with_hit(Hit {
                carrier: Carrier::Text,
                block: Some(block),
                class: "A".into(),
                family: Some(family.to_owned()),
                count,
                offsets: vec![0],
                tokens_not_listed: 0,
                action,
                blocked_in_strict: false,
            })
    }

    fn reason_of(decision: Decision, all: &[Finding]) -> String {
        let first = ExplainedFinding::without_sentence(all.first().expect("a finding").clone());
        reason(decision, &first, all)
    }

    #[test]
    fn every_token_of_a_result_is_counted() {
        let mut all = vec![
            token("chatml", 0, 3, Action::Replaced),
            token("llama2", 0, 2, Action::Replaced),
            token("llama3", 0, 9, Action::Reported),
        ];
        assert_eq!(
            reason_of(Decision::Rewritten, &all),
            "5 control tokens (chatml, llama2) replaced in text block 0"
        );
        all.push(token("chatml", 4, 1, Action::Replaced));
        assert_eq!(
            reason_of(Decision::Rewritten, &all),
            "6 control tokens (chatml, llama2) replaced in 2 places"
        );
        if let Some(hit) = &mut all[1].hit {
            hit.tokens_not_listed = 7;
        }
        assert_eq!(
            reason_of(Decision::Rewritten, &all),
            "at least 6 control tokens (chatml, llama2) replaced in 2 places"
        );
        let many = ["a", "b", "c", "d", "e", "f"];
        let many = many.map(|family| token(family, 1, 1, Action::Reported));
        assert_eq!(
            reason_of(Decision::Flagged, &many),
            "6 control tokens (a, b, c, d and 2 more) found in text block 1"
        );
    }

    #[test]
    fn a_finding_that_was_only_flagged_is_not_called_blocked() {
        let finding = Finding::new(Stage::Shape, "shape.base64", Severity::Violation);
        let all = [finding];
        assert_eq!(
            reason_of(Decision::Flagged, &all),
            "flagged by policy: shape shape.base64"
        );
        assert_eq!(
            reason_of(Decision::Blocked, &all),
            "blocked by policy: shape shape.base64"
        );
        let blocked = [token("chatml", 0, 1, Action::Blocked)];
        assert_eq!(
            reason_of(Decision::Blocked, &blocked),
            "blocked by policy: sanitise token.chatml"
        );
    }
}
