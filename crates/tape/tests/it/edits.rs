//! Edits: the output is the same edit on a document, and what is not touched keeps its spelling.

use countersign_tape::{EditedText, Edits, Limits, MemberPosition, Segment, Span, Tape, members};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::document::{Document, Glyph, Text, document, spaces, text};

fn output(edited: &EditedText<'_>) -> String {
    assert_eq!(edited.to_vec().len(), edited.len());
    String::from_utf8(edited.to_vec()).expect("UTF-8")
}

fn parse(text: &str) -> Tape<'_> {
    serde_json::from_str::<IgnoredAny>(text).expect("the output parses");
    Tape::parse(
        text.as_bytes(),
        &Limits {
            max_bytes: usize::MAX,
            max_depth: 1000,
        },
    )
    .expect("the output parses")
}

/// Key and value spans of a root object's member.
fn member(text: &str, place: usize) -> (Span, Span) {
    members(text.as_bytes(), Span::whole(text.as_bytes()))
        .nth(place)
        .expect("a member")
}

#[test]
fn no_operations_give_the_input() {
    let original = b" {} ";
    let edited = Edits::new(original).apply().expect("nothing to refuse");
    assert_eq!(edited.segments(), [Segment::Borrowed(&original[..])]);
    assert!(!edited.is_changed());
}

#[test]
fn only_touched_ranges_are_owned() {
    let original = br#"{"a":1,"b":2,"c":3}"#;
    let mut edits = Edits::new(original);
    edits.replace(Span::new(17, 18), *b"[33]");
    edits.replace(Span::new(5, 6), *b"11");
    let edited = edits.apply().expect("no overlap");
    assert_eq!(
        edited.segments(),
        [
            Segment::Borrowed(&br#"{"a":"#[..]),
            Segment::Owned(b"11".to_vec()),
            Segment::Borrowed(br#","b":2,"c":"#),
            Segment::Owned(b"[33]".to_vec()),
            Segment::Borrowed(b"}"),
        ]
    );
}

/// An object, the members to remove, those to insert, and the outcome.
type Case = (
    &'static str,
    &'static [usize],
    &'static [(MemberPosition, &'static str)],
    &'static str,
);

