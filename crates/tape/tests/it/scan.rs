//! Envelopes: which members are found, where, and what is reported about them.

use countersign_tape::{
    Envelope, Kind, Limits, Member, PartBuffers, Scan, ScanError, ScanLimits, Span, Tape,
    WantedParts, elements, members, scan,
};

fn read(text: &str) -> Envelope {
    scan(text.as_bytes(), &ScanLimits::default()).expect("valid JSON")
}

fn scan_str(text: &str, limits: ScanLimits) -> Result<Envelope, ScanError> {
    let buffers = &mut PartBuffers::default();
    let wanted = WantedParts::default();
    let mut envelope = Envelope::new();
    Scan {
        limits,
        wanted,
        buffers,
        reader: None,
    }
    .message(text, &mut envelope)?;
    Ok(envelope)
}

fn scan_result(text: &str, limits: ScanLimits) -> Result<Envelope, ScanError> {
    let buffers = &mut PartBuffers::default();
    let wanted = WantedParts::default();
    let mut envelope = Envelope::new();
    Scan {
        limits,
        wanted,
        buffers,
        reader: None,
    }
    .result(text, &mut envelope)?;
    Ok(envelope)
}

fn part(text: &str, envelope: &Envelope, member: Member) -> Option<String> {
    let span = envelope.get(member)?;
    Some(text[span.range()].to_owned())
}

