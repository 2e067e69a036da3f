use countersign_inspect::{Severity, Stage};

use super::SchemaPolicy::{Fail, Ignore, Warn};
use super::*;

fn finding(rule: &'static str) -> Finding {
    Finding::new(Stage::Contract, rule, Severity::Violation)
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

const TODAY: &str = "2026-06-01";

type Row = (
    &'static str,
    Site,
    &'static [&'static str],
    SchemaPolicy,
    SchemaPolicy,
);

/// Rows 1 and 3 to 19 of the table: site, what the violations are, lenient, strict.
const TABLE: [Row; 20] = [
    ("1", Site::Authored, &["input.schema.type"], Warn, Fail),
    (
        "3",
        Site::Deliberate,
        &["input.schema.type"],
        Ignore,
        Ignore,
    ),
    ("4", Site::Accepted, &["input.schema.type"], Warn, Fail),
    ("5", Site::Result, &["schema.type"], Warn, Fail),
    (
        "5 mixed",
        Site::Result,
        &["schema.format", "schema.type"],
        Warn,
        Fail,
    ),
    (
        "5 mixed",
        Site::Result,
        &["schema.additionalProperties", "schema.format"],
        Warn,
        Fail,
    ),
    ("6", Site::Missing, &["contract.missing"], Warn, Fail),
    (
        "7",
        Site::Result,
        &["schema.format", "schema.format"],
        Ignore,
        Warn,
    ),
    (
        "8",
        Site::Result,
        &["schema.additionalProperties"],
        Warn,
        Fail,
    ),
    ("9", Site::ErrorResult, &["schema.type"], Ignore, Ignore),
    ("10", Site::Unfinished, &[], Ignore, Ignore),
    ("11", Site::Undeclared, &[], Ignore, Ignore),
    ("12a", Site::Unmirrored, &[], Warn, Fail),
    ("12b", Site::Differs, &[], Ignore, Warn),
    ("13", Site::Schema, &["contract.uncompilable"], Warn, Fail),
    (
        "14",
        Site::ExternalRef,
        &["contract.external_ref"],
        Warn,
        Fail,
    ),
    ("15", Site::Guard, &["contract.exhausted"], Warn, Fail),
    ("16", Site::Denied, &[], Warn, Fail),
    ("18", Site::ListChanged, &[], Warn, Fail),
    ("19", Site::Unlisted, &[], Warn, Fail),
];

#[test]
fn every_row_of_the_table() {
    for (row, site, rules, in_lenient, in_strict) in TABLE {
        let violations: Vec<Finding> = rules.iter().map(|rule| finding(rule)).collect();
        let strict = classify_schema_violation(site, &violations);
        assert_eq!(strict, in_strict, "row {row}");
        assert_eq!(lenient(strict), in_lenient, "row {row}");
        let by = |strict| Validation {
            strict,
            pinned: true,
            ..Validation::default()
        };
        let policy = |mode: Validation| mode.apply("t", site, &violations, day(TODAY)).policy;
        assert_eq!(policy(by(false)), in_lenient, "row {row}");
        assert_eq!(policy(by(true)), in_strict, "row {row}");
    }
    for &site in Site::ALL {
        let told = |row: &Row| {
            let violations: Vec<Finding> = row.2.iter().map(|rule| finding(rule)).collect();
            row.1.refine(&violations) == site
        };
        assert!(TABLE.iter().any(told), "{site:?} has a row");
    }
}

#[test]
fn lenient_never_gates() {
    for policy in [Ignore, Warn, Fail] {
        assert!(lenient(policy) < Fail);
    }
    let wants = Override {
        policy: Fail,
        ..example()
    };
    let validation = Validation {
        overrides: vec![wants],
        ..Validation::default()
    };
    let applied = validation.apply("woo_orders", Site::Result, &[], day(TODAY));
    assert_eq!(applied.policy, Warn);
}

#[test]
fn rows_7_and_8_have_names_and_rules_of_their_own() {
    let format = Site::Result.refine(&[finding("schema.format")]);
    assert_eq!(
        (format.name(), format.rule()),
        ("format", "RESULT-FORMAT-MISMATCH")
    );
    let extra = Site::Result.refine(&[finding("schema.unevaluatedProperties")]);
    assert_eq!(
        (extra.name(), extra.rule()),
        ("extra", "RESULT-EXTRA-PROPERTIES")
    );
    assert!(extra.is_named("result") && !format.is_named("result"));
    assert_eq!(Site::Result.refine(&[]), Site::Result);
    assert_eq!(
        Site::Missing.refine(&[finding("schema.format")]),
        Site::Missing
    );
}

#[test]
fn asserted_formats_are_ordinary_violations() {
    let validation = Validation {
        strict: true,
        assert_formats: true,
        ..Validation::default()
    };
    let applied = validation.apply("t", Site::Result, &[finding("schema.format")], day(TODAY));
    assert_eq!(applied.policy, Fail);
}

