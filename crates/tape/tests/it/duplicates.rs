//! Repeated member names: found whatever their spelling, their number or their fingerprints.

use std::collections::{BTreeMap, HashMap};

use countersign_tape::{Limits, Tape, fingerprint};
use proptest::prelude::*;

use crate::document::text;

fn duplicates(text: &str) -> Vec<u32> {
    let limits = Limits {
        max_bytes: usize::MAX,
        max_depth: 1000,
    };
    let tape = Tape::parse(text.as_bytes(), &limits).expect("valid JSON");
    tape.duplicate_keys().to_vec()
}

/// An object with these raw names; the key of member n is node 2n + 1.
fn object<S: AsRef<str>>(names: &[S]) -> String {
    let members: Vec<String> = names
        .iter()
        .map(|name| format!("\"{}\":0", name.as_ref()))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Names that differ in the middle only, which the fingerprint does not see.
fn colliding(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("prefix__{n:07}__suffix"))
        .collect()
}

#[test]
fn spellings_of_one_name_are_one() {
    assert_eq!(duplicates(r#"{"a":1,"b":2,"a":3}"#), [5]);
    assert_eq!(duplicates(r#"{"id":1,"\u0069d":2}"#), [3]);
    assert_eq!(duplicates(r#"{"\u0069\u0064":1,"i\u0064":2}"#), [3]);
    assert_eq!(duplicates(r#"{"a/b":1,"a\/b":2}"#), [3]);
    assert_eq!(duplicates(r#"{"é":1,"\u00e9":2,"\u00E9":3}"#), [3, 5]);
    assert_eq!(duplicates(r#"{"":1,"":2}"#), [3]);
    assert_eq!(
        duplicates(r#"{"a":1,"A":2,"a ":3,"\u0000a":4}"#),
        [0_u32; 0]
    );
}

#[test]
fn every_object_is_judged_alone() {
    assert_eq!(duplicates(r#"[{"a":1},{"a":{"a":[{"a":2}]}}]"#), [0_u32; 0]);
    // Inner objects close first; reports are in document order all the same.
    assert_eq!(
        duplicates(r#"{"a":1,"a":{"b":1,"b":2},"c":{"d":{"e":0,"e":0}}}"#),
        [3, 7, 15]
    );
}

#[test]
fn one_pair_is_found_in_objects_of_every_size() {
    for count in (2..130).chain([255, 256, 257, 1000]) {
        let mut names: Vec<String> = (0..count).map(|n| format!("name{n}")).collect();
        assert_eq!(
            duplicates(&object(&names)),
            [0_u32; 0],
            "{count} distinct names"
        );
        let repeated = count / 3;
        names[count - 1] = format!("name{repeated}");
        let last = u32::try_from(2 * count - 1).expect("small");
        assert_eq!(duplicates(&object(&names)), [last], "{count} names");
    }
}

#[test]
fn colliding_fingerprints_are_told_apart() {
    for count in [2, 10, 16, 17, 48, 49, 50, 1000] {
        let mut names = colliding(count);
        assert!(
            names
                .iter()
                .all(|name| fingerprint(name.as_bytes()) == fingerprint(names[0].as_bytes()))
        );
        assert_eq!(
            duplicates(&object(&names)),
            [0_u32; 0],
            "{count} distinct names"
        );
        names.push(names[count / 2].replace('p', "\\u0070"));
        assert_eq!(
            duplicates(&object(&names)),
            [u32::try_from(2 * count + 1).expect("small")],
            "{count} names"
        );
    }
}

#[test]
fn short_names_that_collide_are_told_apart() {
    let mut seen: HashMap<u32, String> = HashMap::new();
    let mut pairs = Vec::new();
    for n in 0..40_000_u64 {
        let name = format!("{:x}", n * 2_654_435_761_u64 % (1 << 28));
        if let Some(other) = seen.insert(fingerprint(name.as_bytes()), name.clone()) {
            pairs.push((other, name));
        }
    }
    assert!(pairs.len() > 5, "24 bits give some fifty pairs here");
    for (one, other) in pairs {
        assert_eq!(duplicates(&object(&[&one, &other])), [0_u32; 0]);
        assert_eq!(duplicates(&object(&[&one, &other, &one])), [5]);
    }
}

#[test]
fn many_colliding_names_cost_a_sort() {
    // Pairwise, this would be twenty thousand million comparisons.
    let mut names = colliding(200_000);
    names.push(names[0].clone());
    assert_eq!(duplicates(&object(&names)), [400_001]);
}

#[test]
fn reports_are_capped_and_ordered() {
    let names: Vec<String> = (0..400).map(|n| format!("n{}", n % 100)).collect();
    let expected: Vec<u32> = (0..16).map(|n| 2 * (100 + n) + 1).collect();
    assert_eq!(duplicates(&object(&names)), expected);
}

#[test]
fn lone_surrogates_in_names_count_as_what_they_decode_to() {
    assert_eq!(duplicates(r#"{"\ud800":1,"\udc00":2}"#), [3]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_report_is_that_of_a_map(
        pool in proptest::collection::vec(text(), 1..40),
        picks in proptest::collection::vec(any::<proptest::sample::Index>(), 0..120),
    ) {
        let names: Vec<_> = picks.iter().map(|pick| pick.get(&pool)).collect();
        let rendered: Vec<String> = names.iter().map(|name| format!("{}:[{{}}]", name.render())).collect();
        let text = format!("{{{}}}", rendered.join(","));
        let mut first = BTreeMap::new();
        let mut expected = Vec::new();
        for (place, name) in names.iter().enumerate() {
            if first.insert(name.decoded(), place).is_some() {
                expected.push(u32::try_from(3 * place + 1).expect("small"));
            }
        }
        expected.truncate(16);
        prop_assert_eq!(duplicates(&text), expected);
    }
}
