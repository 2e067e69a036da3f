//! What was found in a text: rule, family, count and a few offsets, never the text around a hit. A decoded
//! payload is shown only in a form that can do nothing.

use std::borrow::Cow;

use crate::named_enum::named_enum;

/// Offsets kept for one finding.
pub(crate) const OFFSETS: usize = 16;

named_enum! {
    /// How bad a finding is, before any policy.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Worth knowing; common in honest text.
        Info = "info",
        /// Does not belong into text for a model.
        Violation = "violation",
        /// Has no honest use in a tool result.
        Attack = "attack",
    }
}

named_enum! {
    /// What was done about a finding.
    pub enum Action {
        /// The text still has it.
        Reported = "reported",
        /// The characters are gone, or mapped to a line feed.
        Removed = "removed",
        /// A visible placeholder stands in its place.
        Replaced = "replaced",
        /// The text was cut.
        Truncated = "truncated",
    }
}

/// One kind of hit in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Rule id: `token.<family>`, `invisible.<class>`, `ansi`, `encoded_token`, `boundary_forgery`, `truncated`.
    pub rule: Cow<'static, str>,
    /// Token class (`A` to `E`, `extra`) or the class of invisible characters; empty where the rule says it all.
    pub class: &'static str,
    /// Model family of a token, `generic` for a shape no list has, `extra` for a configured marker.
    pub family: Option<String>,
    /// Number of hits.
    pub count: u64,
    /// Byte offsets of the first hits in the text as received, at most sixteen.
    pub offsets: Vec<usize>,
    /// How bad it is.
    pub severity: Severity,
    /// What was done.
    pub action: Action,
    /// A hidden payload or a remark, bounded and inert: no angle, bar, bracket or control character.
    pub decoded: Option<String>,
}

/// Counts hits of one text by what they are.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    entries: Vec<(Key, Entry)>,
    /// Set once the text at hand is not the text received, so offsets would mislead.
    pub(crate) later_round: bool,
}

/// What makes two hits the same finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) rule: Rule,
    pub(crate) severity: Severity,
    pub(crate) action: Action,
}

impl Key {
    pub(crate) fn new(rule: Rule, severity: Severity, action: Action) -> Self {
        Self {
            rule,
            severity,
            action,
        }
    }
}

/// The rule of a hit, before it has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Index of the family in the token table, class name.
    Token(u16, &'static str),
    /// The same, found only after decoding.
    Encoded(u16, &'static str),
    Invisible(&'static str),
    Ansi,
    Boundary,
}

#[derive(Debug, Default)]
struct Entry {
    count: u64,
    offsets: Vec<usize>,
}

impl Tally {
    pub(crate) fn add(&mut self, key: Key, offset: usize, count: u64) {
        // A hit that stays in the text would be counted again in every verifying round.
        if self.later_round && key.action == Action::Reported {
            return;
        }
        let known = self.entries.iter().position(|(known, _)| *known == key);
        let index = known.unwrap_or(self.entries.len());
        if known.is_none() {
            self.entries.push((key, Entry::default()));
        }
        let Some((_, entry)) = self.entries.get_mut(index) else {
            return;
        };
        entry.count += count;
        if !self.later_round && entry.offsets.len() < OFFSETS {
            entry.offsets.push(offset);
        }
    }

    pub(crate) fn any(&self, test: impl Fn(&Key) -> bool) -> bool {
        self.entries.iter().any(|(key, _)| test(key))
    }

    /// Makes every hit of a rule as bad as this.
    pub(crate) fn raise(&mut self, rule: Rule, severity: Severity) {
        for (key, _) in &mut self.entries {
            if key.rule == rule {
                key.severity = severity;
            }
        }
    }

    /// Findings in order of first appearance. `family` names a family index, `payload` a decoded payload.
    pub(crate) fn into_findings(
        self,
        family: impl Fn(u16) -> String,
        mut payload: impl FnMut(&'static str) -> Option<String>,
    ) -> Vec<Finding> {
        self.entries
            .into_iter()
            .map(|(key, entry)| {
                let (rule, class, family) = match key.rule {
                    Rule::Token(index, class) => {
                        let name = family(index);
                        (Cow::Owned(format!("token.{name}")), class, Some(name))
                    }
                    Rule::Encoded(index, class) => {
                        (Cow::Borrowed("encoded_token"), class, Some(family(index)))
                    }
                    Rule::Invisible(class) => {
                        (Cow::Owned(format!("invisible.{class}")), class, None)
                    }
                    Rule::Ansi => (Cow::Borrowed("ansi"), "", None),
                    Rule::Boundary => (Cow::Borrowed("boundary_forgery"), "", None),
                };
                let is_invisible = matches!(key.rule, Rule::Invisible(_));
                Finding {
                    rule,
                    class,
                    family,
                    count: entry.count,
                    offsets: entry.offsets,
                    severity: key.severity,
                    action: key.action,
                    decoded: is_invisible.then(|| payload(class)).flatten(),
                }
            })
            .collect()
    }
}
