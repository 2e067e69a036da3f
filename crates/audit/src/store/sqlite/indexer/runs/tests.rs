use super::*;
use crate::store::sqlite::index::TABLES;
use crate::store::sqlite::keys::Candidates;
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
        add(&transaction, keys, seq).expect("added");
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
