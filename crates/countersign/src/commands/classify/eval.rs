//! `countersign classify eval`: each classifier on each set of texts: which attacks it detects, its false alarms,
//! and how long it takes. Time limits, cache and breaker are switched off, because they would change what is measured.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_config::Overrides;
use countersign_gateway::classify::{Kind, Local, Options, Outcome, Panel, Settings};

use super::sets::{self, TextSet};
use super::tally::Tally;
use crate::commands::config::ConfigOption;
use crate::format::{Format, FormatOption};
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign classify eval --data ./injection
  countersign classify eval --data ./injection --classifier shields --limit 50
  countersign classify eval --local ~/models/minilm --data ./injection -o json

The folder holds bipia/ and blns.json as published, and any NAME.attack.json or
NAME.benign.json with an array of strings. Every text is sent to the classifiers.

Exit codes: 0 measured, 2 bad usage, 3 a classifier had no verdict about anything.";

const PATIENCE: Duration = Duration::from_mins(1);
const BAR: usize = 24;

/// Measure detection and false alarms on sets of texts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Eval {
    /// The folder with the sets
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only this classifier of the configuration; may be given more than once
    #[arg(long, value_name = "NAME")]
    classifier: Vec<String>,
    /// A local model's folder, instead of the configuration's classifiers
    #[arg(long, value_name = "DIR", conflicts_with = "classifier")]
    local: Option<PathBuf>,
    /// How many texts of a set at most, evenly spread; 0 takes all
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    #[command(flatten)]
    config: ConfigOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Eval, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let settings = arguments.settings(console)?;
    let sets = sets::read(&arguments.data)?.into_iter();
    let sets: Vec<TextSet> = sets.map(|set| set.at_most(arguments.limit)).collect();
    let panel = Panel::build(&settings, PATIENCE).map_err(|(name, error)| {
        Failure::usage(anyhow!(error).context(format!("cannot set up the classifier {name}")))
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let mut tallies = Vec::new();
    for one in &settings {
        for set in &sets {
            let outcomes = runtime.block_on(measure(&panel, &one.name, set, console));
            tallies.push(Tally::from_outcomes(
                &one.name, &set.name, set.attack, &outcomes,
            ));
        }
    }
    console.progress("");
    print(&tallies, arguments.format.output, console)?;
    let mute = |one: &Settings| {
        let own = tallies.iter().filter(|tally| tally.classifier == one.name);
        own.map(|tally| tally.n).sum::<usize>() == 0
    };
    if let Some(mute) = settings.iter().find(|one| mute(one)) {
        let error = anyhow!("{} had no verdict about anything", mute.name);
        return Err(Failure::unreachable(error).hint("see that it runs and that its key is right"));
    }
    Ok(Exit::Ok)
}

impl Eval {
    /// What is to be measured.
    fn settings(&self, console: &mut Console<'_>) -> Result<Vec<Settings>, Failure> {
        let mut settings = Vec::new();
        if let Some(path) = &self.local {
            settings.push(Settings {
                name: "local".to_owned(),
                options: Options::default(),
                kind: Kind::Local(Local {
                    path: path.clone(),
                    threshold: None,
                    temperature: None,
                }),
            });
        } else {
            let config = self.config.open(&Overrides::default(), console)?;
            let all = config.classifiers.into_iter().map(|one| one.settings);
            let wanted =
                |one: &Settings| self.classifier.is_empty() || self.classifier.contains(&one.name);
            settings.extend(all.filter(wanted));
            let known = |name: &&String| settings.iter().any(|one| one.name == **name);
            if let Some(unknown) = self.classifier.iter().find(|name| !known(name)) {
                let error = anyhow!("there is no classifier '{}'", printable(unknown));
                return Err(Failure::usage(error).hint("see `countersign config show`"));
            }
        }
        if settings.is_empty() {
            let error = anyhow!("no classifier is configured");
            let hint = "describe one in \"classifiers\", or name a model's folder with --local";
            return Err(Failure::usage(error).hint(hint));
        }
        for one in &mut settings {
            one.options = Options {
                timeout: PATIENCE,
                max_chunks: usize::MAX,
                cache_entries: 0,
                breaker_failures: u32::MAX,
                ..one.options.clone()
            };
        }
        Ok(settings)
    }
}

async fn measure(
    panel: &Panel,
    name: &str,
    set: &TextSet,
    console: &mut Console<'_>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(set.texts.len());
    for text in &set.texts {
        let (done, all) = (outcomes.len(), set.texts.len());
        let full = done * BAR / all.max(1);
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(BAR - full));
        console.progress(&format!("{name}: {} [{bar}] {done} of {all}", set.name));
        outcomes.extend(panel.ask(name, text).await);
    }
    outcomes
}

fn print(tallies: &[Tally], format: Format, console: &mut Console<'_>) -> Result<(), Failure> {
    if format == Format::Json {
        return tallies.iter().try_for_each(|tally| console.json(tally));
    }
    let head = [
        "classifier",
        "set",
        "kind",
        "n",
        "hits",
        "rate (95 %)",
        "errors",
        "p50 ms",
        "p99 ms",
    ];
    console.data(table(&head, tallies.iter().map(Tally::row)))
}
