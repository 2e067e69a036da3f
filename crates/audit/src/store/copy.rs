//! Copies a log from an embedded store into PostgreSQL, with its chains: bodies and hashes are copied byte by byte, with
//! the checkpoints and floors that sign for them. Revoked keys are copied too; tokens for servers are not.
//!
//! A copy that broke off may be begun again: what is there already is passed over. The source is only read.

use super::{Options, StoreError, postgres, sqlite};

/// How far a copy has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Records read so far.
    pub read: u64,
    /// Records there are to read.
    pub total: u64,
}

/// What a copy did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopySummary {
    /// Records read.
    pub records: u64,
    /// Records that were not there yet.
    pub added: u64,
    /// Chains they belong to.
    pub chains: u64,
}

/// Copies the embedded store of these options to the PostgreSQL at `url`, whose tables are made if there are none.
///
/// # Panics
/// Inside an asynchronous runtime, whose thread it would block.
pub fn copy_to_postgres(
    source: &Options,
    url: &str,
    mut progress: impl FnMut(CopyProgress),
) -> Result<CopySummary, StoreError> {
    let source = sqlite::Source::open(source)?;
    let total = source.count()?;
    let mut target = postgres::Target::open(url)?;
    for chain in source.chains()? {
        target.add_chain(chain)?;
    }
    let mut summary = CopySummary {
        records: 0,
        added: 0,
        chains: target.chains(),
    };
    let mut after = 0;
    loop {
        let rows = source.rows_after(after)?;
        let Some(last) = rows.last() else {
            break;
        };
        after = last.seq;
        summary.records += rows.len() as u64;
        summary.added += target.add_rows(&rows)?;
        progress(CopyProgress {
            read: summary.records,
            total: total.max(summary.records),
        });
    }
    target.add_signed(source.checkpoints()?, source.floors()?)?;
    target.add_batches(&source.batches()?)?;
    target.add_tools(&source.tools()?)?;
    target.add_revocations(&source.revocations()?)?;
    Ok(summary)
}
