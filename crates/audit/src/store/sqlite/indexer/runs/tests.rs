use super::*;
use crate::id::Ids;
use crate::store::sqlite::index::TABLES;
use crate::store::sqlite::keys::{Candidates, KeyKind};
use crate::store::sqlite::transaction::immediate;

fn index() -> Connection {
    let connection = Connection::open_in_memory().expect("open");
    let tables = TABLES.replace("CREATE TABLE ", "CREATE TABLE ix.");
    connection
        .execute_batch(&format!("ATTACH ':memory:' AS ix; {tables}"))
        .expect("tables");
    connection
}

fn found(connection: &Connection, hash: u32, mut bound: u64) -> Vec<u64> {
    let mut candidates = Candidates::new(connection, hash).expect("runs");
    let mut seqs = Vec::new();
    while let Some(seq) = candidates.at_most(bound).expect("a chunk") {
        seqs.push(seq);
        bound = seq - 1;
    }
    seqs
}

#[test]
fn every_key_is_found_newest_first_and_runs_stay_few() {
    let connection = index();
    let mut all = Vec::new();
    let mut seq = 0;
    for batch in 0..500_u64 {
        let transaction = immediate(&connection).expect("begins");
        let mut keys = Vec::new();
        for _ in 0..=batch % 7 {
            seq += 1;
            // A few that nearly every record has, and many that few have.
            let rare = u32::try_from(seq * 2_654_435_761 % 4_000_000_007).expect("small");
            let common = u32::try_from(seq % 3).expect("small");
            keys.extend([rare, common].map(|hash| Key { hash, seq }));
        }
        all.extend_from_slice(&keys);
        add(&transaction, keys, seq, IdTimes::default()).expect("added");
        transaction.commit().expect("committed");
    }
    let runs: usize = connection
        .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
        .expect("count");
    assert!(runs <= 4 * (MERGED - 1), "{runs}");
    let mut hashes: Vec<u32> = all.iter().map(|key| key.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    for hash in hashes.into_iter().chain([77]) {
        for bound in [u64::from(u32::MAX), seq / 2] {
            let of_hash = all.iter().rev();
            let expected = of_hash.filter(|key| key.hash == hash && key.seq <= bound);
            let expected: Vec<u64> = expected.map(|key| key.seq).collect();
            assert_eq!(found(&connection, hash, bound), expected, "{hash}");
        }
    }
}

#[test]
fn an_id_is_looked_for_in_the_runs_of_its_time() {
    let connection = index();
    let id = Ids::new().next().id;
    let hash = KeyKind::Id.hash(&id.to_bytes());
    let time = id.timestamp().as_millis();
    let expected = [
        (1, time - 9, time - 1),
        (2, time - 1, time),
        (3, time, time + 5),
        (4, time + 1, time + 2),
    ];
    for (seq, oldest, newest) in expected {
        let transaction = immediate(&connection).expect("begins");
        let id_times = IdTimes { oldest, newest };
        add(&transaction, vec![Key { hash, seq }], seq, id_times).expect("added");
        transaction.commit().expect("committed");
    }
    let mut candidates = Candidates::with_id(&connection, id).expect("runs");
    assert_eq!(candidates.at_most(100).expect("a chunk"), Some(3));
    assert_eq!(candidates.at_most(2).expect("a chunk"), Some(2));
    assert_eq!(candidates.at_most(1).expect("a chunk"), None);
    assert_eq!(found(&connection, hash, 100), [4, 3, 2, 1]);
}

#[test]
fn a_merged_run_has_the_times_of_all_its_ids() {
    let connection = index();
    for seq in 1..=MERGED as u64 {
        let transaction = immediate(&connection).expect("begins");
        let mut id_times = IdTimes::default();
        id_times.add(Timestamp::from_millis(1000 - seq));
        id_times.add(Timestamp::from_millis(2000 + seq));
        add(&transaction, vec![Key { hash: 7, seq }], seq, id_times).expect("added");
        transaction.commit().expect("committed");
    }
    let sql = "SELECT oldest_id, newest_id FROM run";
    let runs: Vec<(u64, u64)> = connection
        .prepare(sql)
        .expect("prepares")
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("runs")
        .collect::<Result<_, _>>()
        .expect("rows");
    assert_eq!(runs, [(1000 - MERGED as u64, 2000 + MERGED as u64)]);
}
