//! `countersign schema validate`: do these instances conform? The verdicts are the engine's; values are never printed.

use clap::Args;
use countersign_schema::{Fuel, Outcome, Schema, Violation};
use serde::Serialize;

use super::{CompileOptions, worst};
use crate::format::FormatOption;
use crate::report::{self, Failure, printable};
use crate::source::Source;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign schema validate weather.schema.json result.json
  curl -s https://example.com/order | countersign schema validate -o json order.schema.json -

Exit codes: 0 all are valid, 1 one is invalid, 2 one cannot be read, 7 fuel ran out on one,
8 the schema cannot be enforced.";

/// Validate JSON instances against a schema
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The schema file; '-' reads it from stdin
    schema: Source,
    /// Instance files; '-' reads one from stdin
    #[arg(required = true, value_name = "INSTANCE")]
    instances: Vec<Source>,
    #[command(flatten)]
    compile: CompileOptions,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Valid,
    Invalid,
    Exhausted,
    Unenforceable,
}

#[derive(Debug, Serialize)]
struct ValidationReport {
    file: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel_used: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Reason {
    keyword: String,
    instance_pointer: String,
    schema_pointer: String,
    expected: String,
    actual: &'static str,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    Source::stdin_at_most_once(arguments.instances.iter().chain([&arguments.schema]))?;
    let schema = arguments.schema.read(console)?;
    let schema = match arguments.compile.compile(&schema) {
        Ok(schema) => schema,
        Err(reason) => {
            let refused = ValidationReport::unenforceable(&arguments.schema, reason.to_string());
            arguments
                .format
                .print(&refused, || refused.text(), console)?;
            return Ok(Exit::Unenforceable);
        }
    };
    let mut exits = Vec::new();
    for instance in &arguments.instances {
        exits.push(match validate(arguments, &schema, instance, console) {
            Err(failure) if failure.is_usage() => report::failure(&failure, console),
            other => other?,
        });
    }
    Ok(worst(exits))
}

fn validate(
    arguments: &Arguments,
    schema: &Schema,
    instance: &Source,
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    let bytes = instance.read(console)?;
    let tape = instance.parse(&bytes)?;
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    let outcome = schema.validate(&tape, &mut fuel);
    let validated = ValidationReport::new(instance, &outcome, fuel.used());
    arguments
        .format
        .print(&validated, || validated.text(), console)?;
    Ok(validated.verdict.exit())
}

impl Verdict {
    fn exit(self) -> Exit {
        match self {
            Self::Valid => Exit::Ok,
            Self::Invalid => Exit::No,
            Self::Exhausted => Exit::Exhausted,
            Self::Unenforceable => Exit::Unenforceable,
        }
    }
}

impl ValidationReport {
    fn new(file: &Source, outcome: &Outcome, fuel_used: u64) -> Self {
        let (verdict, violations) = match outcome {
            Outcome::Valid => (Verdict::Valid, Vec::new()),
            Outcome::Invalid(violations) => (
                Verdict::Invalid,
                violations.iter().map(Reason::from).collect(),
            ),
            Outcome::Exhausted => (Verdict::Exhausted, Vec::new()),
        };
        Self {
            file: file.name().into_owned(),
            verdict,
            reason: None,
            violations,
            fuel_used: Some(fuel_used),
        }
    }

    fn unenforceable(file: &Source, reason: String) -> Self {
        Self {
            file: file.name().into_owned(),
            verdict: Verdict::Unenforceable,
            reason: Some(reason),
            violations: Vec::new(),
            fuel_used: None,
        }
    }
}

impl ValidationReport {
    fn text(&self) -> String {
        let file = printable(&self.file);
        let mut lines = vec![match (self.verdict, &self.reason) {
            (Verdict::Valid, _) => format!("{file}: valid\n"),
            (Verdict::Invalid, _) => format!("{file}: invalid\n"),
            (Verdict::Exhausted, _) => {
                format!("{file}: exhausted: no verdict within the fuel for this instance\n")
            }
            (Verdict::Unenforceable, reason) => {
                format!(
                    "{file}: unenforceable: {}\n",
                    printable(reason.as_deref().unwrap_or("unknown reason"))
                )
            }
        }];
        lines.extend(self.violations.iter().map(Reason::text));
        lines.concat()
    }
}

impl From<&Violation> for Reason {
    fn from(violation: &Violation) -> Self {
        Self {
            keyword: violation.keyword().to_owned(),
            instance_pointer: violation.instance_pointer(),
            schema_pointer: violation.schema_pointer().to_owned(),
            expected: violation.expected().to_owned(),
            actual: violation.actual(),
        }
    }
}

impl Reason {
    fn text(&self) -> String {
        let place = if self.instance_pointer.is_empty() {
            "the root"
        } else {
            &self.instance_pointer
        };
        let line = format!(
            "{} at {place}: expected {}, got {}",
            self.keyword, self.expected, self.actual
        );
        format!("  {}\n", printable(&line))
    }
}
