//! The official suite, when its files are at hand.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::format::find_check;

/// Files about formats that are not compared here: the idn formats stay annotations, and the tests of the pattern
/// compiler run those about `regex`.
const NOT_ASSERTED: [&str; 4] = [
    "idn-email.json",
    "idn-hostname.json",
    "regex.json",
    "ecmascript-regex.json",
];

/// Suite cases, as draft, file and description, whose verdict is knowingly wrong.
const EXPECTED_FAILURES: [(&str, &str, &str); 0] = [];

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn official_suite_on_test_data() {
    let suite = suite();
    let mut failures = Vec::new();
    for (draft, files) in [("draft2020-12", 21), ("draft2019-09", 21), ("draft7", 19)] {
        let directory = suite.join(draft).join("optional/format");
        let mut seen = 0;
        for entry in std::fs::read_dir(&directory).expect("the suite's format directory") {
            let path = entry.expect("a directory entry").path();
            let file = path
                .file_name()
                .expect("a file name")
                .to_string_lossy()
                .into_owned();
            seen += 1;
            if !NOT_ASSERTED.contains(&file.as_str()) {
                let wrong = wrong_verdicts(&path);
                failures.extend(wrong.into_iter().map(|case| (draft, file.clone(), case)));
            }
        }
        assert!(seen >= files, "{draft}: {seen} files");
    }
    failures.sort();
    let expected =
        EXPECTED_FAILURES.map(|(draft, file, case)| (draft, file.to_owned(), case.to_owned()));
    assert_eq!(failures, expected);
}

fn suite() -> PathBuf {
    let data = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    Path::new(&data).join("json-schema-test-suite/tests")
}

/// The descriptions of the cases in one file that this crate judges differently.
fn wrong_verdicts(path: &Path) -> Vec<String> {
    let text = std::fs::read(path).expect("a suite file");
    let groups: Value = serde_json::from_slice(&text).expect("a suite file is JSON");
    let mut wrong = Vec::new();
    let mut run = 0;
    for group in groups.as_array().expect("a list of groups") {
        let name = group["schema"]["format"].as_str().expect("a format");
        let check = find_check(name);
        assert_eq!(check.is_none(), name == "unknown", "{name}");
        for case in group["tests"].as_array().expect("a list of cases") {
            // Formats say nothing about other types.
            let Some(text) = case["data"].as_str() else {
                continue;
            };
            run += 1;
            let verdict = check.is_none_or(|check| check(text));
            if Some(verdict) != case["valid"].as_bool() {
                wrong.push(case["description"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    assert!(run > 0, "no string cases in {}", path.display());
    wrong
}
