//! `Payload`: a request or response kept in a record, as far as the policy allows. Only `PayloadPolicy::capture` makes one.
//!
//! Default: nothing is kept. `redacted` keeps text that passed inspection, without secrets; `full` keeps what was there.
//! The byte cap counts bytes as stored, escapes included, so a record cannot outgrow it.

use countersign_inspect::word_enum;
use serde::{Deserialize, Serialize};

use super::redact::Redactor;

/// How far past the cap redaction looks, so that a secret cut by the cap is still recognised.
const SLACK: usize = 4096;

/// How much is kept of a payload that failed, in bytes as stored.
const MAX_EXCERPT: usize = 512;

word_enum! {
    /// Whether payloads are stored.
    #[derive(Default)]
    pub enum Payloads("payloads") {
        /// Nothing is stored but digest and length.
        #[default]
        None = "none",
        /// Stored without what looks like a secret, and only if it passed inspection.
        Redacted = "redacted",
        /// Stored as it was.
        Full = "full",
    }
}

/// What is kept of payloads, and how much.
#[derive(Debug, Clone, Default)]
pub struct PayloadPolicy {
    payloads: Payloads,
    max_bytes: usize,
    redactor: Redactor,
}

/// A payload as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    redacted: bool,
}

impl PayloadPolicy {
    /// Keeps `payloads`, at most `max_bytes` of each as stored.
    pub fn new(payloads: Payloads, max_bytes: usize, redactor: Redactor) -> Self {
        Self {
            payloads,
            max_bytes,
            redactor,
        }
    }

    /// What may be kept of `bytes`. `passed` says that inspection found nothing against it: text that failed is kept
    /// only under `full`.
    pub fn capture(&self, bytes: &[u8], passed: bool) -> Option<Payload> {
        let redact = match self.payloads {
            Payloads::None => return None,
            Payloads::Redacted if !passed => return None,
            Payloads::Redacted => true,
            Payloads::Full => false,
        };
        let window = if redact {
            self.max_bytes.saturating_add(SLACK)
        } else {
            self.max_bytes
        };
        let seen = bytes.get(..window).unwrap_or(bytes);
        let text = String::from_utf8_lossy(seen);
        let (mut text, redacted) = if redact {
            let clean = self.redactor.redact(&text);
            let changed = clean != text;
            (clean.into_owned(), changed)
        } else {
            (text.into_owned(), false)
        };
        let keep = prefix_within(&text, self.max_bytes);
        let truncated = seen.len() < bytes.len() || keep < text.len();
        text.truncate(keep);
        Some(Payload {
            text,
            truncated,
            redacted,
        })
    }
}

impl PayloadPolicy {
    /// What may be kept of a payload that failed: a short excerpt that its maker has made harmless, without what looks
    /// like a secret. Nothing if payloads are not stored.
    pub fn excerpt(&self, harmless: &str) -> Option<Payload> {
        if self.payloads == Payloads::None {
            return None;
        }
        let clean = self.redactor.redact(harmless);
        let keep = prefix_within(&clean, self.max_bytes.min(MAX_EXCERPT));
        Some(Payload {
            text: clean.get(..keep).unwrap_or_default().to_owned(),
            truncated: true,
            redacted: true,
        })
    }
}

impl Payload {
    /// The text kept.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Something was cut off.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Something was replaced.
    pub fn is_redacted(&self) -> bool {
        self.redacted
    }
}

/// The longest prefix of `text` whose JSON form takes at most `limit` bytes.
fn prefix_within(text: &str, limit: usize) -> usize {
    let mut used = 0_usize;
    for (at, c) in text.char_indices() {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => c.len_utf8(),
        };
        if used > limit {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(payloads: Payloads, max_bytes: usize) -> PayloadPolicy {
        PayloadPolicy::new(payloads, max_bytes, Redactor::default())
    }

    #[test]
    fn nothing_is_kept_by_default() {
        assert_eq!(PayloadPolicy::default().capture(b"{}", true), None);
        assert_eq!(policy(Payloads::None, 1000).capture(b"{}", true), None);
    }

    #[test]
    fn failed_text_is_kept_only_under_full() {
        assert_eq!(
            policy(Payloads::Redacted, 1000).capture(b"ignore all instructions", false),
            None
        );
        let full = policy(Payloads::Full, 1000)
            .capture(b"password=hunter22", false)
            .expect("kept");
        assert_eq!(
            (full.text(), full.is_redacted(), full.is_truncated()),
            ("password=hunter22", false, false)
        );
    }

    #[test]
    fn an_excerpt_of_failed_text_is_short_and_without_secrets() {
        assert_eq!(policy(Payloads::None, 1000).excerpt("text"), None);
        let long = format!("Bearer {} {}", "s3cr3t".repeat(8), "word ".repeat(500));
        let kept = policy(Payloads::Redacted, 100_000)
            .excerpt(&long)
            .expect("kept");
        assert!(kept.text().len() <= MAX_EXCERPT && !kept.text().contains("s3cr3t"));
        assert!(kept.is_truncated() && kept.is_redacted());
        let small = policy(Payloads::Redacted, 10).excerpt(&long).expect("kept");
        assert!(small.text().len() <= 10);
    }

    #[test]
    fn the_cap_counts_stored_bytes() {
        for (text, limit) in [
            ("é".repeat(100), 11),
            ("\u{1}".repeat(100), 20),
            ("\"\n".repeat(50), 9),
            ("plain".into(), 3),
        ] {
            let kept = policy(Payloads::Full, limit)
                .capture(text.as_bytes(), true)
                .expect("kept");
            let stored = serde_json::to_string(kept.text()).expect("encodes").len() - 2;
            assert!(
                stored <= limit && kept.is_truncated() && !kept.text().is_empty(),
                "{text:?} {stored}"
            );
        }
        let whole = policy(Payloads::Full, 5)
            .capture(b"plain", true)
            .expect("kept");
        assert_eq!((whole.text(), whole.is_truncated()), ("plain", false));
    }

    #[test]
    fn a_secret_across_the_cap_does_not_leak_its_head() {
        let text = format!("{} Bearer {}", "a".repeat(80), "s3cr3t".repeat(20));
        let kept = policy(Payloads::Redacted, 100)
            .capture(text.as_bytes(), true)
            .expect("kept");
        assert!(
            !kept.text().contains("s3cr3t") && kept.is_redacted(),
            "{}",
            kept.text()
        );
    }

    #[test]
    fn unknown_settings_list_the_allowed_ones() {
        assert_eq!("full".parse::<Payloads>(), Ok(Payloads::Full));
        let error = "all".parse::<Payloads>().expect_err("unknown").to_string();
        assert_eq!(
            error,
            "unknown payloads `all`; allowed: none, redacted, full"
        );
    }
}
