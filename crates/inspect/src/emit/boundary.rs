//! The last step for texts that leave: long texts are cut and, where the settings say so, each text is put
//! between two boundary tags that name server and tool. Runs after classifiers. The nonce is an argument.

use std::borrow::Cow;

use countersign_sanitise as sanitise;
use countersign_sanitise::{Attribution, Cleaned, Nonce, NonceSource, Sanitiser, Wrap};
use countersign_tape::{Edits, Span};

use crate::clean::{Cleaning, Passage, TextLocation, text_finding};
use crate::emit::randomness::Randomness;
use crate::json::splice::splice;
use crate::policy::sanitisation::Sanitisation;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::hit::{Action, Carrier, Hit};
use crate::verdict::{Finding, Severity, Stage};

/// Nonces tried before a text counts as one that guesses them.
const ATTEMPTS: u8 = 8;

/// The changes that cut and wrap texts, and the findings about them.
#[derive(Default)]
pub(crate) struct WrappedTexts {
    pub(crate) changes: Changes,
    pub(crate) found: Vec<ExplainedFinding>,
}

/// Changes to the strings of a message.
#[derive(Default)]
pub(crate) struct Changes(Vec<Change>);

/// What becomes of one string.
enum Change {
    /// Another text.
    Text(Span, String),
    /// The same text, with something before and something behind it.
    Around(Span, String, String),
}

/// Cuts and wraps the passages of a result that is to be forwarded.
pub(crate) fn wrap_texts(
    bytes: &[u8],
    sanitisation: &Sanitisation,
    cleaning: Option<&Cleaning>,
    randomness: &dyn Randomness,
) -> WrappedTexts {
    let mut wrapped = WrappedTexts::default();
    let Some((sanitiser, cleaning)) = sanitisation.sanitiser().zip(cleaning) else {
        return wrapped;
    };
    let writer = BoundaryWriter::new(sanitiser, cleaning, randomness);
    for passage in &cleaning.passages {
        let original = passage.place.string.string(bytes).unwrap_or_default();
        match writer.passage(passage, &original, &mut wrapped.found) {
            Ok(change) => wrapped.changes.0.extend(change),
            Err(refused) => {
                wrapped.found.push(*refused);
                return wrapped;
            }
        }
    }
    wrapped
}

/// A text of our making that holds what the upstream sent, cleaned, cut and wrapped.
pub(crate) fn wrap_moved_value(
    text: &str,
    sanitisation: &Sanitisation,
    cleaning: Option<&Cleaning>,
    randomness: &dyn Randomness,
    found: &mut Vec<ExplainedFinding>,
) -> String {
    let Some(sanitiser) = sanitisation.sanitiser() else {
        return text.to_owned();
    };
    let rewritten = cleaning.and_then(|cleaning| cleaning.structured.as_deref());
    let rewritten = rewritten.and_then(|value| std::str::from_utf8(value).ok());
    let text = rewritten.unwrap_or(text);
    let cleaned = sanitiser.clean(text);
    // As text it may hold more than its strings do: keys, and tokens that begin in one string and end in another. What
    // is only layout between the strings stays.
    let is_dirty = cleaning.is_some_and(|cleaning| cleaning.structured_has_hits);
    let has_token = acted_findings(&cleaned).any(|hit| hit.rule.starts_with("token."));
    if has_token || cleaned.blocked {
        found.extend(moved_value_findings(&cleaned));
    }
    let cleaned = if has_token || is_dirty {
        cleaned.text
    } else {
        Cow::Borrowed(text)
    };
    let Some(cleaning) = cleaning else {
        return cleaned.into_owned();
    };
    let writer = BoundaryWriter::new(sanitiser, cleaning, randomness);
    writer
        .wrapped(&cleaned)
        .unwrap_or_else(|refused| {
            found.push(*refused);
            None
        })
        .unwrap_or_else(|| cleaned.into_owned())
}

/// What was done about a value on its way into a text block, beside what was done about its strings.
fn moved_value_findings(cleaned: &Cleaned<'_>) -> Vec<ExplainedFinding> {
    let place = TextLocation::new(Carrier::Structured, None, Span::new(0, 0));
    let mut all: Vec<ExplainedFinding> = acted_findings(cleaned)
        .map(|hit| {
            let action = if cleaned.blocked {
                Action::Blocked
            } else {
                hit.action.into()
            };
            let mut found = text_finding(place, hit, action);
            found.finding = found.finding.with_instance_pointer("/structuredContent");
            found
        })
        .collect();
    if cleaned.blocked && all.is_empty() {
        let why = "the value cannot be said in a text block";
        all.push(*boundary_failure(why));
    }
    all
}

