//! Generated patterns and texts: every engine agrees with the reference.

use proptest::prelude::*;

use super::{compile, oracle, reference};
use crate::pattern::simulation::Simulation;
use crate::pattern::table::Table;
use crate::pattern::{Pattern, PatternLimits, parser};

/// One character of a pattern or of a text: few, so that they meet, and of every UTF-8 length.
fn character() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "b", "1", " ", "-", "_", "é", "\u{2028}", "🐲", "\n",
    ])
}

fn text() -> impl Strategy<Value = String> {
    let stretch = (character(), prop_oneof![8 => 1..2_usize, 1 => 20..90_usize])
        .prop_map(|(character, count)| character.repeat(count));
    prop::collection::vec(stretch, 0..12).prop_map(|parts| parts.concat())
}

fn single() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => character().prop_map(|c| if c == "-" { r"\-".to_owned() } else { c.to_owned() }),
        3 => prop::sample::select(vec![
            "[ab]", "[^a]", "[a-z]", "[0-9]", r"\d", r"\w", r"\W", r"\s", r"\S", ".", "[^]", "[]", r"\p{L}",
            r"[\p{L}\d]", "[é🐲]", r"\uD83D\uDC32", r"\uD83D", r"[\w-]",
        ]).prop_map(str::to_owned),
    ]
}

fn quantifier() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just(""),
        9 => prop::sample::select(vec!["?", "*", "+", "{2}", "{0,2}", "{1,3}", "{2,}", "*?", "{0}"]),
        1 => prop::sample::select(vec!["{25}", "{20,70}", "{30,}", "{0,40}"]),
    ]
}

fn quantified(atom: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (atom, quantifier()).prop_map(|(atom, quantifier)| atom + quantifier)
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        12 => quantified(single()),
        1 => prop::sample::select(vec!["^", "$", r"\b", r"\B"]).prop_map(str::to_owned),
    ];
    let body = leaf.prop_recursive(3, 24, 4, |inner| {
        let sequence = prop::collection::vec(inner.clone(), 0..4).prop_map(|parts| parts.concat());
        let choice = prop::collection::vec(inner, 1..4).prop_map(|branches| branches.join("|"));
        prop_oneof![
            2 => sequence.clone(),
            1 => quantified(sequence.prop_map(|body| format!("(?:{body})"))),
            1 => quantified(choice.prop_map(|body| format!("({body})"))),
        ]
    });
    let sequence = prop::collection::vec(body, 0..4).prop_map(|parts| parts.concat());
    // Short bodies often, so that literals and runs occur.
    let body = prop_oneof![1 => quantified(single()), 4 => sequence];
    (any::<bool>(), body, any::<bool>()).prop_map(|(start, body, end)| {
        format!(
            "{}{body}{}",
            if start { "^" } else { "" },
            if end { "$" } else { "" }
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree_with_the_reference(source in pattern(), texts in prop::collection::vec(text(), 1..6)) {
        // A generated pattern has no bound on its length.
        let limits = PatternLimits { max_bytes: usize::MAX, ..PatternLimits::default() };
        let tree = parser::parse(&source, &limits).expect("only valid patterns are generated");
        // Nested large counts may be too large; all the rest must compile.
        let Ok(simulation) = Simulation::new(&tree, limits.max_compiled) else {
            prop_assume!(false);
            unreachable!("the case was rejected");
        };
        let pattern = Pattern::compile(&source, &limits).expect("what can be simulated compiles");
        let table = Table::new(&simulation, limits.max_table_work);
        let verdicts = oracle::matches(&tree, &texts);
        for (text, verdict) in texts.iter().zip(verdicts) {
            let expected = reference::is_match(&tree, text);
            prop_assert_eq!(verdict, expected, "oracle: {:?} on {:?}", source, text);
            prop_assert_eq!(pattern.is_match(text), expected, "{:?} on {:?}", source, text);
            prop_assert_eq!(simulation.is_match(text), expected, "simulation: {:?} on {:?}", source, text);
            if let Some(table) = &table {
                prop_assert_eq!(table.is_match(text), expected, "table: {:?} on {:?}", source, text);
            }
        }
    }

    #[test]
    fn any_text_is_compiled_or_refused(source in r"[\PC\\(){}\[\]|?*+^$.,=!<>:a-z0-9\-]{0,40}", text in text()) {
        if let Ok(pattern) = compile(&source) {
            let tree = parser::parse(&source, &PatternLimits::default()).expect("it compiled");
            prop_assert_eq!(pattern.is_match(&text), reference::is_match(&tree, &text));
        }
    }
}
