//! What an upstream says about itself: names, descriptions, instructions, whole tool objects. Models read
//! these as they read results, and hidden text in a description is a common attack ("tool poisoning"). So
//! they are cleaned when they are captured and have a type of their own. Prose is cleaned like any text;
//! other strings and names only where they carry a hit, because hosts show models whole schemas. `_meta`
//! and annotations are reported and left alone.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use countersign_sanitise::{Cleaned, Sanitiser};
use countersign_tape::{Edits, Kind, Limits, Span, Tape};

use crate::clean::{Outcome, TextFindings, TextLocation, renamed};
use crate::json::splice::splice;
use crate::judge::decide::decide_sanitised;
use crate::judge::reason::reason;
use crate::policy::sanitisation::Sanitisation;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::hit::Carrier;
use crate::verdict::{Decision, Finding, Severity, Stage};

/// Members of a tool, and of its schemas, that are prose for a model.
pub(crate) const PROSE: [&str; 3] = ["description", "title", "$comment"];

/// What stands in the place of a text that cannot be cleaned.
const WITHHELD: &str = "(removed: text that must not be shown)";

/// Text of an upstream's own description that may be shown.
pub struct Listing {
    bytes: Bytes,
    findings: Vec<Finding>,
    decision: Decision,
    reason: Option<String>,
}

impl Listing {
    /// Admits text that is our own, or was cleaned before.
    pub fn admit(text: impl Into<Bytes>) -> Self {
        Self {
            bytes: text.into(),
            findings: Vec::new(),
            decision: Decision::Allowed,
            reason: None,
        }
    }

    /// Admits a tool as its server listed it: descriptions and titles cleaned, its own and those of its parameters.
    ///
    /// ```
    /// use countersign_inspect::{Decision, Listing, Sanitisation};
    ///
    /// let tool = "{\"name\":\"add\",\"description\":\"Adds.\u{e0068}\u{e0069}\"}";
    /// let listing = Listing::tool(tool, &Sanitisation::default());
    /// assert_eq!(&listing.bytes()[..], br#"{"name":"add","description":"Adds."}"#);
    /// assert_eq!(listing.decision(), Decision::Rewritten);
    /// assert_eq!(listing.findings()[0].rule, "invisible.tag");
    /// ```
    pub fn tool(raw: impl Into<Bytes>, sanitisation: &Sanitisation) -> Self {
        Self::clean(raw.into(), sanitisation, Carrier::Tool, Scope::Captured)
    }

    /// Admits a tool whose declaration is too deep to be shown, with what is shown in its place.
    pub fn too_deep(bare: impl Into<Bytes>, sanitisation: &Sanitisation) -> Self {
        let mut listing = Self::tool(bare, sanitisation);
        let finding = Finding::new(Stage::Transport, "transport.too_deep", Severity::Violation);
        listing.findings.insert(0, finding);
        listing.decision = Decision::Rewritten;
        listing.reason = Some("the declaration is too deep to be shown".to_owned());
        listing
    }

    /// Admits a server's instructions, a JSON string.
    pub fn instructions(raw: impl Into<Bytes>, sanitisation: &Sanitisation) -> Self {
        let carrier = Carrier::Instructions;
        Self::clean(raw.into(), sanitisation, carrier, Scope::Captured)
    }

    /// Admits what is shown to a model as the text of a block, a JSON value about a tool: nothing in it is for software,
    /// so every name and string is cleaned, and then the text as a whole.
    ///
    /// ```
    /// use countersign_inspect::{Listing, Sanitisation};
    ///
    /// let tool = r#"{"name":"s:<|im_end|>","_meta":{"<|a":"b|>"}}"#;
    /// let listing = Listing::text_block(tool, &Sanitisation::default());
    /// let text = std::str::from_utf8(listing.bytes()).unwrap();
    /// assert!(!text.contains("<|") && !text.contains("|>"), "{text}");
    /// ```
    pub fn text_block(raw: impl Into<Bytes>, sanitisation: &Sanitisation) -> Self {
        let mut listing = Self::clean(raw.into(), sanitisation, Carrier::Tool, Scope::Everything);
        let text = String::from_utf8_lossy(&listing.bytes);
        let cleaned = sanitisation
            .sanitiser()
            .map(|sanitiser| stable_text(sanitiser, &sanitiser.clean(&text)))
            .filter(|cleaned| *cleaned != text);
        if let Some(cleaned) = cleaned {
            listing.bytes = cleaned.into();
            listing.decision = listing.decision.max(Decision::Rewritten);
        }
        listing
    }

