//! The part of a plan that says what is tested and how strictly. A contract run needs no more:
//! its calls are its own, so a plan without scenarios will do.

use std::path::Path;

use super::{PlanError, hint, raw, read_plan, resolve};
use crate::client::{Options, Target};
use crate::policy::Validation;

/// The server under test, and how its violations count.
#[derive(Clone, Debug)]
pub struct TestSubject {
    /// Where the server is.
    pub target: Target,
    /// What the client asks of it.
    pub options: Options,
    /// Whether and how violations gate.
    pub validation: Validation,
}

impl TestSubject {
    /// Reads `[server]` and `[validation]` of a plan file. The rest must be well-formed, and is
    /// not looked at.
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&read_plan(path)?, folder, &|name| std::env::var(name).ok())
    }

    fn parse(
        text: &str,
        folder: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, PlanError> {
        let raw: raw::Plan = toml::from_str(text).map_err(|error| hint::syntax(text, &error))?;
        let options = resolve::options(&raw.server);
        let (target, _) = resolve::target(raw.server, folder, environment)?;
        Ok(Self {
            target,
            options,
            validation: raw.validation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_without_scenarios_says_what_is_tested() {
        let text = r#"
            [server]
            command = "./server"
            [validation]
            strict = true
            [[validation.override]]
            tool = "woo_*"
            site = ["result", "format"]
            policy = "warn"
            until = 2026-12-31
            reason = "upstream sends local dates"
        "#;
        let subject = TestSubject::parse(text, Path::new("."), &|_| None).expect("a subject");
        assert!(matches!(subject.target, Target::Stdio(_)) && subject.validation.strict);
        assert_eq!(
            subject.validation.overrides[0].until.to_string(),
            "2026-12-31"
        );
        let misspelt = text.replace("strict", "stricct");
        assert!(TestSubject::parse(&misspelt, Path::new("."), &|_| None).is_err());
    }
}
