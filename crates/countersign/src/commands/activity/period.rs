//! `--period`: how far back records are counted.

use std::time::Duration;

use clap::Args;
use countersign_audit::parse_period;

use crate::report::Failure;

/// How far back records are counted.
#[derive(Debug, Args)]
pub(super) struct PeriodOption {
    /// How far back, in whole hours: `24h`, `7d`
    #[arg(long, default_value = "24h")]
    period: String,
}

impl PeriodOption {
    /// The period as it was given.
    pub(super) fn text(&self) -> &str {
        &self.period
    }

    /// How long the period is.
    pub(super) fn duration(&self) -> Result<Duration, Failure> {
        let parsed = parse_period(&self.period);
        parsed.map_err(|why| Failure::usage(anyhow::anyhow!("period: {why}")))
    }
}
