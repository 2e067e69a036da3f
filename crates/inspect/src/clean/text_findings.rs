//! The findings about one result's texts, bounded: a hostile result can have any number of hits, so only
//! the worst are kept and the rest is counted. Locations become pointers at the end, for kept findings only.

use std::borrow::Cow;

use countersign_sanitise as sanitise;
use countersign_sanitise::Cleaned;
use countersign_tape::{Limits, Span, Tape};

use crate::json::strings::pointer_at;
use crate::text::pointer_for_record;
use crate::verdict::explained::{ExplainedFinding, MAX_FINDINGS};
use crate::verdict::hit::{Action, Carrier, Hit};
use crate::verdict::{Finding, Severity, Stage};

/// Characters kept on either side of a hit in an excerpt.
const AROUND: usize = 80;

/// Where a text stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLocation {
    pub(crate) carrier: Carrier,
    pub(crate) block: Option<usize>,
    pub(crate) string: Span,
}

impl TextLocation {
    pub(crate) fn new(carrier: Carrier, block: Option<usize>, string: Span) -> Self {
        Self {
            carrier,
            block,
            string,
        }
    }
}

/// Hits of one result.
#[derive(Default)]
pub(crate) struct TextFindings {
    entries: Vec<Entry>,
    left_out: u64,
    /// Control tokens that the findings left out stand for.
    tokens_left_out: u64,
}

struct Entry {
    place: TextLocation,
    found: ExplainedFinding,
    /// Cleaning changes it, whatever is done about it here.
    acted: bool,
    excerpt: String,
}

impl Entry {
    fn rank(&self) -> (Action, Severity) {
        let outcome = self.found.finding.hit.as_ref().map(|hit| Outcome {
            action: hit.action,
            blocked_in_strict: hit.blocked_in_strict,
        });
        let outcome = outcome.unwrap_or(Action::Reported.into());
        (outcome.rank(), self.found.finding.severity)
    }
}

/// What becomes of something that was found in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) action: Action,
    /// It is only reported, and strict mode would block the result because of it.
    pub(crate) blocked_in_strict: bool,
}

impl From<Action> for Outcome {
    fn from(action: Action) -> Self {
        Self {
            action,
            blocked_in_strict: false,
        }
    }
}

impl Outcome {
    /// What strict mode blocks is kept as if it were blocked, so that a record tells what strict mode would do.
    fn rank(self) -> Action {
        if self.blocked_in_strict {
            Action::Blocked
        } else {
            self.action
        }
    }
}

impl TextFindings {
    /// A text that was cleaned; says whether anything was done about it.
    pub(super) fn add_cleaned(
        &mut self,
        place: TextLocation,
        text: &str,
        cleaned: &Cleaned<'_>,
    ) -> bool {
        self.add_with_outcome(place, text, cleaned, |action| match action {
            Action::Reported => Action::Reported.into(),
            _ if cleaned.blocked => Action::Blocked.into(),
            action => action.into(),
        })
    }

    /// A text that was cleaned, with what becomes of each thing that was done; says whether anything was.
    pub(crate) fn add_with_outcome(
        &mut self,
        place: TextLocation,
        text: &str,
        cleaned: &Cleaned<'_>,
        weigh: impl Fn(Action) -> Outcome,
    ) -> bool {
        let mut any = false;
        for finding in &cleaned.findings {
            let action = Action::from(finding.action);
            let acted = action != Action::Reported;
            any |= acted;
            self.add(place, text, finding, weigh(action), acted);
        }
        if cleaned.blocked && !any {
            self.add_unstable(place);
            return true;
        }
        any
    }

    /// A text that changes however often it is cleaned.
    fn add_unstable(&mut self, place: TextLocation) {
        let hit = Hit::blocked(place.carrier, place.block);
        let finding = Finding::new(Stage::Sanitise, "token.generic", Severity::Violation);
        let finding = finding.detail("the text does not settle").with_hit(hit);
        self.keep(Entry {
            place,
            found: ExplainedFinding::without_sentence(finding),
            acted: true,
            excerpt: String::new(),
        });
    }

    /// A text that was only looked at.
    pub(crate) fn add_reported(
        &mut self,
        place: TextLocation,
        text: &str,
        findings: &[sanitise::Finding],
    ) {
        for finding in findings {
            self.add(place, text, finding, Action::Reported.into(), false);
        }
    }

    /// Structured content cannot leave in a clean form, so it does not leave.
    pub(super) fn refuse_structured(&mut self) {
        for entry in &mut self.entries {
            let carrier = entry.place.carrier;
            if entry.acted && matches!(carrier, Carrier::Structured | Carrier::StructuredKey) {
                let finding = entry.found.finding.clone();
                let finding = finding.detail("the value cannot be cleaned");
                entry.found = with_action(finding, Action::Blocked);
            }
        }
    }

    fn add(
        &mut self,
        place: TextLocation,
        text: &str,
        finding: &sanitise::Finding,
        outcome: Outcome,
        acted: bool,
    ) {
        if !self.has_room((outcome.rank(), severity(finding))) {
            self.left_out += 1;
            let is_token = finding.rule.starts_with("token.") && severity(finding) > Severity::Info;
            self.tokens_left_out += if is_token { finding.count } else { 0 };
            return;
        }
        self.keep(Entry {
            place,
            found: text_finding(place, finding, outcome),
            acted,
            excerpt: excerpt(text, finding.offsets.first().copied().unwrap_or(0)),
        });
    }