#[test]
fn an_unpinned_list_may_change() {
    let validation = Validation {
        strict: true,
        ..Validation::default()
    };
    assert_eq!(
        validation
            .apply("", Site::ListChanged, &[], day(TODAY))
            .policy,
        Warn
    );
}

fn example() -> Override {
    Override {
        tool: "woo_*".to_owned(),
        site: vec!["result".to_owned(), "format".to_owned()],
        policy: Ignore,
        until: day("2026-12-31"),
        reason: "upstream sends local dates".to_owned(),
    }
}

fn strict(overrides: Vec<Override>) -> Validation {
    Validation {
        strict: true,
        overrides,
        ..Validation::default()
    }
}

#[test]
fn an_override_speaks_about_its_tools_and_sites_only() {
    let validation = strict(vec![example()]);
    let policy = |tool, site| validation.apply(tool, site, &[], day(TODAY)).policy;
    assert_eq!(policy("woo_orders", Site::Result), Ignore);
    assert_eq!(
        policy("woo_orders", Site::Extra),
        Ignore,
        "extra is a kind of result"
    );
    assert_eq!(policy("woo_orders", Site::Missing), Fail);
    assert_eq!(policy("shop_orders", Site::Result), Fail);
}

#[test]
fn the_last_match_wins() {
    let first = example();
    let second = Override {
        policy: Warn,
        tool: "woo_orders".to_owned(),
        ..example()
    };
    let validation = strict(vec![first, second]);
    let policy = |tool| validation.apply(tool, Site::Result, &[], day(TODAY)).policy;
    assert_eq!(policy("woo_orders"), Warn);
    assert_eq!(policy("woo_items"), Ignore);
}

#[test]
fn an_override_holds_to_its_last_day_and_no_longer() {
    let mut validation = strict(vec![example()]);
    let on = |validation: &Validation, date| {
        validation.apply("woo_orders", Site::Format, &[], day(date))
    };
    assert_eq!(on(&validation, "2026-12-31").policy, Ignore);
    let expired = on(&validation, "2027-01-01");
    assert_eq!(expired.policy, Fail);
    assert_eq!(
        expired.why,
        PolicySource::Expired {
            until: day("2026-12-31")
        }
    );
    validation.strict = false;
    assert_eq!(on(&validation, "2027-01-01").policy, Warn);
}

#[test]
fn no_override_hides_a_tripped_guard() {
    let all = Override {
        site: vec!["schema".to_owned()],
        tool: "*".to_owned(),
        ..example()
    };
    let validation = strict(vec![all]);
    let policy = |site| validation.apply("t", site, &[], day(TODAY)).policy;
    assert_eq!(policy(Site::Guard), Fail);
    assert_eq!(policy(Site::Schema), Ignore);
}

#[test]
fn an_override_for_no_tool_is_noticed() {
    let validation = strict(vec![example()]);
    assert_eq!(
        validation.unmatched(&["woo_orders", "x"]),
        Vec::<&Override>::new()
    );
    assert_eq!(validation.unmatched(&["wooorders"]), [&example()]);
}

#[test]
fn the_block_is_read_strictly() {
    let read = |json: &str| serde_json::from_str::<Validation>(json).map_err(|e| e.to_string());
    let good = r#"{"strict":true,"override":[{"tool":"woo_*","site":["result","format"],"policy":"ignore","until":"2026-12-31","reason":"upstream sends local dates"}]}"#;
    assert_eq!(read(good), Ok(strict(vec![example()])));
    let toml_date = good.replace(
        "\"2026-12-31\"",
        "{\"$__toml_private_datetime\":\"2026-12-31\"}",
    );
    assert_eq!(read(&toml_date), Ok(strict(vec![example()])));
    for (from, to, says) in [
        (
            "\"format\"",
            "\"formats\"",
            "site: unknown \"formats\", expected one of args, result",
        ),
        ("[\"result\",\"format\"]", "[]", "expected one of"),
        (
            ",\"reason\":\"upstream sends local dates\"",
            "",
            "missing field `reason`",
        ),
        (",\"until\":\"2026-12-31\"", "", "missing field `until`"),
        ("2026-12-31", "2026-02-30", "expected a day"),
        ("\"strict\"", "\"stricct\"", "unknown field"),
    ] {
        let error = read(&good.replace(from, to)).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn patterns_match_whole_names() {
    for (pattern, name, matches) in [
        ("*", "", true),
        ("", "", true),
        ("", "a", false),
        ("a*c", "abbc", true),
        ("a*c", "abcd", false),
        ("*a*b*", "xxaxxbxx", true),
        ("a?c", "aéc", true),
        ("a?c", "ac", false),
        ("**", "anything", true),
    ] {
        assert_eq!(glob(pattern, name), matches, "{pattern} / {name}");
    }
    let hostile = format!("{}b", "*a".repeat(200));
    assert!(!glob(&hostile, &"a".repeat(2000)));
}