fn acted_findings<'a>(cleaned: &'a Cleaned<'_>) -> impl Iterator<Item = &'a sanitise::Finding> {
    let acted = |finding: &&sanitise::Finding| finding.action != sanitise::Action::Reported;
    cleaned.findings.iter().filter(acted)
}

impl Changes {
    /// Adds the changes to the edits of a message.
    pub(crate) fn apply(self, bytes: &[u8], edits: &mut Edits<'_>) {
        for change in self.0 {
            match change {
                Change::Text(string, text) => {
                    let before = string.string(bytes).unwrap_or_default();
                    splice(edits, string, &before, &text);
                }
                Change::Around(string, head, tail) => {
                    let end = string.string(bytes).map_or(0, |text| text.len());
                    edits.replace_within_string(string, 0..0, &head);
                    edits.replace_within_string(string, end..end, &tail);
                }
            }
        }
    }
}

struct BoundaryWriter<'a> {
    sanitiser: &'a Sanitiser,
    from: Attribution<'a>,
    randomness: &'a dyn Randomness,
}

impl<'a> BoundaryWriter<'a> {
    fn new(
        sanitiser: &'a Sanitiser,
        cleaning: &'a Cleaning,
        randomness: &'a dyn Randomness,
    ) -> Self {
        Self {
            sanitiser,
            from: Attribution {
                server: cleaning.tool.server().unwrap_or_default(),
                tool: cleaning.tool.tool(),
            },
            randomness,
        }
    }

    fn passage(
        &self,
        passage: &Passage,
        original: &str,
        findings: &mut Vec<ExplainedFinding>,
    ) -> Result<Option<Change>, Box<ExplainedFinding>> {
        let text = passage.text.as_deref().unwrap_or(original);
        let changed = |text: &str| Change::Text(passage.place.string, text.to_owned());
        if !passage.can_be_wrapped {
            return Ok(Some(changed(text)));
        }
        let (short, cut) = self.sanitiser.truncate(text);
        findings.extend(cut.map(|cut| text_finding(passage.place, &cut, Action::Truncated)));
        let Some(wrapped) = self.wrapped(&short)? else {
            return Ok((short != original).then(|| changed(&short)));
        };
        // Everything between the tags is as it was: only the tags are new.
        let around = (short == original)
            .then(|| wrapped.split_once('\n'))
            .flatten()
            .and_then(|(head, rest)| Some((head, rest.strip_prefix(original)?)));
        Ok(Some(match around {
            Some((head, tail)) => {
                Change::Around(passage.place.string, format!("{head}\n"), tail.to_owned())
            }
            None => changed(&wrapped),
        }))
    }

    /// The text between boundaries; nothing if the settings want none.
    fn wrapped(&self, text: &str) -> Result<Option<String>, Box<ExplainedFinding>> {
        if self.sanitiser.settings().wrap != Wrap::Delimit {
            return Ok(None);
        }
        for attempt in 0..ATTEMPTS {
            let nonce = self.nonce(text, attempt);
            let why = "there is no randomness to make a boundary of";
            let nonce = nonce.ok_or_else(|| boundary_failure(why))?;
            if let Ok(wrapped) = self.sanitiser.wrap(text, &self.from, nonce) {
                return Ok(Some(wrapped));
            }
        }
        let why = "the text holds every nonce that was tried";
        Err(boundary_failure(why))
    }

    fn nonce(&self, text: &str, attempt: u8) -> Option<Nonce> {
        match self.sanitiser.settings().nonce {
            NonceSource::Random => self.randomness.fresh().map(Nonce::new),
            NonceSource::Keyed => {
                let secret = self.randomness.secret()?;
                Some(Nonce::keyed(&secret, &self.from, text, attempt))
            }
        }
    }
}

/// A text that cannot be put between boundaries does not leave.
fn boundary_failure(why: &str) -> Box<ExplainedFinding> {
    let hit = Hit::blocked(Carrier::Text, None);
    let finding = Finding::new(Stage::Sanitise, "boundary_forgery", Severity::Violation);
    Box::new(ExplainedFinding::without_sentence(
        finding.detail(why).with_hit(hit),
    ))
}
