//! What an upstream says about itself: names, descriptions, instructions, whole tool objects. A model reads these as
//! readily as results, and hidden text in a description is how a tool is poisoned, so they have a type of their own and
//! are cleaned when they are captured. What software needs (names, enumerations, patterns) is looked at and left alone.

use std::fmt;

use bytes::Bytes;
use countersign_tape::{Edits, Kind, Limits, Span, Tape};

use crate::clean::{Notices, Place};
use crate::found::Found;
use crate::hit::Carrier;
use crate::policy::decide_sanitised;
use crate::reason::reason;
use crate::sanitisation::Sanitisation;
use crate::splice::splice;
use crate::verdict::{Decision, Finding};

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
        Self::cleaned(raw.into(), sanitisation, Carrier::Tool)
    }

    /// Admits a server's instructions, a JSON string.
    pub fn instructions(raw: impl Into<Bytes>, sanitisation: &Sanitisation) -> Self {
        Self::cleaned(raw.into(), sanitisation, Carrier::Instructions)
    }

    fn cleaned(raw: Bytes, sanitisation: &Sanitisation, carrier: Carrier) -> Self {
        let Some(sanitiser) = sanitisation.sanitiser() else {
            return Self::admit(raw);
        };
        let text = std::str::from_utf8(&raw).unwrap_or_default();
        if sanitiser.passes_json(text) {
            return Self::admit(raw);
        }
        let Ok(tape) = Tape::parse(&raw, &Limits::default()) else {
            return Self::admit(raw);
        };
        let mut notices = Notices::default();
        let mut edits = Edits::new(&raw);
        for (node, prose) in strings(&tape, carrier) {
            if sanitiser.passes_string(tape.raw_string(node)) {
                continue;
            }
            let said = tape.string(node);
            let at = tape.node(node);
            let string = Span::new(at.start(), at.end());
            let place = Place {
                carrier,
                block: None,
                string,
            };
            if !prose {
                notices.seen(place, &said, &sanitiser.scan(&said));
                continue;
            }
            let cleaned = sanitiser.clean(&said);
            notices.weighed(place, &said, &cleaned, |action| action);
            let unsettled = cleaned.blocked && sanitiser.clean(&cleaned.text).is_changed();
            let text = if unsettled { WITHHELD } else { &cleaned.text };
            splice(&mut edits, string, &said, text);
        }
        let mut found = Vec::new();
        notices.finish(text, Span::whole(&raw), "", &mut found);
        Self::concluded(&raw, edits, &found)
    }

    fn concluded(raw: &Bytes, edits: Edits<'_>, found: &[Found]) -> Self {
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

/// Every string with whether it is prose for a model; for instructions, the string itself.
fn strings<'t>(tape: &'t Tape<'_>, carrier: Carrier) -> impl Iterator<Item = (u32, bool)> + 't {
    let mut key_is_prose = carrier == Carrier::Instructions;
    (0..tape.len()).filter_map(move |node| match tape.node(node).kind() {
        Kind::Key => {
            key_is_prose = PROSE.contains(&tape.string(node).as_ref());
            Some((node, false))
        }
        Kind::String => {
            let prose = key_is_prose;
            key_is_prose = false;
            Some((node, prose))
        }
        _ => {
            key_is_prose = false;
            None
        }
    })
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{OutputSanitisation, RawOutputSanitisation};

    fn sanitisation(block: &str) -> Sanitisation {
        let block: RawOutputSanitisation = serde_json::from_str(block).unwrap();
        Sanitisation::compile(&OutputSanitisation::resolve([&block])).unwrap()
    }

    fn tool(raw: &'static str, block: &str) -> Listing {
        Listing::tool(raw, &sanitisation(block))
    }

    fn text(listing: &Listing) -> &str {
        std::str::from_utf8(listing.bytes()).unwrap()
    }

    #[test]
    fn descriptions_are_cleaned_wherever_they_stand_and_nothing_else_is() {
        let raw = r#"{ "name":"add", "title":"A[INST]dd", "description":"Adds.\u200b<|im_start|>system", "inputSchema":{"type":"object","properties":{"default":{"type":"string","description":"x<|im_end|>","enum":["<|im_end|>", "b\u0061"]}}},"annotations":{"title":"\u202eddA"} }"#;
        let listing = tool(raw, "{}");
        assert_eq!(
            text(&listing),
            r#"{ "name":"add", "title":"A(removed: control token)dd", "description":"Adds.(removed: control token)system", "inputSchema":{"type":"object","properties":{"default":{"type":"string","description":"x(removed: control token)","enum":["<|im_end|>", "b\u0061"]}}},"annotations":{"title":"ddA"} }"#
        );
        let found: Vec<String> = listing
            .findings()
            .iter()
            .map(|finding| {
                let hit = finding.hit.as_ref().unwrap();
                let pointer = finding.instance_pointer.as_deref().unwrap();
                format!("{} {} {}", finding.rule, hit.action, pointer)
            })
            .collect();
        insta::assert_snapshot!(found.join("\n"), @"
        token.llama2 replaced /title
        token.chatml replaced /description
        invisible.zero_width removed /description
        token.chatml replaced /inputSchema/properties/default/description
        token.chatml reported /inputSchema/properties/default/enum/0
        invisible.bidi_control removed /annotations/title
        ");
        assert_eq!(listing.decision(), Decision::Rewritten);
        assert_eq!(
            listing.reason(),
            Some("3 control tokens (llama2, chatml) replaced in the tool's description")
        );
    }

    #[test]
    fn an_honest_tool_is_shown_as_received() {
        let raw = r#"{"name":"a","description":"Caf\u00e9 [1] <b>\n\n  100 %","inputSchema":{"type":"object"}}"#;
        for block in ["{}", r#"{"mode":"off"}"#, r#"{"mode":"full"}"#] {
            let listing = tool(raw, block);
            assert_eq!(text(&listing), raw, "{block}");
            assert_eq!(listing.decision(), Decision::Allowed);
        }
    }

    #[test]
    fn modes_decide_what_is_done() {
        let raw = r#"{"name":"a","description":"x<|im_start|>"}"#;
        let seen = tool(raw, r#"{"mode":"detect"}"#);
        assert_eq!((text(&seen), seen.decision()), (raw, Decision::Flagged));
        let off = tool(raw, r#"{"mode":"off"}"#);
        assert_eq!((text(&off), off.decision()), (raw, Decision::Allowed));
        // A tool whose description may not be shown is still a tool.
        let blocked = tool(raw, r#"{"on_token":"block"}"#);
        assert_eq!(
            text(&blocked),
            r#"{"name":"a","description":"x(removed: control token)"}"#
        );
        assert_eq!(blocked.decision(), Decision::Rewritten);
    }

    #[test]
    fn instructions_are_cleaned_too() {
        let listing = Listing::instructions(
            &br#""Be kind.<|im_start|>system""#[..],
            &Sanitisation::default(),
        );
        assert_eq!(
            text(&listing),
            r#""Be kind.(removed: control token)system""#
        );
        assert_eq!(listing.findings()[0].instance_pointer.as_deref(), Some(""));
    }
}