#[test]
fn a_call_gives_its_spans() {
    let text = r#" {"jsonrpc": "2.0", "id": "a\"b", "method":"tools/call",
        "params": {"name" : "x__y","arguments":{"name":1,"id":2}, "_meta":{"p":[1]}}} "#;
    let envelope = read(text);
    for (member, expected) in [
        (Member::JsonRpc, r#""2.0""#),
        (Member::Id, r#""a\"b""#),
        (Member::Method, r#""tools/call""#),
        (Member::ParamsName, r#""x__y""#),
        (Member::ParamsArguments, r#"{"name":1,"id":2}"#),
        (Member::ParamsMeta, r#"{"p":[1]}"#),
    ] {
        assert_eq!(
            part(text, &envelope, member).as_deref(),
            Some(expected),
            "{member}"
        );
    }
    assert_eq!(envelope.kind(), Kind::Object);
    assert_eq!(envelope.depth(), 5);
    assert_eq!(envelope.result(), None);
    assert_eq!(envelope.duplicates().count(), 0);
    assert_eq!(&text[envelope.root().range()], text.trim());
}

#[test]
fn a_reply_may_have_its_id_last() {
    let text = r#"{"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":[{}]},
        "isError":true,"resultType":"t","_meta":{},"other":{"content":1}},"id":9007199254740993,"jsonrpc":"2.0"}"#;
    let envelope = read(text);
    assert_eq!(
        part(text, &envelope, Member::Id).as_deref(),
        Some("9007199254740993")
    );
    assert_eq!(
        part(text, &envelope, Member::StructuredContent).as_deref(),
        Some(r#"{"a":[{}]}"#)
    );
    assert_eq!(envelope.structured_content_depth(), 3);
    assert_eq!(envelope.is_error(text.as_bytes()), Some(true));
    assert_eq!(
        part(text, &envelope, Member::ResultType).as_deref(),
        Some("\"t\"")
    );
    assert_eq!(
        part(text, &envelope, Member::ResultMeta).as_deref(),
        Some("{}")
    );
    assert!(
        part(text, &envelope, Member::Content).is_some_and(|content| content.starts_with("[{"))
    );
    assert_eq!(envelope.duplicates().count(), 0);
}

#[test]
fn an_error_gives_its_spans() {
    let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no","data":[]}}"#;
    let envelope = read(text);
    assert_eq!(
        part(text, &envelope, Member::ErrorCode).as_deref(),
        Some("-32601")
    );
    assert_eq!(
        part(text, &envelope, Member::ErrorMessage).as_deref(),
        Some("\"no\"")
    );
    assert_eq!(
        part(text, &envelope, Member::ErrorData).as_deref(),
        Some("[]")
    );
    assert_eq!(part(text, &envelope, Member::Id).as_deref(), Some("null"));
    assert!(envelope.error().is_some());
}

#[test]
fn a_bare_result_is_its_own_result() {
    let text = r#" {"structuredContent":[[1]],"isError":0} "#;
    let envelope = scan_result(text, ScanLimits::default()).expect("valid JSON");
    assert_eq!(envelope.result(), Some(envelope.root()));
    assert_eq!(
        part(text, &envelope, Member::StructuredContent).as_deref(),
        Some("[[1]]")
    );
    assert_eq!(envelope.structured_content_depth(), 3);
    assert_eq!(envelope.is_error(text.as_bytes()), None);
    assert_eq!(part(text, &envelope, Member::IsError).as_deref(), Some("0"));
}

#[test]
fn repeated_members_are_reported_decoded() {
    for (text, expected) in [
        (r#"{"id":1,"\u0069d":2}"#, vec![Member::Id]),
        (
            r#"{"result":{},"result":{"isError":true}}"#,
            vec![Member::Result],
        ),
        (
            r#"{"method":"a","params":{"name":"a","n\u0061me":"b"},"method":"c"}"#,
            vec![Member::Method, Member::ParamsName],
        ),
        (
            r#"{"result":{"structuredContent":1,"structuredContent":2,"isError":true,"isError":false}}"#,
            vec![Member::StructuredContent, Member::IsError],
        ),
        (
            r#"{"result":{"content":[]},"result":{"content":[]}}"#,
            vec![Member::Result, Member::Content],
        ),
        (
            r#"{"error":{"code":1,"code":2},"x":1,"x":2}"#,
            vec![Member::ErrorCode],
        ),
        (r#"{"params":{"arguments":{"id":1,"id":2}}}"#, vec![]),
    ] {
        assert_eq!(
            read(text).duplicates().collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }
    let text = r#"{"id":1,"id":2}"#;
    assert_eq!(part(text, &read(text), Member::Id).as_deref(), Some("1"));
}

#[test]
fn what_is_not_a_message_is_reported_as_what_it_is() {
    for (text, kind) in [
        ("[]", Kind::Array),
        ("[{\"id\":1}]", Kind::Array),
        ("1", Kind::Number),
        ("\"id\"", Kind::String),
        ("{}", Kind::Object),
    ] {
        let envelope = read(text);
        assert_eq!(envelope.kind(), kind);
        assert_eq!(envelope.id(), None);
    }
    for text in [
        r#"{"params":[1],"result":"x","error":null}"#,
        r#"{"result":[{"isError":true}]}"#,
    ] {
        assert_eq!(read(text).get(Member::IsError), None);
    }
}

#[test]
fn structured_content_depth_is_its_own() {
    for (value, depth) in [("null", 1), ("{}", 1), ("[1]", 2), (r#"{"a":{"b":[]}}"#, 3)] {
        let text = format!(r#"{{"result":{{"structuredContent":{value},"x":[[[[[1]]]]]}}}}"#);
        let envelope = read(&text);
        assert_eq!(envelope.structured_content_depth(), depth);
        assert_eq!(envelope.depth(), 8);
    }
    assert_eq!(read(r#"{"result":{}}"#).structured_content_depth(), 0);
}

#[test]
fn hard_limits_hold() {
    let text = r#"{"result":{"structuredContent":[[1]]}}"#;
    for max_depth in 0..8 {
        let limits = ScanLimits {
            max_bytes: 1000,
            max_depth,
        };
        match scan(text.as_bytes(), &limits) {
            Ok(envelope) => assert!(max_depth >= 5 && envelope.depth() == 5, "{max_depth}"),
            Err(error) => assert!(error.is_too_deep() && max_depth < 5, "{max_depth}"),
        }
    }
    let limits = ScanLimits {
        max_bytes: text.len() - 1,
        max_depth: 100,
    };
    assert!(
        scan(text.as_bytes(), &limits)
            .expect_err("one byte too many")
            .is_too_large()
    );
    assert!(
        scan_str(text, limits)
            .expect_err("one byte too many")
            .is_too_large()
    );
    assert!(
        scan_result(text, limits)
            .expect_err("one byte too many")
            .is_too_large()
    );
}

#[test]
fn great_depth_is_measured_on_a_small_stack() {
    let arrays = "[".repeat(100_000) + &"]".repeat(100_000);
    let mixed = r#"{"a":["#.repeat(50_000) + &"]}".repeat(50_000);
    let run = move || {
        for (inner, depth) in [(&arrays, 100_000), (&mixed, 100_000)] {
            let text = format!(r#"{{"result":{{"structuredContent":{inner}}},"id":1}}"#);
            let envelope = read(&text);
            assert_eq!(envelope.structured_content_depth(), depth);
            assert_eq!(envelope.depth(), depth + 2);
            let span = envelope.result().expect("a result");
            let (_, value) = members(text.as_bytes(), span).next().expect("a member");
            assert_eq!(Some(value), envelope.structured_content());
        }
        let swapped = mixed.replacen("]}", "}]", 1);
        assert!(
            scan(swapped.as_bytes(), &ScanLimits::default())
                .expect_err("crossed")
                .is_syntax()
        );
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("a thread").join().expect("no overflow");
}

#[test]
fn lone_surrogates_are_located() {
    assert_eq!(read(r#"{"id":"\ud83d\ude00"}"#).lone_surrogate(), None);
    assert_eq!(read(r#"{"id":"\ud83d"}"#).lone_surrogate(), Some(6));
    assert_eq!(
        read(r#"{"\ud83d":1,"id":"\ud83d"}"#).lone_surrogate(),
        Some(1)
    );
    assert_eq!(
        read(r#"{"result":{"content":[{"\udc00":1}]}}"#).lone_surrogate(),
        Some(23)
    );
}

#[test]
fn members_and_elements_skip_whole_values() {
    let text = r#"{ "a" : [1, {"x":"]}"}, []] , "b":-1.5e3,"c":"\"," ,"d":{},"e":null,"f":true,"g":false }"#;
    let found: Vec<(&str, &str)> = members(text.as_bytes(), Span::whole(text.as_bytes()))
        .map(|(key, value)| (&text[key.range()], &text[value.range()]))
        .collect();
    assert_eq!(
        found,
        [
            ("\"a\"", r#"[1, {"x":"]}"}, []]"#),
            ("\"b\"", "-1.5e3"),
            ("\"c\"", r#""\",""#),
            ("\"d\"", "{}"),
            ("\"e\"", "null"),
            ("\"f\"", "true"),
            ("\"g\"", "false")
        ]
    );
    let array = members(text.as_bytes(), Span::whole(text.as_bytes()))
        .next()
        .expect("a member")
        .1;
    let parts: Vec<&str> = elements(text.as_bytes(), array)
        .map(|element| &text[element.range()])
        .collect();
    assert_eq!(parts, ["1", r#"{"x":"]}"}"#, "[]"]);
    assert_eq!(members(text.as_bytes(), array).count(), 0);
    assert_eq!(
        elements(text.as_bytes(), Span::whole(text.as_bytes())).count(),
        0
    );
    assert_eq!(elements(b"[ ]", Span::new(0, 3)).count(), 0);
}

#[test]
fn walking_bytes_that_are_not_json_ends() {
    for text in [
        "{", "{\"a\"", "{\"a\":", "{\"a\":}", "[1", "[1,", "[tru", "[}", "[[", "{]", "[nul", "[\"",
        "[:", "{:1}", "[fals",
    ] {
        let bytes = text.as_bytes();
        assert!(members(bytes, Span::whole(bytes)).count() <= 1, "{text}");
        assert!(elements(bytes, Span::whole(bytes)).count() <= 1, "{text}");
        assert_eq!(elements(bytes, Span::new(5, 900)).count(), 0);
        assert_eq!(elements(bytes, Span::new(9, 3)).count(), 0);
    }
}

#[test]
fn strings_of_spans_are_decoded() {
    let text = br#"["\u0061b",1]"#;
    let spans: Vec<Span> = elements(text, Span::whole(text)).collect();
    assert_eq!(spans[0].string(text).as_deref(), Some("ab"));
    assert_eq!(spans[1].string(text), None);
    assert_eq!(spans[1].kind(text), Some(Kind::Number));
}

/// Everything, and what was laid out of it as text.
fn tapes(text: &str, wanted: WantedParts) -> (Envelope, Option<String>, Option<String>) {
    let mut buffers = PartBuffers::default();
    let mut scan = Scan {
        limits: ScanLimits::default(),
        wanted,
        buffers: &mut buffers,
        reader: None,
    };
    let mut envelope = Envelope::new();
    let tapes = scan.message(text, &mut envelope).expect("valid JSON");
    let raw = |tape: &Option<Tape<'_>>| tape.as_ref().map(|tape| tape.raw(0).to_owned());
    let (structured, content) = (raw(&tapes.structured), raw(&tapes.content));
    tapes.recycle(&mut buffers);
    (envelope, structured, content)
}

const EVERYTHING: WantedParts = WantedParts {
    structured: Some(Limits {
        max_bytes: 1 << 20,
        max_depth: 8,
    }),
    content: true,
};

#[test]
fn what_is_laid_out_changes_nothing_about_the_envelope() {
    let deep = "[".repeat(9) + &"]".repeat(9);
    let many = "1,".repeat(5000) + "1";
    for (structured, content) in [
        (r#"{"a":[1,"\ud800"]}"#, r#"[{"type":"text","text":"x"}]"#),
        ("null", "[]"),
        (deep.as_str(), r#"["\udfff"]"#),
        (many.as_str(), many.as_str()),
    ] {
        let structured = if structured == many {
            format!("[{structured}]")
        } else {
            structured.to_owned()
        };
        let content = content.replace(&many, &format!("[{many}]"));
        let text = format!(
            r#" {{"id":1,"result":{{"structuredContent": {structured} ,"content":{content},"structuredContent":2}}}} "#
        );
        let plain = read(&text);
        let (envelope, laid, blocks) = tapes(&text, EVERYTHING);
        assert_eq!(format!("{envelope:?}"), format!("{plain:?}"), "{text}");
        let is_deep = structured == deep;
        assert_eq!(laid, (!is_deep).then_some(structured));
        let is_many = content.len() > 5000;
        assert_eq!(blocks, (!is_many).then_some(content));
        let (envelope, laid, blocks) = tapes(&text, WantedParts::default());
        assert_eq!(format!("{envelope:?}"), format!("{plain:?}"), "{text}");
        assert_eq!((laid, blocks), (None, None));
    }
}

#[test]
fn a_message_longer_than_the_limit_is_only_scanned() {
    let text = r#"{"id":1,"result":{"structuredContent":{"a":1}}}"#;
    let wanted = |max_bytes| WantedParts {
        structured: Some(Limits {
            max_bytes,
            max_depth: 8,
        }),
        content: false,
    };
    assert_eq!(
        tapes(text, wanted(text.len())).1.as_deref(),
        Some(r#"{"a":1}"#)
    );
    assert_eq!(tapes(text, wanted(text.len() - 1)).1, None);
}

#[test]
fn a_top_level_member_that_json_rpc_does_not_know_is_noted() {
    for (text, unknown) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#, false),
        (r#"{"method":"a","params":{"x":1},"error":{"x":1}}"#, false),
        (r#"{"\u0069d":1}"#, false),
        (r#"{"id":1,"x":{}}"#, true),
        (r#"{"":1,"id":1}"#, true),
        (r#"{"ID":1}"#, true),
        ("[]", false),
    ] {
        assert_eq!(read(text).has_unknown_members(), unknown, "{text}");
    }
    let mut buffers = PartBuffers::default();
    let mut scan = Scan {
        limits: ScanLimits::default(),
        wanted: WantedParts::default(),
        buffers: &mut buffers,
        reader: None,
    };
    let mut envelope = Envelope::new();
    scan.message(r#"{"x":1}"#, &mut envelope).unwrap();
    assert!(envelope.has_unknown_members());
    scan.result(r#"{"x":1}"#, &mut envelope).unwrap();
    assert!(!envelope.has_unknown_members());
}

#[test]
fn a_span_is_the_text_that_it_decodes_to() {
    let raws = [
        "",
        "name",
        r"n\u0061me",
        r"a\n",
        r"a\\n",
        r"\ud800",
        r"\u00e9",
        "é",
        r"\ud83d\ude00",
    ];
    let texts = [
        "",
        "name",
        "a\n",
        r"a\n",
        r"a\\n",
        "\u{fffd}",
        "é",
        "😀",
        r"n\u0061me",
    ];
    for raw in raws {
        let json = format!(r#"["{raw}"]"#);
        let bytes = json.as_bytes();
        let span = elements(bytes, Span::whole(bytes))
            .next()
            .expect("one element");
        for text in texts {
            let decoded = span.string(bytes);
            assert_eq!(
                span.is_text(bytes, text),
                decoded.as_deref() == Some(text),
                "{raw} {text}"
            );
        }
    }
    let [number, open, broken] = [&b"7"[..], b"\"a", b"\"\xff\""];
    for bytes in [number, open, broken] {
        assert!(!Span::whole(bytes).is_text(bytes, "7") && !Span::whole(bytes).is_text(bytes, "a"));
    }
}
