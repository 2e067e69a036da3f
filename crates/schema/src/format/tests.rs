//! Formats on hand-picked strings, on the official suite when its files are at hand, and on
//! random text, which must never panic.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;

use super::Format;

const ALL: [(&str, Format); 17] = [
    ("date-time", Format::DateTime),
    ("date", Format::Date),
    ("time", Format::Time),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("hostname", Format::Hostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("uri", Format::Uri),
    ("uri-reference", Format::UriReference),
    ("iri", Format::Iri),
    ("iri-reference", Format::IriReference),
    ("uri-template", Format::UriTemplate),
    ("uuid", Format::Uuid),
    ("json-pointer", Format::JsonPointer),
    ("relative-json-pointer", Format::RelativeJsonPointer),
    ("regex", Format::Regex),
];

fn check(format: Format, valid: &[&str], invalid: &[&str]) {
    for text in valid {
        assert!(format.matches(text), "{format:?} should accept {text:?}");
    }
    for text in invalid {
        assert!(!format.matches(text), "{format:?} should refuse {text:?}");
    }
}

#[test]
fn names() {
    for (name, format) in ALL {
        assert_eq!(Format::from_name(name), Some(format));
    }
    for name in ["idn-email", "idn-hostname", "unknown", "", "Date", "int32"] {
        assert_eq!(Format::from_name(name), None, "{name}");
    }
}

#[test]
fn dates_and_times() {
    check(
        Format::Date,
        &["2000-02-29", "0000-02-29", "9999-12-31", "1996-02-29"],
        &[
            "1900-02-29",
            "2001-02-29",
            "2000-00-01",
            "2000-13-01",
            "2000-01-00",
            "2000-1-01",
            "20000-01-01",
            "",
        ],
    );
    check(
        Format::Time,
        &[
            "00:00:00Z",
            "23:59:59.0z",
            "23:59:60Z",
            "00:59:60+01:00",
            "23:58:60-00:01",
            "12:00:00-23:59",
        ],
        &[
            "00:00:00",
            "00:00:00.Z",
            "24:00:00Z",
            "00:00:60Z",
            "23:59:60.5+00:01",
            "12:00:00+24:00",
            "12:00Z",
            "12:00:00+0000",
            "12:00:00Z ",
        ],
    );
    check(
        Format::DateTime,
        &[
            "2020-02-29T00:00:00Z",
            "2020-02-29t00:00:00.123456789+05:30",
        ],
        &[
            "2020-02-30T00:00:00Z",
            "2020-02-29 00:00:00Z",
            "2020-02-29T",
            "2020-02-29",
            "2020-02-2éT00:00:00Z",
        ],
    );
}

#[test]
fn durations() {
    check(
        Format::Duration,
        &[
            "P1Y",
            "P1Y2M3DT4H5M6S",
            "PT1H",
            "P3W",
            "PT1M30S",
            "P1M1D",
            "P0001D",
        ],
        &[
            "P", "PT", "P1", "P1YT", "P1Y1D", "PT1H1S", "P1W1D", "P1D1W", "P1.5D", "P1M1Y",
            "P1D1D", "PW", "p1y", "P1Dx", "P1TT1H",
        ],
    );
}

#[test]
fn addresses() {
    let long_local = format!("{}@example.com", "a".repeat(65));
    let full_local = format!("{}@example.com", "a".repeat(64));
    check(
        Format::Email,
        &[
            "a@b",
            "a.b+c@d.example",
            r#""a\"b"@example.com"#,
            r#""@"@example.com"#,
            r#"""@example.com"#,
            "a@[1.2.3.4]",
            "a@[ipv6:::1]",
            &full_local,
        ],
        &[
            "a",
            "@b",
            "a@",
            "a@b@c",
            "a.@b",
            ".a@b",
            "a..b@c",
            "a@-b",
            "a@b.",
            r#""a"b"@c"#,
            r#""a\"@c"#,
            r#""@c"#,
            "a@[1.2.3]",
            "a@[::1]",
            "a@[IPv6:1]",
            "a@[x:y]",
            "é@b",
            "a@é",
            &long_local,
        ],
    );
    check(
        Format::Ipv4,
        &["0.0.0.0", "255.255.255.255", "1.2.3.4"],
        &[
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1.2.3.256",
            "1.2.3.4 ",
            "",
            "1.2.3.-4",
            "0x1.2.3.4",
        ],
    );
    check(
        Format::Ipv6,
        &[
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::ffff:1.2.3.4",
            "ABCD::abcd",
        ],
        &[
            "",
            ":",
            ":::",
            "1::2::3",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            "::1%eth0",
            "::1/64",
            "[::1]",
            "::1.2.3",
            "::01.2.3.4",
            "12345::",
        ],
    );
}

#[test]
fn host_names() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", &label[..61]);
    let too_long = format!("{longest}a");
    let long_label = "a".repeat(64);
    check(
        Format::Hostname,
        &[
            "a",
            "a.b",
            "1",
            "a-b.c--d",
            "A.B",
            "xn--bcher-kva",
            "XN--BCHER-KVA.example",
            "xn--l8j",
            &longest,
        ],
        &[
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "-a",
            "a-",
            "a.-b",
            "a_b",
            "a b",
            "é",
            "xn--",
            "xn--a",
            "xn--abc-",
            "xn--zzzzzzzzz",
            "xn--99999999999999",
            &too_long,
            &long_label,
        ],
    );
}

