//! Schemas that real tools declare: they compile, and what conforms to them is found to conform.

use std::collections::BTreeSet;
use std::fs;

use countersign_schema::{Compiler, Limits, Verdict};
use serde_json::Value;

use crate::conform::conforming;
use crate::entropy::Entropy;
use crate::suite::runner::json_files;
use crate::support::{data, judge, say};

/// Files that do not compile, each with its reason.
const BROKEN: [(&str, &str); 1] = [(
    "read_pdf.in.894bbdc0ac93.json",
    "`exclusiveMinimum: true` is draft-04, and the schema does not say that it is draft-04",
)];

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn every_real_tool_schema_compiles_on_test_data() {
    let folder = data("tool-schemas");
    let mut expected: BTreeSet<&str> = BROKEN.iter().map(|(name, _)| *name).collect();
    let mut unexpected = Vec::new();
    let mut compiled = 0;
    for path in json_files(&folder).expect("the folder can be read") {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let bytes = fs::read(&path).expect("the file can be read");
        match countersign_schema::compile(&bytes, &Limits::default()) {
            Ok(_) => compiled += 1,
            Err(_) if expected.remove(name.as_str()) => {}
            Err(error) => unexpected.push(format!("{name}: {error}")),
        }
    }
    say(format_args!(
        "real tool schemas: {compiled} compile, {} do not",
        BROKEN.len()
    ));
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(
        expected.is_empty(),
        "listed as broken, but they compile: {expected:?}"
    );
    assert!(compiled > 800, "the folder is not whole");
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn what_conforms_to_a_real_schema_is_judged_within_default_fuel_on_test_data() {
    const EACH: u64 = 4;
    let folder = data("tool-schemas");
    let (mut conforming_pairs, mut other_pairs, mut read_pairs) = (0, 0, 0);
    for path in json_files(&folder).expect("the folder can be read") {
        let text = fs::read_to_string(&path).expect("the file can be read");
        let (Ok(ours), Ok(value)) = (
            Compiler::new().compile(text.as_bytes()),
            serde_json::from_str::<Value>(&text),
        ) else {
            continue;
        };
        let Ok(oracle) = jsonschema::options()
            .should_validate_formats(false)
            .build(&value)
        else {
            continue;
        };
        for seed in 0..EACH {
            let instance = conforming(&value, &value, &mut Entropy::Seed(seed));
            let expected = if oracle.is_valid(&instance) {
                conforming_pairs += 1;
                Verdict::Valid
            } else {
                other_pairs += 1;
                Verdict::Invalid
            };
            assert_eq!(
                judge(&ours, &instance.to_string()),
                expected,
                "{}: {instance}",
                path.display()
            );
            let read = ours.read_conforming(&instance.to_string(), 0, 64, 1.0);
            read_pairs += usize::from(read.is_some());
        }
    }
    say(format_args!(
        "real tool schemas: {conforming_pairs} conforming instances and {other_pairs} others judged as the oracle does, {read_pairs} while they were read"
    ));
    assert!(
        conforming_pairs > 9 * other_pairs,
        "the generator misses real schemas"
    );
    assert!(
        read_pairs > conforming_pairs / 2,
        "few real values are judged while they are read"
    );
}
