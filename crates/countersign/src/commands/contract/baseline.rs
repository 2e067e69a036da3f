//! The baseline's side of a contract run: reading it, comparing, and writing it when asked and only then.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_probe::contract::{Baseline, Run};

use crate::Console;
use crate::report::{Failure, printable};

/// What is said when a baseline would be written where no person reviews it.
const REFUSED: &str = "\
error: the baseline is not updated in CI
hint: update it where the change can be reviewed, or add --force
";

#[derive(Debug, Args)]
pub(super) struct BaselineOptions {
    /// Known violations; what is in it does not fail the run
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the baseline anew; refused where CI=true
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Update the baseline even where CI=true
    #[arg(long, requires = "update_baseline")]
    force: bool,
}

impl BaselineOptions {
    /// The known violations, if there are any; or why there will be no run.
    pub(super) fn open(&self) -> Result<Result<Option<Baseline>, &'static str>, Failure> {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        if self.update_baseline && in_ci && !self.force {
            return Ok(Err(REFUSED));
        }
        let Some(path) = &self.baseline else {
            return Ok(Ok(None));
        };
        if self.update_baseline && !path.exists() {
            return Ok(Ok(None));
        }
        let known =
            read(path).with_context(|| format!("cannot use the baseline '{}'", path.display()));
        let hint = "write one with --update-baseline";
        known
            .map(|known| Ok(Some(known)))
            .map_err(|error| Failure::usage(error).hint(hint))
    }
}

fn read(path: &Path) -> anyhow::Result<Baseline> {
    Baseline::read(&std::fs::read(path)?).map_err(|why| anyhow!(why))
}

/// Marks the findings that the baseline knows, or writes the baseline; true if the file has entries that no longer occur.
pub(super) fn apply_baseline(
    options: &BaselineOptions,
    known: Option<&Baseline>,
    run: &mut Run,
    is_one_case: bool,
    console: &mut Console<'_>,
) -> Result<bool, Failure> {
    if let (true, Some(path)) = (options.update_baseline, &options.baseline) {
        let text = Baseline::from_run(run, known).to_text();
        let written = std::fs::write(path, text)
            .with_context(|| format!("cannot write '{}'", path.display()));
        written.map_err(Failure::usage)?;
        // What was just written down is known.
        Baseline::from_run(run, known).apply(run);
        return Ok(false);
    }
    let Some(known) = known else {
        return Ok(false);
    };
    let comparison = known.apply(run);
    if is_one_case {
        return Ok(false);
    }
    for (word, entries) in [
        ("stale", &comparison.stale),
        ("not seen", &comparison.unproven),
    ] {
        for entry in entries {
            let place = entry.instance_pointer.as_deref().unwrap_or_default();
            console.message(format!(
                "{word} in the baseline: {} {} {}\n",
                printable(&entry.tool),
                entry.rule,
                printable(place)
            ));
        }
    }
    if comparison.reopened > 0 {
        console.message(format!(
            "{} known findings count again: their schema changed\n",
            comparison.reopened
        ));
    }
    Ok(!comparison.stale.is_empty())
}
