//! One record: its sentence first, then what was found, what belongs to it, and its place in the chain.

use countersign_audit::{Filter, Finding as Found, Payload, Query, Record, StoredRecord};
use countersign_console::{Fact, Finding, Nav, RecordPage, Row, Text, TextChange, href, query};

use super::super::{ApiError, activity};
use super::activity::{moment, row, sentence};
use super::visit::Visit;
use super::{PageResult, marked_schemas};

/// Records that belong together are shown up to this number.
const MAX_RELATED: usize = 20;

/// The page of a record.
pub(super) async fn page(visit: &Visit<'_>, id: &str) -> PageResult {
    let stored = activity::record(visit.services, id).await?;
    let record = &stored.record;
    let id = record.id().to_string();
    let call = call_of(visit, record).await;
    Ok(RecordPage {
        frame: visit.frame(Nav::Activity, None),
        status: record.status().as_str(),
        sentence: Text::new(sentence(&stored)),
        when: moment(record.timestamp, visit.now),
        facts: facts(record),
        findings: record.findings.iter().map(finding).collect(),
        left_out: record.findings_left_out(),
        schemas: marked_schemas::of_record(visit, record).await,
        changes: record.findings.iter().filter_map(text_change).collect(),
        related: related(visit, &stored, call.as_ref()).await?,
        payloads: payloads(call.as_ref().map_or(record, |call| &call.record), record),
        chain: chain(&stored),
        similar: similar(record),
        receipt: href(&["activity", &id, "receipt"]),
        id,
    }
    .html())
}

/// The call that a decision is about. Retention may have removed it.
async fn call_of(visit: &Visit<'_>, record: &Record) -> Option<StoredRecord> {
    let id = record.parent_id?.to_string();
    activity::record(visit.services, &id).await.ok()
}

/// The call that a decision is about and the other decisions about it; or the decisions about a call.
async fn related(
    visit: &Visit<'_>,
    stored: &StoredRecord,
    call: Option<&StoredRecord>,
) -> Result<Vec<Row>, ApiError> {
    let own = stored.record.id();
    let mut rows: Vec<Row> = call.map(|call| row(visit, call)).into_iter().collect();
    let query = Query {
        filter: Filter {
            parent_id: Some(stored.record.parent_id.unwrap_or(own)),
            ..Filter::default()
        },
        limit: MAX_RELATED,
        ..Query::default()
    };
    let page = activity::page(visit.services, query).await?;
    let others = page.activities.iter();
    let others = others.filter(|other| other.record.id() != own);
    rows.extend(others.map(|other| row(visit, other)));
    Ok(rows)
}

fn facts(record: &Record) -> Vec<Fact> {
    let mut facts = vec![Fact::new("type", record.kind().as_str())];
    let server = record.server.as_deref().unwrap_or_default();
    let tool = record.tool.as_deref().unwrap_or_default();
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let mode = record.mode.map(|mode| mode.as_str().to_owned());
    for (label, value, href) in [
        ("server", record.server.clone(), href(&["servers", server])),
        (
            "tool",
            record.tool.clone(),
            href(&["tools", &format!("{server}:{tool}")]),
        ),
        ("mode", mode, String::new()),
        ("client", record.client.clone(), String::new()),
        ("caller", record.caller.clone(), String::new()),
        ("session", record.session_id.clone(), String::new()),
        ("request id", record.request_id.clone(), String::new()),
        (
            "not held to its schema",
            record.unvalidated.clone(),
            String::new(),
        ),
        (
            "digest of the schema",
            record.schema_digest.clone(),
            String::new(),
        ),
        (
            "generation of the schema",
            number(record.schema_generation),
            String::new(),
        ),
        (
            "digest of what was judged",
            record.payload_digest.clone(),
            String::new(),
        ),
        (
            "bytes of the request",
            number(record.request_bytes),
            String::new(),
        ),
        (
            "bytes of the response",
            number(record.response_bytes),
            String::new(),
        ),
    ] {
        facts.extend(value.map(|value| Fact::new(label, value).linked(href)));
    }
    facts
}

/// Something that a stage noticed, as pages show it.
pub(super) fn finding(found: &Found) -> Finding {
    let text = |text: &Option<String>| text.as_deref().map(Text::new);
    Finding {
        stage: found.stage.as_str(),
        rule: Text::new(found.rule.as_ref()),
        href: query(&["activity"], &[("rule", &found.rule)]),
        severity: found.severity.as_str(),
        pointers: [text(&found.instance_pointer), text(&found.schema_pointer)],
        expected: text(&found.expected),
        actual: text(&found.actual),
        detail: text(&found.detail),
    }
}

/// What is kept of a call: of the arguments, and of what the agent received or, where that is not kept, of what arrived.
fn payloads(call: &Record, record: &Record) -> Vec<(&'static str, Text)> {
    let is_decision = record.parent_id.is_some();
    let is_excerpt = |payload: &Payload| payload.is_redacted() && payload.is_truncated();
    let request = call
        .request
        .as_ref()
        .map(|kept| ("Request", payload_text(kept)));
    let response = call.response.as_ref().map(|kept| {
        let name = if is_decision && is_excerpt(kept) {
            "An excerpt of what arrived, made harmless"
        } else {
            "What the agent received"
        };
        (name, payload_text(kept))
    });
    request.into_iter().chain(response).collect()
}

/// What sanitising did because of a finding.
fn text_change(found: &Found) -> Option<TextChange> {
    let hit = found.hit.as_ref()?;
    let place = match hit.block {
        Some(block) => format!("{}, block {block}", hit.carrier.as_str()),
        None => hit.carrier.as_str().to_owned(),
    };
    let words = [
        &*found.rule,
        &*hit.class,
        hit.family.as_deref().unwrap_or_default(),
    ];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let offsets: Vec<String> = hit.offsets.iter().map(usize::to_string).collect();
    Some(TextChange {
        place: Text::new(place),
        what: Text::new(words.join(", ")),
        count: hit.count,
        action: hit.action.as_str(),
        offsets: offsets.join(", "),
    })
}

fn payload_text(payload: &Payload) -> Text {
    let cut = if payload.is_truncated() {
        "\n[cut]"
    } else {
        ""
    };
    Text::new(format!("{}{cut}", payload.text()))
}

fn chain(stored: &StoredRecord) -> Vec<Fact> {
    let before = stored.prev.map(|before| before.to_string());
    vec![
        Fact::new("chain", stored.chain_id.to_string()),
        Fact::new("number in it", stored.n.to_string()),
        Fact::new("place in the store", stored.seq.to_string()),
        Fact::new(
            "hash before it",
            before.unwrap_or_else(|| "none".to_owned()),
        ),
        Fact::new("its hash", stored.hash.to_string()),
    ]
}

/// Records of the same tool that ended the same way, for the same first reason.
fn similar(record: &Record) -> String {
    let rule = record.findings.first().map(|found| found.rule.as_ref());
    let parameters = [
        ("type", record.kind().as_str()),
        ("status", record.status().as_str()),
        ("server", record.server.as_deref().unwrap_or_default()),
        ("tool", record.tool.as_deref().unwrap_or_default()),
        ("rule", rule.unwrap_or_default()),
    ];
    query(&["activity"], &parameters)
}
