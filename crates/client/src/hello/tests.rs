//! What is made of the answers to both greetings.

use super::*;

#[test]
fn a_version_that_is_none_is_not_logged_whole() {
    let version = "\u{e9}".repeat(150_000);
    let answer =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}"}}}}"#);
    let refused = Hello::initialized(&Bytes::from(answer)).expect_err("not a version");
    let said = refused.to_string();
    assert!(
        said.contains("\u{e9}\u{2026}\"") && said.len() < 200,
        "{said}"
    );
}

fn discovery(answer: &str) -> Result<Discovery, String> {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#);
    Discovery::read(&Bytes::from(answer)).map_err(|error| error.to_string())
}

fn unsupported(data: &str) -> Result<Discovery, String> {
    discovery(&format!(
        r#""error":{{"code":-32022,"message":"no","data":{data}}}"#
    ))
}

#[test]
fn a_modern_server_of_another_version_is_not_taken_for_a_legacy_one() {
    let shared = unsupported(r#"{"supported":["2027-01-01","2025-03-26","2025-06-18"]}"#);
    assert!(
        matches!(shared, Ok(Discovery::Legacy("2025-06-18"))),
        "{shared:?}"
    );
    let shared = discovery(r#""result":{"supportedVersions":["2025-03-26"]}"#);
    assert!(
        matches!(shared, Ok(Discovery::Legacy("2025-03-26"))),
        "{shared:?}"
    );
    for other in [
        unsupported(r#"{"supported":["2027-01-01",7,"2028-01-01"]}"#),
        discovery(r#""result":{"supportedVersions":["2027-01-01","2028-01-01"]}"#),
    ] {
        let expected =
            r#"it speaks protocol version "2027-01-01, 2028-01-01", which is not supported"#;
        assert_eq!(other.expect_err("nothing is shared"), expected);
    }
    for unnamed in [
        "null",
        "{}",
        "[]",
        r#"{"supported":5}"#,
        r#"{"supported":[]}"#,
    ] {
        let refused = unsupported(unnamed).expect_err("no version is named");
        assert!(refused.contains("another than 2026-07-28"), "{refused}");
    }
    let contradiction = unsupported(r#"{"supported":["2026-07-28"]}"#);
    assert!(contradiction.is_err(), "{contradiction:?}");
    for code in ["-32020", "-32021"] {
        let error = format!(r#""error":{{"code":{code},"message":"no"}}"#);
        let refused = discovery(&error).expect_err("a modern server");
        assert!(refused.ends_with(code), "{refused}");
    }
    for legacy in [
        r#""error":{"code":-32601,"message":"no"}"#,
        r#""error":{"code":"-32022"}"#,
        r#""result":{}"#,
        r#""result":5"#,
    ] {
        let answer = discovery(legacy);
        assert!(
            matches!(answer, Ok(Discovery::Legacy("2025-11-25"))),
            "{legacy}: {answer:?}"
        );
    }
}

#[test]
fn a_long_list_of_versions_is_not_logged_whole() {
    let many = vec![format!("\"{}\"", "9".repeat(1000)); 10_000].join(",");
    let refused = unsupported(&format!(r#"{{"supported":[{many}]}}"#)).expect_err("unknown");
    assert!(
        refused.len() < 1000 && refused.contains(", \u{2026}"),
        "{refused}"
    );
    let last = unsupported(&format!(r#"{{"supported":[{many},"2025-06-18"]}}"#));
    assert!(matches!(last, Ok(Discovery::Legacy("2025-06-18"))));
}
