//! Stage 2, judging: size and depth limits, the schema the tool declared, and the table that turns a finding into a
//! decision.

pub(crate) mod contract;
pub(crate) mod decide;
pub(crate) mod guards;
pub(crate) mod reason;
