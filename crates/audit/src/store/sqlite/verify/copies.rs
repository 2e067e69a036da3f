//! What is kept beside the records, and must say what they say. Part of `verify`.

use rusqlite::{Connection, OptionalExtension};

use super::{Break, BreakKind, IndexCheck, Walk, known_chains};
use crate::record::body::decode;
use crate::store::StoreError;
use crate::store::sqlite::catalogue;

/// What is kept beside the records: the index, its roll-ups and the catalogue.
pub(super) fn working_copies(
    walk: &Walk,
    connection: &Connection,
    index_check: &mut IndexCheck<'_>,
) -> Result<Option<Break>, StoreError> {
    match index_check.first_wrong() {
        Ok(None) => {}
        Ok(Some(seq)) => return wrong_index(connection, seq).map(Some),
        // An index that cannot be read is wrong as well.
        Err(_) => return Ok(Some(Break::new(BreakKind::WrongIndex))),
    }
    // Roll-ups outlive the records they count.
    let is_complete = !walk.has_floors();
    let agree = index_check.sums.agree(connection, is_complete);
    if !agree.map_err(StoreError::Read)? {
        return Ok(Some(Break::new(BreakKind::WrongRollup)));
    }
    let changed = catalogue::first_changed(connection).map_err(StoreError::Read)?;
    Ok(changed.map(|tool| Break {
        tool: Some(tool.into()),
        ..Break::new(BreakKind::WrongCatalogue)
    }))
}

/// The break of a record of which the index says something else.
fn wrong_index(connection: &Connection, seq: u64) -> Result<Break, StoreError> {
    let broken = Break {
        seq: Some(seq),
        ..Break::new(BreakKind::WrongIndex)
    };
    let chains = known_chains(connection).map_err(StoreError::Read)?;
    let sql = "SELECT chain, n, body FROM activity WHERE seq = ?1";
    let found = connection.query_row(sql, [seq], |row| {
        let record = decode(row.get_ref(2)?.as_bytes().unwrap_or_default());
        Ok(Break {
            chain_id: chains.get(&row.get(0)?).copied(),
            n: Some(row.get(1)?),
            id: record.ok().map(|record| record.id()),
            ..broken.clone()
        })
    });
    let found = found.optional().map_err(StoreError::Read)?;
    Ok(found.unwrap_or(broken))
}
