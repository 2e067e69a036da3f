//! Generated JSON: values in odd but legal spellings, each with a schema it conforms to.

use proptest::collection::vec;
use proptest::prelude::*;

/// A JSON text and a schema that the text conforms to.
#[derive(Clone, Debug)]
pub(crate) struct Conforming {
    pub(crate) text: String,
    pub(crate) schema: String,
}

/// White space as JSON allows it.
pub(crate) fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// The inside of a string literal: plain text, every escape, surrogate pairs, no half ones.
pub(crate) fn string_inside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-zA-Z0-9 _.:;-]{1,8}",
        2 => "[à-ÿЀ-я一-十😀-😎]{1,4}",
        1 => Just(r"\u00e9".to_owned()),
        1 => Just(r"\u00E9".to_owned()),
        1 => Just(r"\ud83d\ude00".to_owned()),
        1 => Just(r"\u0000".to_owned()),
        1 => Just(r"\\ud800".to_owned()),
        1 => prop::sample::select(vec![r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r#"\""#, r"\\"])
            .prop_map(str::to_owned),
    ];
    vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})",
        "-?[1-9][0-9]{15,30}",
        r"-?(0|[1-9][0-9]{0,2})\.[0-9]{1,25}",
        "-?[1-9][0-9]{0,2}(\\.[0-9]{1,3})?[eE][+-]?[0-9]{1,2}",
        Just("-0".to_owned()),
        Just("1.0".to_owned()),
        Just("1e2".to_owned()),
    ]
}

fn leaf() -> impl Strategy<Value = Conforming> {
    let fixed = |text: &str, schema: &str| Conforming {
        text: text.to_owned(),
        schema: schema.to_owned(),
    };
    prop_oneof![
        Just(fixed("null", r#"{"type":"null"}"#)),
        Just(fixed("true", r#"{"const":true}"#)),
        Just(fixed("false", r#"{"type":"boolean"}"#)),
        number().prop_map(move |text| fixed(&text, r#"{"type":"number"}"#)),
        string_inside()
            .prop_map(move |inside| fixed(&format!("\"{inside}\""), r#"{"type":"string"}"#)),
    ]
}

/// Any JSON value up to a few levels deep.
pub(crate) fn value() -> impl Strategy<Value = Conforming> {
    leaf().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![array(inner.clone()), object(inner)]
    })
}

fn array(inner: impl Strategy<Value = Conforming>) -> impl Strategy<Value = Conforming> {
    vec((space(), inner, space()), 0..5).prop_map(|items| {
        let texts: Vec<String> = items
            .iter()
            .map(|(left, item, right)| format!("{left}{}{right}", item.text))
            .collect();
        let schemas: Vec<&str> = items
            .iter()
            .map(|(_, item, _)| item.schema.as_str())
            .collect();
        let prefix = match schemas.as_slice() {
            [] => String::new(),
            _ => format!(r#","prefixItems":[{}]"#, schemas.join(",")),
        };
        Conforming {
            text: format!("[{}]", texts.join(",")),
            schema: format!(r#"{{"type":"array"{prefix},"maxItems":{}}}"#, texts.len()),
        }
    })
}

fn object(inner: impl Strategy<Value = Conforming>) -> impl Strategy<Value = Conforming> {
    vec((space(), string_inside(), space(), inner), 0..5).prop_map(|members| {
        let mut texts = Vec::new();
        let mut schemas = Vec::new();
        for (index, (left, name, right, member)) in members.iter().enumerate() {
            // The number keeps names apart, however they are spelt.
            texts.push(format!(
                "{left}\"{name}{index}\"{right}:{left}{}{right}",
                member.text
            ));
            schemas.push(format!("\"{name}{index}\":{}", member.schema));
        }
        Conforming {
            text: format!("{{{}}}", texts.join(",")),
            schema: format!(
                r#"{{"type":"object","properties":{{{}}},"additionalProperties":false}}"#,
                schemas.join(",")
            ),
        }
    })
}

/// A whole result around a structured value: members in any order, unknown ones, odd spacing.
pub(crate) fn result(structured: String) -> impl Strategy<Value = String> {
    let extra = prop_oneof![
        Just(r#""content":[]"#.to_owned()),
        Just(
            r#""content":[{"type":"text","text":"as text"},{"type":"x-new","y":[1.0]}]"#.to_owned()
        ),
        Just(r#""content":[],"isError":false"#.to_owned()),
        value().prop_map(|value| format!(r#""_meta":{}"#, value.text)),
        value().prop_map(|value| format!(r#""x-extra":{},"content":[]"#, value.text)),
    ];
    (extra, any::<bool>(), space(), space(), space()).prop_map(
        move |(extra, first, left, middle, right)| {
            let structured = format!(r#""structuredContent"{middle}:{left}{structured}{right}"#);
            let (one, two) = if first {
                (structured, extra)
            } else {
                (extra, structured)
            };
            format!("{left}{{{right}{one},{middle}{two}{left}}}{right}")
        },
    )
}
