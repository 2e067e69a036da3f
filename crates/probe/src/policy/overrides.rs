//! Overrides: one tool, some sites, another policy, a reason and an end. They exist because the
//! servers under test often belong to another team. The last one that matches wins; one that
//! is past its end no longer helps; one that matches no tool is a typing mistake until shown
//! otherwise.

use countersign_inspect::Finding;
use serde::{Deserialize, Serialize};

use super::{Date, SchemaPolicy, Site, classify_schema_violation, lenient};

/// The `[validation]` block of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Validation {
    /// Whether violations gate the run.
    pub strict: bool,
    /// How many gating violations a strict run tolerates.
    pub max_violations: u64,
    /// Whether `format` counts like any other keyword.
    pub assert_formats: bool,
    /// Whether the tool list must stay as it was at the start.
    pub pinned: bool,
    /// Exceptions, in order.
    #[serde(rename = "override")]
    pub overrides: Vec<Override>,
}

/// An exception for some tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Which tools: a name in which `*` stands for any text and `?` for any character.
    pub tool: String,
    /// Which sites, by name.
    #[serde(deserialize_with = "site_names")]
    pub site: Vec<String>,
    /// What is done instead.
    pub policy: SchemaPolicy,
    /// The last day it holds.
    pub until: Date,
    /// Why it exists.
    pub reason: String,
}

/// A policy and what decided it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedPolicy {
    /// What is done.
    pub policy: SchemaPolicy,
    /// What decided it.
    pub why: PolicySource,
}

/// What decided a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicySource {
    /// The mode of the run.
    Mode,
    /// An override.
    Override {
        /// Its reason.
        reason: String,
    },
    /// An override that is past its last day.
    Expired {
        /// Its last day.
        until: Date,
    },
    /// A known violation.
    Baseline,
}

impl Validation {
    /// What is done about a violation of this tool, today.
    pub fn apply(
        &self,
        tool: &str,
        site: Site,
        violations: &[Finding],
        today: Date,
    ) -> AppliedPolicy {
        let site = self.refined(site, violations);
        let mode = AppliedPolicy {
            policy: self.by_mode(site),
            why: PolicySource::Mode,
        };
        if site.is_never_hidden() {
            return mode;
        }
        let mut matching = self.overrides.iter().rev();
        let Some(found) = matching.find(|one| one.covers(tool, site)) else {
            return mode;
        };
        let (policy, why) = if today > found.until {
            let until = found.until;
            (SchemaPolicy::Fail, PolicySource::Expired { until })
        } else {
            let reason = found.reason.clone();
            (found.policy, PolicySource::Override { reason })
        };
        // A lenient run never fails because of a violation, also not by an override.
        let most = if self.strict {
            SchemaPolicy::Fail
        } else {
            SchemaPolicy::Warn
        };
        let policy = policy.min(most);
        AppliedPolicy { policy, why }
    }

    /// Overrides that match none of these tools: most likely misspelt.
    pub fn unmatched<'a>(&'a self, tools: &[&str]) -> Vec<&'a Override> {
        let matches = |one: &&Override| !tools.iter().any(|tool| glob(&one.tool, tool));
        self.overrides.iter().filter(matches).collect()
    }

    /// The site, told apart by its violations unless formats are asserted like everything else.
    pub fn refined(&self, site: Site, violations: &[Finding]) -> Site {
        match site.refine(violations) {
            Site::Format if self.assert_formats => Site::Result,
            site => site,
        }
    }

    /// What the mode of the run does about a site that is refined already: asserted formats must
    /// not be told apart again.
    fn by_mode(&self, site: Site) -> SchemaPolicy {
        let strict = classify_schema_violation(site, &[]);
        let gates = self.strict && (site != Site::ListChanged || self.pinned);
        if gates { strict } else { lenient(strict) }
    }
}

impl Override {
    fn covers(&self, tool: &str, site: Site) -> bool {
        self.site.iter().any(|name| site.is_named(name)) && glob(&self.tool, tool)
    }
}

fn site_names<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    use serde::de::Error;
    let names = Vec::<String>::deserialize(from)?;
    let is_unknown = |name: &&String| !Site::NAMES.contains(&name.as_str());
    let problem = match names.iter().find(is_unknown) {
        Some(unknown) => format!("unknown {unknown:?}, "),
        None if names.is_empty() => String::new(),
        None => return Ok(names),
    };
    let known = Site::NAMES.join(", ");
    let message = format!("site: {problem}expected one of {known}");
    Err(D::Error::custom(message))
}

/// Whether a name matches a pattern in which `*` stands for any text and `?` for any character.
/// Linear in practice and quadratic at worst: one place to go back to is enough.
///
/// ```
/// use countersign_probe::policy::glob;
///
/// assert!(glob("woo_*", "woo_orders"));
/// assert!(!glob("woo_?", "woo_orders"));
/// ```
pub fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                back = Some((p, n));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || Some(wanted) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star, from)) = back else {
                    return false;
                };
                back = Some((star, from + 1));
                p = star + 1;
                n = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == '*')
}