    /// Whether a hit of this rank would be kept. Asked first: a result may have a hit in each of very many blocks, and
    /// describing one costs more than finding it.
    fn has_room(&self, rank: (Action, Severity)) -> bool {
        self.entries.len() < MAX_FINDINGS || self.entries.iter().any(|entry| entry.rank() < rank)
    }

    fn keep(&mut self, entry: Entry) {
        if self.entries.len() < MAX_FINDINGS {
            self.entries.push(entry);
            return;
        }
        self.left_out += 1;
        let least = self.entries.iter_mut().min_by_key(|entry| entry.rank());
        let dropped = match least {
            Some(least) if least.rank() < entry.rank() => std::mem::replace(least, entry),
            _ => entry,
        };
        self.tokens_left_out += dropped.found.finding.control_tokens();
    }

    /// Reports what was kept, with pointers into the result. Gives back an excerpt around the worst.
    pub(crate) fn finish(
        mut self,
        text: &str,
        value: Span,
        prefix: &'static str,
        found: &mut Vec<ExplainedFinding>,
    ) -> Option<String> {
        if self.entries.is_empty() {
            return None;
        }
        self.entries.sort_by_key(|entry| entry.place.string);
        let pointers = Pointers::new(text, value, prefix);
        for entry in &mut self.entries {
            let pointer = pointers.find(entry.place.string);
            entry.found.finding.instance_pointer = Some(pointer);
        }
        if self.left_out > 0
            && let Some(last) = self.entries.last_mut()
        {
            let detail = last.found.finding.detail.take().unwrap_or_default();
            let more = self.left_out;
            let detail = format!("{detail}; {more} more kinds of hits are not listed");
            last.found.finding.detail = Some(detail);
            if let Some(hit) = &mut last.found.finding.hit {
                hit.tokens_not_listed = self.tokens_left_out;
            }
        }
        // The first of the worst.
        let worst = self.entries.iter().rev().max_by_key(|entry| entry.rank());
        let excerpt = worst.map(|entry| entry.excerpt.clone());
        found.extend(self.entries.into_iter().map(|entry| entry.found));
        excerpt
    }
}

/// Pointers of strings, from a tape that is made once something was found.
struct Pointers<'a> {
    tape: Option<Tape<'a>>,
    start: u32,
    prefix: &'static str,
}

impl<'a> Pointers<'a> {
    fn new(text: &'a str, value: Span, prefix: &'static str) -> Self {
        // The message was scanned before, so its size and depth are within what we handle.
        let tape = Tape::parse(value.bytes(text.as_bytes()), &Limits::LIFTED);
        Self {
            tape: tape.ok(),
            start: value.start,
            prefix,
        }
    }

    fn find(&self, string: Span) -> String {
        let pointer = self.tape.as_ref().and_then(|tape| {
            let offset = string.start.checked_sub(self.start)?;
            pointer_at(tape, offset)
        });
        let pointer = pointer_for_record(&pointer.unwrap_or_default());
        format!("{}{pointer}", self.prefix)
    }
}

fn severity(finding: &sanitise::Finding) -> Severity {
    match finding.severity {
        sanitise::Severity::Info => Severity::Info,
        sanitise::Severity::Violation => Severity::Violation,
        sanitise::Severity::Attack => Severity::Attack,
    }
}

/// The finding about one kind of hit in one text, without a pointer.
pub(crate) fn text_finding(
    place: TextLocation,
    finding: &sanitise::Finding,
    outcome: impl Into<Outcome>,
) -> ExplainedFinding {
    let Outcome {
        action,
        blocked_in_strict,
    } = outcome.into();
    let hit = Hit {
        carrier: place.carrier,
        block: place.block,
        class: Cow::Borrowed(finding.class),
        family: finding.family.clone(),
        count: finding.count,
        offsets: finding.offsets.clone(),
        tokens_not_listed: 0,
        action,
        blocked_in_strict,
    };
    let mut about = Finding::new(Stage::Sanitise, finding.rule.clone(), severity(finding));
    if let Some(decoded) = &finding.decoded {
        about = about.detail(match finding.action {
            sanitise::Action::Truncated => decoded.clone(),
            _ => format!("it spells: {decoded}"),
        });
    }
    with_action(about.with_hit(hit), action)
}

fn with_action(mut finding: Finding, action: Action) -> ExplainedFinding {
    if let Some(hit) = &mut finding.hit {
        hit.action = action;
    }
    ExplainedFinding::without_sentence(finding)
}

/// A few letters around a place in a text, in a form that can do nothing: letters, digits and a little punctuation.
pub(crate) fn excerpt(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at.min(text.len()));
    let (before, behind) = text.split_at(at);
    let start = before.char_indices().rev().take(AROUND).last();
    let before = before.get(start.map_or(at, |(start, _)| start)..);
    let harmless = |c: char| match c {
        c if c.is_alphanumeric() => c,
        ' ' | ',' | '.' | ';' | '?' | '!' | '-' | '_' | '\'' => c,
        _ => '.',
    };
    let around = before
        .unwrap_or_default()
        .chars()
        .chain(behind.chars().take(AROUND));
    around.map(harmless).collect()
}
