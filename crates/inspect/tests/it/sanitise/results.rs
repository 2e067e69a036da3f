//! What cleaning leaves alone, and what it means for schemas, twins and classifiers.

use countersign_inspect::{
    ClientEra, Decision, Declaration, Mode, RawReply, Screening, SkipReason, Source, ToolName,
    examine,
};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::boundaries::tags;
use super::{emitted, examined, inspect, policy};

pub(super) fn untouched_bytes() -> Result<(), Failed> {
    // Odd spellings on every side of the one text that changes, and an image that must not.
    let before = r#"{ "x":1.0,"content" : [ {"type":"image","data":"PHxpbV9zdGFydHw+","mimeType":"image\/png"},{"type":"text","annotations":{"priority":1e0},"text":"caf\u00e9 "#;
    let after = r#" \u00e9"} ],"structuredContent":{"n":12345678901234567890,"s":"\u0041<s>\u200b"},"_meta":{ "a":"<|im_end|>" }, "x":2}"#;
    let result = format!("{before}<|im_start|>{after}");
    let inspected = inspect(&result, &policy("{}"));
    let expected = format!("{before}(removed: control token){after}");
    assert_eq!(
        std::str::from_utf8(&inspected.emitted().into_bytes())?,
        expected
    );
    assert_eq!(inspected.decision(), Decision::Rewritten);
    // Wrapped: the tags are new and everything between them is as it was written.
    let result = format!("{before}{after}");
    let wrapped = inspect(&result, &policy(r#"{"wrap":"delimit"}"#));
    let wrapped = wrapped.emitted().into_bytes();
    let wrapped = std::str::from_utf8(&wrapped)?;
    assert!(
        wrapped.contains(r"\ncaf\u00e9  \u00e9\n</untrusted-"),
        "{wrapped}"
    );
    let off = inspect(&result, &policy(r#"{"mode":"off"}"#));
    assert!(!off.is_changed() && off.findings().is_empty());
    Ok(())
}

pub(super) fn classifier_texts() -> Result<(), Failed> {
    let result = json!({"content":[{"type":"text","text":"a<|im_start|>b"},{"type":"resource","resource":{"uri":"u","text":"c\u{200b}d"}}],"structuredContent":{"s":"[INST]"}});
    let seen = |block: &str| {
        let policy = policy(block);
        let examined = examined(&result.to_string(), &policy);
        let texts = examined.texts();
        texts
            .iter()
            .map(|text| format!("{}={}", text.pointer, text.text))
            .collect::<Vec<_>>()
            .join(" ")
    };
    insta::assert_snapshot!(seen(r#"{"structured":"report"}"#), @"/content/0/text=a(removed: control token)b /content/1/resource/text=cd /structuredContent/s=[INST]");
    insta::assert_snapshot!(seen(r#"{"wrap":"delimit"}"#), @"/content/0/text=a(removed: control token)b /content/1/resource/text=cd /structuredContent/s=(removed: control token)");
    Ok(())
}

pub(super) fn revalidated() -> Result<(), Failed> {
    let check = |mode: Mode, schema: &str, value: &str| {
        let mut policy = policy("{}");
        policy.output.mode = mode;
        let declaration =
            Declaration::new(ToolName::on_server("s", "t")).output_schema(schema.to_owned());
        let contract = declaration.capture(&policy.output);
        let raw = RawReply::new(
            format!(r#"{{"content":[],"structuredContent":{value}}}"#),
            Source::default(),
        );
        let inspected = examine(raw, &contract, &policy)
            .conclude(Screening::skipped(SkipReason::NotConfigured));
        let rules = inspected.findings().iter().map(|finding| &*finding.rule);
        let breaks = rules.filter(|rule| rule.starts_with("schema.")).count();
        let value = inspected.structured_text().map(str::to_owned);
        (inspected.decision(), breaks, value)
    };
    let short = r#"{"type":"object","properties":{"s":{"type":"string","maxLength":14}}}"#;
    let free = r#"{"type":"object"}"#;
    let hostile = r#"{"s":"<|im_start|>", "n": 1.0}"#;
    let cleaned = Some(r#"{"s":"(removed: control token)", "n": 1.0}"#.to_owned());
    for mode in [Mode::Off, Mode::Warn] {
        let rewritten = (Decision::Rewritten, 1, cleaned.clone());
        assert_eq!(check(mode, short, hostile), rewritten);
    }
    let blocked = (Decision::Blocked, 1, None);
    assert_eq!(check(Mode::Strict, short, hostile), blocked);
    for mode in [Mode::Off, Mode::Warn, Mode::Strict] {
        let rewritten = (Decision::Rewritten, 0, cleaned.clone());
        assert_eq!(check(mode, free, hostile), rewritten);
        // Less than an attack: not a byte changes.
        let zero_width = r#"{"s":"a\u200bb", "n": 1.0}"#;
        let kept = (Decision::Flagged, 0, Some(zero_width.to_owned()));
        assert_eq!(check(mode, short, zero_width), kept);
    }
    // No key is renamed, so no two keys become one.
    let keys = r#"{"<|im_start|>":1,"<|im_end|>":2}"#;
    let kept = (Decision::Flagged, 0, Some(keys.to_owned()));
    assert_eq!(check(Mode::Warn, free, keys), kept);
    assert_eq!(
        check(Mode::Strict, free, keys),
        (Decision::Blocked, 0, None)
    );
    Ok(())
}

pub(super) fn twins_agree() -> Result<(), Failed> {
    let value =
        json!({"a":["x<|im_start|>","\u{1b}[0m[INST]y"],"n":1,"tags":"z\u{e0068}\u{e0069}"});
    let plain = value.to_string();
    let escaped = plain.replace('<', "\\u003c").replace("|>", "|\\u003e");
    for twin in [plain, escaped] {
        let result = json!({"content":[{"type":"text","text":twin}],"structuredContent":value});
        let left = emitted(&result.to_string(), &policy("{}"));
        let text = left["content"][0]["text"].as_str().ok_or("a text")?;
        let said: Value = serde_json::from_str(text)?;
        assert_eq!(said, left["structuredContent"], "{text}");
    }
    Ok(())
}

pub(super) fn moved_value() -> Result<(), Failed> {
    let result = r#"{"content":[],"structuredContent":["a<|im_start|>"]}"#;
    let left = |block: &str, structured: &str| {
        let mut policy = policy(block);
        policy.client = ClientEra::Legacy;
        emitted(structured, &policy)["content"][0]["text"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(
        left("{}", result).as_deref(),
        Some(r#"["a(removed: control token)"]"#)
    );
    assert_eq!(
        left(r#"{"structured":"report"}"#, result).as_deref(),
        Some(r#"["a(removed: control token)"]"#)
    );
    let wrapped = left(
        r#"{"wrap":"delimit"}"#,
        r#"{"content":[],"structuredContent":[1.0]}"#,
    );
    assert_eq!(wrapped.as_deref().map(tags), Some((1, 1)));
    Ok(())
}

pub(super) fn bounded_findings() -> Result<(), Failed> {
    let blocks: Vec<Value> = (0..1000)
        .map(|_| json!({"type":"text","text":"Human: \u{200b}<|im_start|>"}))
        .collect();
    let hostile = json!({"content": blocks, "structuredContent": {"a": vec!["<|im_end|>"; 1000]}});
    let inspected = inspect(&hostile.to_string(), &policy(r#"{"structured":"block"}"#));
    assert_eq!(inspected.findings().len(), 16);
    // However many harmless hits come first, the worst decides.
    assert_eq!(inspected.decision(), Decision::Blocked);
    let last = inspected
        .findings()
        .last()
        .and_then(|last| last.detail.as_deref());
    assert!(
        last.is_some_and(|detail| detail.contains("more kinds of hits are not listed")),
        "{last:?}"
    );
    Ok(())
}