#[test]
fn commas_follow_removals_and_insertions() {
    let cases: &[Case] = &[
        ("{}", &[], &[(MemberPosition::First, "x")], r#"{"x":0}"#),
        (
            "{ }",
            &[],
            &[(MemberPosition::Last, "x"), (MemberPosition::First, "y")],
            r#"{"y":0,"x":0 }"#,
        ),
        (
            r#"{"a":1}"#,
            &[],
            &[(MemberPosition::First, "x"), (MemberPosition::Last, "y")],
            r#"{"x":0,"a":1,"y":0}"#,
        ),
        (
            r#"{ "a": 1 }"#,
            &[],
            &[(MemberPosition::Last, "y"), (MemberPosition::Last, "z")],
            r#"{ "a": 1,"y":0,"z":0 }"#,
        ),
        (r#"{"a":1}"#, &[0], &[], "{}"),
        (
            r#"{ "a": 1 , "b": 2 , "c": 3 }"#,
            &[0],
            &[],
            r#"{ "b": 2 , "c": 3 }"#,
        ),
        (
            r#"{ "a": 1 , "b": 2 , "c": 3 }"#,
            &[1],
            &[],
            r#"{ "a": 1 , "c": 3 }"#,
        ),
        (
            r#"{ "a": 1 , "b": 2 , "c": 3 }"#,
            &[2],
            &[],
            r#"{ "a": 1 , "b": 2 }"#,
        ),
        (r#"{"a":1,"b":2,"c":3}"#, &[0, 1], &[], r#"{"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &[1, 2], &[], r#"{"a":1}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &[0, 2], &[], r#"{"b":2}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &[2, 1, 0], &[], "{}"),
        (
            r#"{"a":1,"b":2}"#,
            &[0, 1],
            &[(MemberPosition::Last, "x"), (MemberPosition::First, "y")],
            r#"{"y":0,"x":0}"#,
        ),
        (
            r#"{"a":1,"b":2}"#,
            &[1],
            &[(MemberPosition::Last, "x"), (MemberPosition::First, "y")],
            r#"{"y":0,"a":1,"x":0}"#,
        ),
        (
            r#"{"a":1,"b":2}"#,
            &[0],
            &[(MemberPosition::Last, "x"), (MemberPosition::First, "y")],
            r#"{"y":0,"b":2,"x":0}"#,
        ),
    ];
    for &(original, removed, inserted, expected) in cases {
        let object = Span::whole(original.as_bytes());
        let mut edits = Edits::new(original.as_bytes());
        for &place in removed {
            edits.remove_member(object, member(original, place).0);
        }
        for &(place, name) in inserted {
            edits.insert_member(object, place, name, b"0");
        }
        let edited = edits.apply().expect("no overlap");
        assert_eq!(
            output(&edited),
            expected,
            "{original} without {removed:?}, with {inserted:?}"
        );
    }
}

#[test]
fn names_are_escaped_when_inserted() {
    let mut edits = Edits::new(b"{}");
    edits.insert_member(Span::new(0, 2), MemberPosition::First, "a\"\n\u{1}é", b"[]");
    assert_eq!(
        output(&edits.apply().expect("no overlap")),
        "{\"a\\\"\\n\\u0001é\":[]}"
    );
}

#[test]
fn nested_objects_are_edited_together() {
    let original = r#"{"r":{"s":1,"m":{"k":2}},"z":"x"}"#;
    let outer = Span::whole(original.as_bytes());
    let (_, inner) = member(original, 0);
    let mut edits = Edits::new(original.as_bytes());
    edits.insert_member(outer, MemberPosition::Last, "o", b"1");
    edits.insert_member(inner, MemberPosition::Last, "i", b"2");
    edits.replace_within_string(member(original, 1).1, 1..1, "y");
    edits.remove_member(
        inner,
        members(original.as_bytes(), inner)
            .next()
            .expect("a member")
            .0,
    );
    let edited = edits.apply().expect("no overlap");
    assert_eq!(
        output(&edited),
        r#"{"r":{"m":{"k":2},"i":2},"z":"xy","o":1}"#
    );
}

#[test]
fn within_a_string_the_rest_keeps_its_spelling() {
    let original = r#""\/caf\u00e9 <|x|> \ud83d\ude00\n""#;
    for (range, text, expected) in [
        (7..12, "[t]", r#""\/caf\u00e9 [t] \ud83d\ude00\n""#),
        (0..0, "\"", r#""\"\/caf\u00e9 <|x|> \ud83d\ude00\n""#),
        (4..6, "e", r#""\/cafe <|x|> \ud83d\ude00\n""#),
        (13..17, "", r#""\/caf\u00e9 <|x|> \n""#),
        (17..18, "\u{0}", r#""\/caf\u00e9 <|x|> \ud83d\ude00\u0000""#),
        (18..18, "!", r#""\/caf\u00e9 <|x|> \ud83d\ude00\n!""#),
        (0..18, "é", r#""é""#),
    ] {
        let mut edits = Edits::new(original.as_bytes());
        edits.replace_within_string(Span::whole(original.as_bytes()), range.clone(), text);
        assert_eq!(
            output(&edits.apply().expect("no overlap")),
            expected,
            "{range:?}"
        );
    }
}

#[test]
fn deleting_between_lone_surrogates_makes_no_character() {
    let original = r#""\ud83dab\ude00""#;
    for ranges in [
        vec![3..3, 3..5],
        vec![3..4, 4..5],
        vec![4..5, 3..4],
        vec![3..3, 3..5, 5..5],
    ] {
        let mut edits = Edits::new(original.as_bytes());
        for range in ranges {
            edits.replace_within_string(Span::whole(original.as_bytes()), range, "");
        }
        assert_eq!(
            output(&edits.apply().expect("no overlap")),
            r#""\ud83d\ufffd""#
        );
    }
    let literal = r#""\\ud83dab\ude00""#;
    let mut edits = Edits::new(literal.as_bytes());
    edits.replace_within_string(Span::whole(literal.as_bytes()), 6..8, "");
    assert_eq!(
        output(&edits.apply().expect("no overlap")),
        r#""\\ud83d\ude00""#
    );
}

#[test]
fn overlaps_are_refused() {
    let original = r#"{"a":"xyz","b":{"c":1}}"#;
    let object = Span::whole(original.as_bytes());
    let (key, value) = member(original, 0);
    let (_, inner) = member(original, 1);
    let operations: [&dyn Fn(&mut Edits<'_>); 7] = [
        &|edits| edits.replace(value, *b"1"),
        &|edits| edits.replace(Span::new(value.start + 1, value.end + 1), *b""),
        &|edits| edits.replace_within_string(value, 0..2, ""),
        &|edits| edits.replace_within_string(value, 1..3, ""),
        &|edits| edits.remove_member(object, key),
        &|edits| edits.replace(object, *b"{}"),
        &|edits| edits.insert_member(inner, MemberPosition::First, "x", b"1"),
    ];
    for (one, first) in operations.iter().enumerate() {
        for (other, second) in operations.iter().enumerate() {
            let mut edits = Edits::new(original.as_bytes());
            first(&mut edits);
            second(&mut edits);
            // An insertion into the other member collides with the whole object alone, and twice with nothing.
            let apart = one.max(other) == 6 && one.min(other) != 5;
            match edits.apply() {
                Ok(edited) => {
                    assert!(apart, "{one} and {other}");
                    assert!(edited.is_changed());
                }
                Err(error) => assert!(error.is_overlap() && !apart, "{one} and {other}: {error}"),
            }
        }
    }
}

#[test]
fn nonsense_is_an_error_value() {
    let original = r#"{"a":"é\u00e9","b":[1]}"#;
    let whole = Span::whole(original.as_bytes());
    let (key, value) = member(original, 0);
    let (_, array) = member(original, 1);
    let operations: [&dyn Fn(&mut Edits<'_>); 12] = [
        &|edits| edits.replace(Span::new(0, 999), *b""),
        &|edits| edits.replace(Span::new(5, 3), *b""),
        &|edits| edits.replace_within_string(value, 1..2, ""),
        &|edits| edits.replace_within_string(value, 2..3, ""),
        &|edits| edits.replace_within_string(value, 0..5, ""),
        &|edits| edits.replace_within_string(value, Span::new(2, 0).range(), ""),
        &|edits| edits.replace_within_string(value, usize::MAX..usize::MAX, ""),
        &|edits| edits.replace_within_string(array, 0..1, ""),
        &|edits| edits.remove_member(array, key),
        &|edits| edits.remove_member(whole, value),
        &|edits| edits.insert_member(Span::new(0, 1), MemberPosition::Last, "x", b"1"),
        &|edits| edits.insert_member(Span::new(7, 2), MemberPosition::Last, "x", b"1"),
    ];
    for (place, operation) in operations.iter().enumerate() {
        let mut edits = Edits::new(original.as_bytes());
        operation(&mut edits);
        let error = edits.apply().expect_err("nonsense");
        assert!(!error.is_overlap(), "operation {place}: {error}");
    }
}

#[test]
fn many_edits_in_one_string_are_placed_in_one_walk() {
    // Mapped one by one from the start, this would be ten thousand million steps.
    let original = format!("\"{}\"", "x\\n".repeat(100_000));
    let mut edits = Edits::new(original.as_bytes());
    for n in (0..100_000).rev() {
        edits.replace_within_string(Span::whole(original.as_bytes()), 2 * n..2 * n + 1, "yy");
    }
    assert_eq!(
        output(&edits.apply().expect("no overlap")),
        format!("\"{}\"", "yy\\n".repeat(100_000))
    );
}

/// One change to a document and, through spans, to its text.
#[derive(Debug, Clone)]
enum Action {
    Replace,
    Within(proptest::sample::Index, proptest::sample::Index),
    Remove,
    Insert(bool),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::Replace),
        (
            any::<proptest::sample::Index>(),
            any::<proptest::sample::Index>()
        )
            .prop_map(|(from, to)| Action::Within(from, to)),
        Just(Action::Remove),
        any::<bool>().prop_map(Action::Insert),
    ]
}

/// Walks document and tape in step and applies to each eligible value the next action due, to both.
struct Editor<'a, 't> {
    tape: &'t Tape<'a>,
    edits: Edits<'a>,
    actions: std::iter::Cycle<std::slice::Iter<'t, Option<Action>>>,
    fresh: &'t Text,
}

impl Editor<'_, '_> {
    fn edit(&mut self, document: &mut Document, index: u32) {
        let span = self.tape.node(index).span();
        let action = self.actions.next().cloned().flatten();
        match (action, &mut *document) {
            (Some(Action::Replace), _) => {
                *document = Document::Text(self.fresh.clone());
                self.edits.replace(span, self.fresh.render());
            }
            (Some(Action::Within(from, to)), Document::Text(text)) => {
                self.within(text, span, from, to);
            }
            (action, Document::Object(members)) => self.object(members, index, action.as_ref()),
            (_, Document::Array(elements)) => {
                for (element, child) in elements.iter_mut().zip(self.tape.children(index)) {
                    self.edit(element, child);
                }
            }
            _ => {}
        }
    }

    fn within(
        &mut self,
        text: &mut Text,
        span: Span,
        from: proptest::sample::Index,
        to: proptest::sample::Index,
    ) {
        let (one, other) = (from.index(text.0.len() + 1), to.index(text.0.len() + 1));
        let (low, high) = (one.min(other), one.max(other));
        let offset = |end: usize| {
            text.0[..end]
                .iter()
                .map(|glyph| glyph.decoded.len_utf8())
                .sum()
        };
        let fresh = self.fresh.decoded();
        self.edits
            .replace_within_string(span, offset(low)..offset(high), &fresh);
        text.0.splice(
            low..high,
            fresh.chars().map(|decoded| Glyph {
                decoded,
                raw: canonical(decoded),
            }),
        );
        text.keep_surrogates_apart();
    }

    fn object(&mut self, members: &mut Vec<(Text, Document)>, index: u32, action: Option<&Action>) {
        let span = self.tape.node(index).span();
        let places: Vec<(u32, u32)> = self.tape.members(index).collect();
        let mut kept = Vec::new();
        for ((name, mut value), (key, child)) in members.drain(..).zip(places) {
            if matches!(action, Some(Action::Remove))
                && self.actions.next().is_some_and(Option::is_some)
            {
                self.edits.remove_member(span, self.tape.node(key).span());
            } else {
                self.edit(&mut value, child);
                kept.push((name, value));
            }
        }
        if let Some(Action::Insert(last)) = action {
            let place = if *last {
                MemberPosition::Last
            } else {
                MemberPosition::First
            };
            self.edits
                .insert_member(span, place, &self.fresh.decoded(), b"[1]");
            let member = (
                Text::plain(&self.fresh.decoded()),
                Document::Array(vec![Document::Number("1".to_owned())]),
            );
            kept.insert(if *last { kept.len() } else { 0 }, member);
        }
        *members = kept;
    }
}

/// How an edit writes a character.
fn canonical(decoded: char) -> String {
    let quoted = countersign_tape::quote(&decoded.to_string());
    String::from_utf8(quoted[1..quoted.len() - 1].to_vec()).expect("UTF-8")
}

/// Every string that neither edit touched is spelt as before, and so is every edited one outside its range.
fn spelt_alike(tape: &Tape<'_>, index: u32, document: &Document) -> bool {
    match document {
        Document::Text(text) => tape.raw(index) == text.render(),
        Document::Array(elements) => tape
            .children(index)
            .zip(elements)
            .all(|(child, element)| spelt_alike(tape, child, element)),
        Document::Object(members) => tape
            .members(index)
            .zip(members)
            .all(|((_, child), (_, value))| spelt_alike(tape, child, value)),
        Document::Word(word) => tape.raw(index) == *word,
        Document::Number(number) => tape.raw(index) == number,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_equal_the_same_edits_on_a_document(
        mut document in document(),
        gaps in proptest::collection::vec(spaces(), 1..6),
        actions in proptest::collection::vec(proptest::option::weighted(0.6, action()), 1..20),
        fresh in text(),
    ) {
        let original = document.render(&gaps);
        let tape = parse(&original);
        let mut editor = Editor { tape: &tape, edits: Edits::new(original.as_bytes()), actions: actions.iter().cycle(), fresh: &fresh };
        editor.edit(&mut document, 0);
        let untouched = editor.edits.is_empty();
        let edited = editor.edits.apply().expect("no overlap");
        let result = output(&edited);
        let tape = parse(&result);
        prop_assert_eq!(&Document::read(&tape, 0), &document, "{} -> {}", original, result);
        prop_assert!(spelt_alike(&tape, 0, &document), "{} -> {}", original, result);
        if untouched {
            prop_assert_eq!(edited.segments(), &[Segment::Borrowed(original.as_bytes())]);
        }
    }
}
