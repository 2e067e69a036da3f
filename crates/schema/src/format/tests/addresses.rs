//! E-mail and network addresses, and host names.

use super::check;

#[test]
fn addresses() {
    let long_local = format!("{}@example.com", "a".repeat(65));
    let full_local = format!("{}@example.com", "a".repeat(64));
    check(
        "email",
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
        "ipv4",
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
        "ipv6",
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
        "hostname",
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
        "hostname",
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
