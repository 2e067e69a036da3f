//! `countersign inspect`: the gateway's verdict on one result, offline. The verdict is the inspect crate's; nothing is
//! decided here.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_config::Overrides;
use countersign_gateway::ProcessRandomness;
use countersign_inspect::{
    Contract, Decision, Declaration, Era, Finding, Inspected, Mode, Policy, RawReply,
    Report as Verdict, Screening, SkipReason, Source as Origin, ToolName, corpus_case, examine,
};

use super::config::ConfigOption;
use super::value_parser::word;
use crate::format::FormatOption;
use crate::report::{Failure, printable};
use crate::source::Source;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign inspect --tool tool.json --mode strict result.json
  countersign inspect --output-schema weather.schema.json -o json result.json
  countersign inspect --tool tool.json --era legacy --emit - result.json
  countersign inspect --tool tool.json --corpus-case case.json result.json

Exit codes: 0 allowed, flagged or rewritten, 1 blocked, 2 bad usage, configuration or input.";

/// Say what would happen to a tool result, and why
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A tool result, or a whole JSON-RPC response; '-' reads it from stdin
    result: Source,
    /// The tool as its server lists it: an object with name and outputSchema
    #[arg(long, value_name = "FILE", conflicts_with = "output_schema")]
    tool: Option<Source>,
    /// The output schema alone
    #[arg(long, value_name = "FILE")]
    output_schema: Option<Source>,
    /// The server's name, for its own part of the configuration
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    #[command(flatten)]
    config: ConfigOption,
    /// The mode, instead of the configuration's
    #[arg(long, value_parser = word(Mode::WORDS, str::parse::<Mode>))]
    mode: Option<Mode>,
    /// The era of the client that would read the result
    #[arg(long, value_parser = word(Era::WORDS, str::parse::<Era>), default_value = "modern")]
    era: Era,
    /// The era of the server that sent it; the client's unless given
    #[arg(long, value_parser = word(Era::WORDS, str::parse::<Era>))]
    upstream_era: Option<Era>,
    /// Write exactly the bytes the agent would receive; '-' writes them to stdout, in place of the report
    #[arg(long, value_name = "FILE")]
    emit: Option<PathBuf>,
    /// Write a file of corpus/inspection with this result and the verdict of every mode; '-' writes it to stdout, in
    /// place of the report
    #[arg(long, value_name = "FILE", conflicts_with = "output_schema")]
    corpus_case: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

fn rendered(verdict: &Verdict, reason: Option<&str>) -> String {
    let mut text = verdict.decision.as_str().to_owned();
    if let Some(reason) = reason {
        text.extend([": ", &printable(reason)]);
    }
    text.push('\n');
    text.extend(verdict.findings.iter().map(line));
    text
}

fn line(finding: &Finding) -> String {
    let mut line = format!("  {} {}", finding.stage.as_str(), finding.rule);
    if let Some(pointer) = finding.instance_pointer.as_deref() {
        line.push_str(" at ");
        line.push_str(if pointer.is_empty() {
            "the root"
        } else {
            pointer
        });
    }
    for (word, part) in [("expected", &finding.expected), ("got", &finding.actual)] {
        if let Some(part) = part {
            line.extend([", ", word, " ", part]);
        }
    }
    if let Some(detail) = &finding.detail {
        line.extend([" (", detail, ")"]);
    }
    printable(&line) + "\n"
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let inputs = [
        Some(&arguments.result),
        arguments.tool.as_ref(),
        arguments.output_schema.as_ref(),
    ];
    Source::stdin_at_most_once(inputs.into_iter().flatten())?;
    let tool = arguments.tool.as_ref().map(|tool| tool.read(console));
    let tool = tool.transpose()?;
    let declaration = declaration(arguments, tool.as_deref(), console)?;
    let policy = policy(arguments, declaration.as_ref(), console)?;
    let contract = match declaration {
        Some(declaration) => declaration.capture(&policy.output),
        None => Contract::undeclared(ToolName::new("tool")),
    };
    let bytes = arguments.result.read(console)?;
    if let Some(target) = &arguments.corpus_case {
        let case = corpus_case("tried", tool.as_deref(), &bytes, &policy);
        let case = case.map_err(|error| Failure::usage(anyhow!(error)))?;
        if target == Path::new("-") {
            console.data(case)?;
            return Ok(Exit::answer(true));
        }
        write(target, case.as_bytes())?;
    }
    let upstream = arguments.upstream_era.unwrap_or(arguments.era);
    let raw = RawReply::new(bytes, Origin::new(upstream));
    let inspected = examine(raw, &contract, &policy).conclude_with(
        Screening::skipped(SkipReason::NotConfigured),
        &ProcessRandomness,
    );
    emit(arguments, &inspected, console)?;
    Ok(Exit::answer(inspected.decision() != Decision::Blocked))
}

/// What the tool declared, when something was said about it.
fn declaration(
    arguments: &Arguments,
    tool: Option<&[u8]>,
    console: &mut Console<'_>,
) -> Result<Option<Declaration>, Failure> {
    let declaration = if let Some(bytes) = tool {
        Declaration::read(bytes).map_err(|error| {
            let name = arguments.tool.as_ref().map(Source::name);
            let name = printable(&name.unwrap_or_default());
            let error = anyhow!(error).context(format!("{name} is not a tool"));
            Failure::usage(error).hint(
                "give one element of a tools/list result: an object with name and outputSchema",
            )
        })?
    } else if let Some(schema) = &arguments.output_schema {
        Declaration::new(ToolName::new("tool")).output_schema(schema.read(console)?)
    } else {
        return Ok(None);
    };
    Ok(Some(match &arguments.server {
        Some(server) => declaration.server(server),
        None => declaration,
    }))
}

/// The policy the configuration gives this tool.
fn policy(
    arguments: &Arguments,
    declaration: Option<&Declaration>,
    console: &mut Console<'_>,
) -> Result<Policy, Failure> {
    let config = arguments.config.open(&Overrides::default(), console)?;
    let server = arguments.server.as_deref().unwrap_or_default();
    let tool = declaration.map(|declaration| declaration.tool().tool().to_owned());
    let mut policy = config.policy(server, tool.as_deref().unwrap_or_default());
    policy.client = arguments.era.into();
    if let Some(mode) = arguments.mode {
        policy.output.mode = mode;
    }
    Ok(policy)
}

fn emit(
    arguments: &Arguments,
    inspected: &Inspected,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    if let Some(target) = &arguments.emit {
        let bytes = inspected.emitted().into_bytes();
        if target == Path::new("-") {
            return console.data(bytes);
        }
        write(target, &bytes)?;
    }
    let verdict = Verdict::from(inspected);
    let text = || rendered(&verdict, inspected.reason());
    arguments.format.print(&verdict, text, console).map(drop)
}

fn write(target: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(target, bytes)
        .with_context(|| format!("cannot write {}", printable(&target.to_string_lossy())))
        .map_err(|error| Failure::usage(error).hint("check the path; '-' writes to stdout"))
}
