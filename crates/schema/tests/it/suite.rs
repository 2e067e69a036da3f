//! The official suite, as part of the ordinary test run.

#[path = "../support/suite.rs"]
pub(crate) mod runner;

use crate::support::{data, say};

const EXPECTED: &str = include_str!("../expected-failures.txt");

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn official_suite_fails_only_where_listed_on_test_data() {
    let directory = data("json-schema-test-suite");
    let reports = runner::run(&directory).expect("the suite can be read");
    for report in &reports {
        say(format_args!(
            "official suite, {}: required {}; optional {}",
            report.draft, report.required, report.optional
        ));
        assert_eq!(
            report.required.failed, 0,
            "required tests: {:?}",
            report.failures
        );
        assert!(
            report.required.passed > 500,
            "{} is not whole",
            report.draft
        );
    }
    let judgement = runner::judge(&reports, EXPECTED);
    assert!(judgement.is_clean(), "{judgement:#?}");
}
