//! What followers and exports read: the store in its own order, up to the horizon.

use super::{ROW, push};
use crate::query::Filter;
use crate::store::Tail;
use crate::store::matches::Matches;
use crate::store::postgres::connection::Connection;
use crate::store::postgres::days::{Day, Days, numbers};
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::horizon;
use crate::store::postgres::plan::list_of;
use crate::store::postgres::value::{signed, unsigned};

/// Records looked at for one [`after`], matching or not.
const LOOK: i64 = 5000;
/// Bytes of records handed out by one [`after`].
const LOOK_BYTES: usize = 4 << 20;

/// Matching records after a place and below the horizon, oldest first: up to `limit`, and never more than a bounded look.
pub(in crate::store::postgres) fn after(
    connection: &mut Connection,
    after: u64,
    filter: &Filter,
    limit: usize,
) -> Result<Tail, PostgresError> {
    let horizon = horizon::read(connection)?;
    let days = Days::read(connection)?;
    let mut tail = Tail {
        records: Vec::new(),
        next: after,
        more: false,
        unreadable: 0,
    };
    let steps = days.oldest_first(after + 1, horizon);
    let mut steps = steps.iter().peekable();
    while let Some(step) = steps.next() {
        // The days of a step that overlap the next are asked together with it.
        let mut step = step.clone();
        while let Some(next) = steps.next_if(|next| overlap(&step, next)) {
            step.extend(next);
        }
        let wanted = limit - tail.records.len();
        tail = after_in(connection, tail, filter, (&numbers(&step), horizon, wanted))?;
        if tail.more {
            break;
        }
    }
    Ok(tail)
}

fn overlap(days: &[Day], later: &[Day]) -> bool {
    let last = days.iter().map(|day| day.high).max();
    let first = later.iter().map(|day| day.low).min();
    last >= first
}

/// What these days have after a place.
fn after_in(
    connection: &mut Connection,
    before: Tail,
    filter: &Filter,
    (days, horizon, wanted): (&[i32], u64, usize),
) -> Result<Tail, PostgresError> {
    let sql = format!(
        "{ROW} WHERE a.day IN ({}) AND a.seq > $1 AND a.seq < $2 ORDER BY a.seq LIMIT $3",
        list_of(days)
    );
    let mut matches = Matches::new(wanted, LOOK_BYTES);
    let (mut next, mut looked) = (before.next, 0);
    let (from, horizon) = (signed(before.next), signed(horizon));
    connection.for_each(&sql, &[&from, &horizon, &LOOK], |row| {
        looked += 1;
        next = unsigned(row.get(0));
        push(&mut matches, row, filter);
        Ok(!matches.is_full())
    })?;
    let more = looked == LOOK || matches.is_full();
    let mut records = before.records;
    records.append(&mut matches.records);
    Ok(Tail {
        records,
        next,
        more,
        unreadable: before.unreadable + matches.unreadable,
    })
}

/// The last place below the horizon; 0 if there is none. Followers begin there.
pub(in crate::store::postgres) fn newest(
    connection: &mut Connection,
) -> Result<u64, PostgresError> {
    let horizon = horizon::read(connection)?;
    let days = Days::read(connection)?;
    for step in days.newest_first(0, horizon) {
        let sql = format!(
            "SELECT seq FROM activity WHERE day IN ({}) AND seq < $1 ORDER BY seq DESC LIMIT 1",
            list_of(&numbers(&step))
        );
        if let Some(row) = connection.first(&sql, &[&signed(horizon)])? {
            return Ok(unsigned(row.get(0)));
        }
    }
    Ok(0)
}
