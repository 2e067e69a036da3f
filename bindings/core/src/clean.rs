//! Cleaning one text outside of any result.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use countersign_inspect::config::{OutputSanitisation, RawOutputSanitisation};
use countersign_sanitise::{Finding, Sanitiser};
use serde_json::json;

use crate::config::{self, ConfigError};

/// A program uses few settings; beyond this many, sanitisers are made anew.
const MOST: usize = 64;

static SANITISERS: LazyLock<Mutex<HashMap<String, Arc<Sanitiser>>>> = LazyLock::new(Mutex::default);

/// Cleans a text under an `output_sanitisation` block, JSON text: the clean text, the findings as JSON text, and whether
/// the text must not be passed on.
pub fn clean_text(text: &str, settings: &str) -> Result<(String, String, bool), ConfigError> {
    let sanitiser = sanitiser(settings)?;
    let cleaned = sanitiser.clean(text);
    let findings: Vec<_> = cleaned.findings.iter().map(finding).collect();
    let findings = crate::json_array(&findings);
    let text = if cleaned.blocked {
        String::new()
    } else {
        cleaned.text.into_owned()
    };
    Ok((text, findings, cleaned.blocked))
}

fn finding(finding: &Finding) -> serde_json::Value {
    json!({
        "stage": "sanitise",
        "rule": finding.rule,
        "severity": finding.severity.as_str(),
        "class": finding.class,
        "family": finding.family,
        "count": finding.count,
        "offsets": finding.offsets,
        "action": finding.action.as_str(),
    })
}

fn sanitiser(settings: &str) -> Result<Arc<Sanitiser>, ConfigError> {
    let known = || SANITISERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sanitiser) = known().get(settings) {
        return Ok(Arc::clone(sanitiser));
    }
    let block: RawOutputSanitisation = config::read_sanitisation(settings)?;
    let resolved = OutputSanitisation::resolve([&block]);
    let made = Sanitiser::new(resolved.settings)
        .map_err(|why| config::error(String::new(), &why.to_string()))?;
    let made = Arc::new(made);
    let mut known = known();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(settings.to_owned(), Arc::clone(&made));
    Ok(made)
}
