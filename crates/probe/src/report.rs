//! Reports: the run as JSON first, every other form rendered from it.

mod figures;
mod identity;
pub(crate) mod junit;
pub(crate) mod markdown;
mod render;
mod run;
pub(crate) mod sarif;
mod violation;

pub use figures::{Figures, Histograms, Times};
pub(crate) use figures::{count_time, millis, number, rounded};
pub(crate) use identity::{fingerprint, now_ms, wildcard_positions};
pub use render::{Format, printable, render};
pub(crate) use render::{write_string, write_violations};
pub use run::{
    Counters, Run, RunEnd, RunPlan, Setup, TestedServer, ThresholdResult, TimelinePoint, ToolRun,
    VERSION, Verdict,
};
pub use violation::{Occurrence, PolicyCounts, ViolationRecord, Violations};
