//! How long the texts of a record may be. What is longer is cut, with a visible mark.

use super::Record;

pub(super) const MAX_NAME: usize = 256;
const MAX_REASON: usize = 2048;
const MAX_DETAIL: usize = 1024;
/// Findings kept per record; the number left out is kept too.
pub const MAX_FINDINGS: usize = 64;

impl Record {
    /// Cuts every text to its limit.
    pub(crate) fn bound(&mut self) {
        let names = [
            &mut self.server,
            &mut self.tool,
            &mut self.client,
            &mut self.caller,
            &mut self.session_id,
            &mut self.request_id,
        ];
        for name in names.into_iter().chain([
            &mut self.unvalidated,
            &mut self.schema_digest,
            &mut self.payload_digest,
        ]) {
            cut_option(name, MAX_NAME);
        }
        cut_option(&mut self.reason, MAX_REASON);
        let surplus = self.findings.len().saturating_sub(MAX_FINDINGS);
        self.findings.truncate(MAX_FINDINGS);
        self.findings_left_out += surplus as u64;
        for finding in &mut self.findings {
            if finding.rule.len() > MAX_NAME {
                cut(finding.rule.to_mut(), MAX_NAME);
            }
            let texts = [
                &mut finding.instance_pointer,
                &mut finding.schema_pointer,
                &mut finding.expected,
            ];
            for text in texts
                .into_iter()
                .chain([&mut finding.actual, &mut finding.detail])
            {
                cut_option(text, MAX_DETAIL);
            }
        }
    }
}

fn cut_option(text: &mut Option<String>, limit: usize) {
    if let Some(text) = text {
        cut(text, limit);
    }
}

/// Cuts to at most `limit` bytes, on a character boundary, with a visible mark.
fn cut(text: &mut String, limit: usize) {
    const MARK: char = '…';
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit.saturating_sub(MARK.len_utf8())));
        text.push(MARK);
    }
}

/// `request_id` as it is stored, so that a filter by a longer id still finds it.
pub(crate) fn stored_name(text: &str) -> String {
    let mut text = text.to_owned();
    cut(&mut text, MAX_NAME);
    text
}