#[test]
fn encoded_host_names() {
    check(
        Format::Hostname,
        &[
            "xn--ab-5tb",      // a mark inside
            "xn--zcaa",        // two sharp s, an exception
            "xn--58dc",        // Cherokee
            "xn--f1a",         // a Cyrillic letter
            "xn--ngba799q",    // a non-joiner between Arabic letters
            "xn--11b2ezcw70k", // a joiner after a virama
            "xn--ll-0ea",      // a middle dot between l and l
        ],
        &[
            "xn--ab-4tb",    // a mark in front
            "xn--hello-txk", // an alphabetic mark in front
            "xn--i0a",       // an upper-case Cyrillic letter
            "xn--x-sy8h",    // a ligature
            "xn--ab-mea",    // a superscript
            "xn--hqd2n",     // old Hangul jamo
            "xn--ab-j1t",    // a non-joiner between Latin letters
            "xn--la-0ea",    // a middle dot between l and a
        ],
    );
}

#[test]
fn uris() {
    check(
        Format::Uri,
        &[
            "a:",
            "a:b",
            "http://",
            "http://h",
            "http://u:p@h:80/p?q#f",
            "http://h:",
            "urn:x:y",
            "http://[::1]:80/",
            "http://[v1.a:b]/",
            "a:%41",
            "a:/b",
            "mailto:a@b",
            "http://h?a/b?c",
        ],
        &[
            "",
            "a",
            "/a",
            "//h",
            ":a",
            "1a:b",
            "a b:c",
            "http://h h",
            "http://[::1",
            "http://[::1%25eth0]/",
            "http://[v.a]/",
            "http://[v1.]/",
            "http://[v1.%41]/",
            "http://h:8a/",
            "a:%4",
            "a:%gg",
            "a:é",
            "a:#b#c",
            "http://a@b@c/",
            "http://[::1]x/",
            "a:[",
            "a:\"",
            "a:\u{7f}",
        ],
    );
    check(
        Format::UriReference,
        &[
            "", "#", "?", "/", "//", "a", "a/b:c", "./a:b", "//h:1/p", "?a:b", "#a:b", "../a",
        ],
        &["1:b", ":", "a,b:c", "é", "\\", "%", "#%1", "[", "//[", " "],
    );
    check(
        Format::Iri,
        &[
            "http://é/é?é#é",
            "a:\u{10300}",
            "a:?\u{e000}",
            "a:?\u{10fffd}",
        ],
        &[
            "é",
            "é:b",
            "a:\u{e000}",
            "a:#\u{e000}",
            "a:\u{1fffe}",
            "a:\u{fdd0}",
            "a:\u{80}",
            "a:\u{e0001}",
        ],
    );
    check(
        Format::IriReference,
        &["é", "//é/é", "?\u{f0000}"],
        &["é\\", "é é", "\u{f0000}"],
    );
}

#[test]
fn templates() {
    check(
        Format::UriTemplate,
        &[
            "",
            "a",
            "{a}",
            "{+a,b*,c:3}",
            "{a.b_c%41}",
            "x{/a}y{?b}",
            "é",
            "{!a}",
            "{a:9999}",
            "'",
        ],
        &[
            "{",
            "}",
            "{}",
            "{a",
            "a}",
            "{{a}}",
            "{a,}",
            "{,}",
            "{a:}",
            "{a:0}",
            "{a:10000}",
            "{a*:3}",
            "{a:3*}",
            "{a b}",
            "{.}",
            "{a.}",
            "{..a}",
            "{%4}",
            "%",
            "%4",
            "a b",
            "<",
            "{é}",
            "\u{0}",
        ],
    );
}

#[test]
fn pointers_and_identifiers() {
    check(
        Format::JsonPointer,
        &["", "/", "/a/b", "/~0~1", "/é", "//"],
        &["a", "#", "/~", "/~2", "/a~", " /"],
    );
    check(
        Format::RelativeJsonPointer,
        &["0", "0#", "10/a", "1/", "0/~1"],
        &["", "#", "/", "00", "01#", "1##", "1a", "-1", "1/~", "1 "],
    );
    check(
        Format::Uuid,
        &[
            "00000000-0000-0000-0000-000000000000",
            "ABCDEFab-cdef-0123-4567-89abcdefABCD",
        ],
        &[
            "",
            "00000000000000000000000000000000",
            "00000000-0000-0000-0000-00000000000g",
            "0000000-00000-0000-0000-000000000000",
            "00000000-0000-0000-0000-0000000000é0",
        ],
    );
}

proptest! {
    #[test]
    fn any_text_has_a_verdict(text in any::<String>()) {
        for (_, format) in ALL {
            let _verdict = format.matches(&text);
        }
    }

    #[test]
    fn near_misses_have_a_verdict(text in "(xn--)?[-0-9a-zA-ZTPZ:./@\\[\\]{}%~#?*,+\"é\\\\]{0,70}") {
        for (_, format) in ALL {
            let _verdict = format.matches(&text);
        }
    }

    #[test]
    fn every_uri_is_an_iri(text in "[a-c:/?#%0-2@\\[\\]é. ]{0,14}") {
        let holds = |format: Format| format.matches(&text);
        prop_assert!(!holds(Format::Uri) || holds(Format::Iri) && holds(Format::UriReference));
        prop_assert!(!holds(Format::UriReference) || holds(Format::IriReference));
        prop_assert!(!holds(Format::Iri) || holds(Format::IriReference));
    }
}

/// Files whose format is not asserted by [`Format::matches`]: the idn formats stay annotations,
/// `regex` belongs to the pattern compiler.
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
        let format = Format::from_name(name);
        assert_eq!(format.is_none(), name == "unknown", "{name}");
        for case in group["tests"].as_array().expect("a list of cases") {
            // Formats say nothing about other types.
            let Some(text) = case["data"].as_str() else {
                continue;
            };
            run += 1;
            let verdict = format.is_none_or(|format| format.matches(text));
            if Some(verdict) != case["valid"].as_bool() {
                wrong.push(case["description"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    assert!(run > 0, "no string cases in {}", path.display());
    wrong
}
