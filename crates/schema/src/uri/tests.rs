//! The examples of RFC 3986 section 5.4, then URNs, empty bases and hostile text.

use proptest::prelude::*;

use super::{Parts, normalise, percent_decode, resolve, split_fragment};

const BASE: &str = "http://a/b/c/d;p?q";

fn check(base: &str, cases: &[(&str, &str)]) {
    for (reference, expected) in cases {
        assert_eq!(resolve(base, reference), *expected, "{reference} on {base}");
    }
}

#[test]
fn normal_examples() {
    check(
        BASE,
        &[
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"),
        ],
    );
}

#[test]
fn abnormal_examples() {
    check(
        BASE,
        &[
            ("../../../g", "http://a/g"),
            ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"),
            ("http:g", "http:g"),
        ],
    );
}

#[test]
fn urns_and_empty_bases() {
    check(
        "urn:example:root",
        &[
            ("#a", "urn:example:root#a"),
            ("", "urn:example:root"),
            ("urn:example:other#/x", "urn:example:other#/x"),
            ("other", "urn:other"),
        ],
    );
    check(
        "urn:example:root#frag",
        &[("", "urn:example:root"), ("#b", "urn:example:root#b")],
    );
    check(
        "",
        &[
            ("", ""),
            ("#/definitions/x", "#/definitions/x"),
            ("item.json", "item.json"),
            ("../item.json", "item.json"),
            ("/item.json#a", "/item.json#a"),
            ("http://a/b/../c", "http://a/c"),
            ("//host/x", "//host/x"),
            ("./a:b", "./a:b"),
        ],
    );
    check("http://a", &[("x", "http://a/x"), ("#f", "http://a#f")]);
    check("http://a?q", &[("x", "http://a/x")]);
    check(
        "schemas/root.json",
        &[
            ("item.json", "schemas/item.json"),
            ("#a", "schemas/root.json#a"),
        ],
    );
    check("file:/a/b", &[("/..//c", "file:/.//c")]);
}

#[test]
fn splitting() {
    assert_eq!(
        Parts::split("a+b-.1://u@h:1/p?q?r#f#g"),
        Parts {
            scheme: Some("a+b-.1"),
            authority: Some("u@h:1"),
            path: "/p",
            query: Some("q?r"),
            fragment: Some("f#g"),
        }
    );
    assert_eq!(Parts::split("1:b").scheme, None);
    assert_eq!(Parts::split("a/b:c").scheme, None);
    assert_eq!(Parts::split("é:b").scheme, None);
    assert_eq!(Parts::split("//").authority, Some(""));
    assert_eq!(split_fragment("a"), ("a", None));
    assert_eq!(split_fragment("a#"), ("a", Some("")));
    assert_eq!(split_fragment("#b"), ("", Some("b")));
    assert_eq!(normalise("http://a/b#"), "http://a/b");
    assert_eq!(normalise("http://a/b#c"), "http://a/b#c");
    assert_eq!(normalise("#"), "");
    assert_eq!(normalise("a#b#"), "a#b#");
}

#[test]
fn percent_decoding() {
    assert_eq!(percent_decode("plain").as_deref(), Some("plain"));
    assert_eq!(percent_decode("a%25b%20%C3%a9").as_deref(), Some("a%b é"));
    for text in ["%", "%2", "%zz", "%C3", "a%2", "%é", "%+1"] {
        assert_eq!(percent_decode(text), None, "{text}");
    }
}

#[test]
fn long_dot_runs_stay_linear() {
    let path = "/a/..".repeat(200_000);
    assert_eq!(resolve("http://a/", &path), "http://a/");
    let climb = "../".repeat(300_000);
    assert_eq!(resolve("http://a/b/c", &climb), "http://a/");
}

proptest! {
    #[test]
    fn any_text_resolves(base in "[a:/.?#%é]{0,12}", reference in "[a:/.?#%é]{0,12}") {
        // An empty reference keeps the base's path as it is, so start from one without dot segments.
        let base = resolve("x://y/z", &base);
        let resolved = resolve(&base, &reference);
        prop_assert!(resolved.len() <= base.len() + reference.len() + 4);
        let parts = Parts::split(&resolved);
        prop_assert_eq!(parts.fragment, Parts::split(&reference).fragment);
        // It has a scheme, so it names the same thing from everywhere.
        prop_assert!(parts.scheme.is_some());
        prop_assert_eq!(resolve("u://v/w", &resolved), resolved.clone());
    }
}
