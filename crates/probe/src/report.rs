//! Reports: the run as JSON first, every other form rendered from it.

mod figures;
mod identity;
pub mod junit;
pub mod markdown;
mod render;
mod run;
pub mod sarif;
mod violation;

pub use figures::{Figures, Histograms, Times};
pub(crate) use figures::{count as count_time, millis, rounded};
pub(crate) use identity::{fingerprint, starred};
pub use render::{printable, render};
pub use run::{
    Counters, Ended, Kept, Point, Run, RunPlan, Served, Setup, ToolRun, VERSION, Verdict,
};
pub use violation::{Happened, PolicyCounts, ViolationRecord, Violations};