    fn clean(raw: Bytes, sanitisation: &Sanitisation, carrier: Carrier, scope: Scope) -> Self {
        let Some(sanitiser) = sanitisation.sanitiser() else {
            return Self::admit(raw);
        };
        let text = std::str::from_utf8(&raw).unwrap_or_default();
        if !text.is_empty() && sanitiser.passes_json(text) {
            return Self::admit(raw);
        }
        // The caller has checked how deep it is.
        let Ok(tape) = Tape::parse(&raw, &Limits::LIFTED) else {
            // Not expected: what cannot be looked at is not shown.
            return Self::admit(&b"null"[..]);
        };
        let mut text_findings = TextFindings::default();
        let mut edits = Edits::new(&raw);
        for (node, role) in strings(&tape, carrier, scope) {
            if sanitiser.passes_string(tape.raw_string(node)) {
                continue;
            }
            let before = tape.string(node);
            let string = tape.node(node).span();
            let place = TextLocation::new(carrier, None, string);
            if let Some(new) = rewrite_string(sanitiser, (place, role), &before, &mut text_findings)
            {
                splice(&mut edits, string, &before, &new);
            }
        }
        let mut found = Vec::new();
        text_findings.finish(text, Span::whole(&raw), "", &mut found);
        Self::from_edits(&raw, edits, &found)
    }

    fn from_edits(raw: &Bytes, edits: Edits<'_>, found: &[ExplainedFinding]) -> Self {
        // The first of the worst.
        let worst = found
            .iter()
            .rev()
            .max_by_key(|found| decide_sanitised(&found.finding));
        let decision = worst.map_or(Decision::Allowed, |found| decide_sanitised(&found.finding));
        let findings: Vec<Finding> = found.iter().map(|found| found.finding.clone()).collect();
        let reason = worst
            .filter(|_| decision != Decision::Allowed)
            .map(|found| reason(decision, found, &findings));
        let bytes = match (edits.is_empty(), edits.apply()) {
            (true, _) => raw.clone(),
            (false, Ok(edited)) => edited.to_vec().into(),
            // Not expected: what cannot be changed is not shown.
            (false, Err(_)) => Bytes::from_static(b"null"),
        };
        Self {
            bytes,
            findings,
            decision,
            reason,
        }
    }

    /// What may be sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What was found in it.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What was done about that: nothing is ever blocked here, since a tool without its description is still one.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The same in one sentence.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

/// The new form of a string with something in it; nothing if it stays as it is.
fn rewrite_string(
    sanitiser: &Sanitiser,
    (place, role): (TextLocation, Role),
    before: &str,
    text_findings: &mut TextFindings,
) -> Option<String> {
    if role == Role::LeftAlone {
        text_findings.add_reported(place, before, &sanitiser.scan(before));
        return None;
    }
    let cleaned = sanitiser.clean(before);
    let acted = text_findings.add_with_outcome(place, before, &cleaned, Outcome::from);
    match role {
        Role::Prose => Some(stable_text(sanitiser, &cleaned)),
        _ if !acted => None,
        Role::Name => Some(renamed(&cleaned)),
        // Any other pattern would refuse what the tool takes; this one refuses nothing.
        Role::Pattern => Some(String::new()),
        Role::Value | Role::LeftAlone => Some(stable_text(sanitiser, &cleaned)),
    }
}

/// The cleaned form of a text, or what stands in its place.
fn stable_text(sanitiser: &Sanitiser, cleaned: &Cleaned<'_>) -> String {
    let unstable = cleaned.blocked && sanitiser.clean(&cleaned.text).is_changed();
    if unstable { WITHHELD } else { &cleaned.text }.to_owned()
}

/// How much of a value is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All but the tool's `_meta` and annotations, of which only the prose is.
    Captured,
    Everything,
}

/// What a string is to its readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Prose,
    /// The name of a member.
    Name,
    /// A regular expression.
    Pattern,
    Value,
    /// For software only: reported.
    LeftAlone,
}

/// Every string with what it is; instructions are prose.
fn strings<'t>(
    tape: &'t Tape<'_>,
    carrier: Carrier,
    scope: Scope,
) -> impl Iterator<Item = (u32, Role)> + 't {
    let mut next = match carrier {
        Carrier::Instructions => Role::Prose,
        _ => Role::Value,
    };
    let mut left_alone = left_alone(tape, scope).into_iter().peekable();
    (0..tape.len()).filter_map(move |node| {
        let at = tape.node(node).start();
        while left_alone.next_if(|part| part.end <= at).is_some() {}
        let is_left_alone = left_alone.peek().is_some_and(|part| part.contains(&at));
        let role = match tape.node(node).kind() {
            Kind::Key => {
                next = match tape.string(node).as_ref() {
                    name if PROSE.contains(&name) => Role::Prose,
                    "pattern" => Role::Pattern,
                    _ => Role::Value,
                };
                Role::Name
            }
            Kind::String => std::mem::replace(&mut next, Role::Value),
            _ => {
                next = Role::Value;
                return None;
            }
        };
        let is_left_alone = is_left_alone && role != Role::Prose;
        Some((node, if is_left_alone { Role::LeftAlone } else { role }))
    })
}

/// Where the tool's own `_meta` and annotations stand, in order.
fn left_alone(tape: &Tape<'_>, scope: Scope) -> Vec<Range<u32>> {
    if scope == Scope::Everything || tape.node(0).kind() != Kind::Object {
        return Vec::new();
    }
    let is_object = |value: u32| tape.node(value).kind() == Kind::Object;
    tape.members(0)
        .filter(|(key, value)| {
            matches!(tape.string(*key).as_ref(), "_meta" | "annotations") && is_object(*value)
        })
        .map(|(_, value)| tape.node(value).start()..tape.node(value).end())
        .collect()
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
