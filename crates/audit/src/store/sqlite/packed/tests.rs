use proptest::prelude::*;

use super::*;

/// Places of a batch: close together, as they are, or far apart.
fn seqs() -> impl Strategy<Value = (Vec<u64>, u64)> {
    let gap = prop_oneof![8 => 1_u64..3, 2 => 1_u64..200, 1 => 1_u64..1 << 40];
    (
        0_u64..1 << 50,
        proptest::collection::vec(gap, 0..300),
        0_u64..9,
    )
        .prop_map(|(mut seq, gaps, beyond)| {
            let mut seqs = Vec::new();
            for gap in gaps {
                seq += gap;
                seqs.push(seq);
            }
            (seqs, seq + beyond)
        })
}

proptest! {
    #[test]
    fn places_come_back_newest_first((seqs, last) in seqs()) {
        let packed = pack_seqs(&seqs, last);
        prop_assert!(packed.len() <= LONGEST);
        let mut expected = seqs;
        expected.reverse();
        prop_assert_eq!(unpack_seqs(&packed, last).expect("own blob"), expected);
    }

    #[test]
    fn times_come_back_newest_first(mut times in proptest::collection::vec(any::<u64>(), 0..100)) {
        let packed = pack_times(&times);
        times.reverse();
        prop_assert_eq!(unpack_times(&packed).expect("own blob"), times);
    }

    #[test]
    fn keys_come_back_sorted(keys in proptest::collection::btree_set((any::<u32>(), any::<u64>()), 1..CHUNK)) {
        let keys: Vec<Key> = keys.into_iter().map(|(hash, seq)| Key { hash, seq }).collect();
        let mut read = Vec::new();
        unpack_keys(&pack_keys(&keys), |key| {
            read.push(key);
            true
        })
        .expect("own blob");
        prop_assert_eq!(read, keys);
    }

    #[test]
    fn any_bytes_are_read_within_bounds(blob in proptest::collection::vec(any::<u8>(), 0..600), last in any::<u64>()) {
        if let Ok(seqs) = unpack_seqs(&blob, last) {
            prop_assert!(seqs.len() <= BATCH && seqs.iter().all(|seq| *seq <= last));
            prop_assert!(seqs.is_sorted_by(|a, b| a > b));
        }
        prop_assert!(unpack_times(&blob).map_or(0, |times| times.len()) <= BATCH);
        let mut count = 0;
        unpack_keys(&blob, |_| {
            count += 1;
            true
        })
        .ok();
        prop_assert!(count <= CHUNK);
    }
}

#[test]
fn a_full_batch_takes_a_bit_each() {
    let seqs: Vec<u64> = (1..=2000).collect();
    assert_eq!(pack_seqs(&seqs, 2000).len(), 251);
    assert_eq!(pack_seqs(&seqs[..1], 2000).len(), 3);
}

#[test]
fn what_says_more_than_a_batch_holds_is_refused() {
    let seqs: Vec<u64> = (1..=BATCH as u64 + 1).collect();
    let packed = pack_seqs(&seqs, BATCH as u64 + 1);
    assert!(unpack_seqs(&packed, BATCH as u64 + 1).is_err());
    let mut ones = vec![1; BATCH + 2];
    ones[0] = SPARSE;
    assert!(unpack_seqs(&ones, 1 << 40).is_err());
    for blob in [
        &[][..],
        &[2, 1],
        &[SPARSE, 0x80],
        &[SPARSE, 9],
        &[BITMAP, 0, 1],
    ] {
        assert!(unpack_seqs(blob, 3).is_err(), "{blob:?}");
    }
}
