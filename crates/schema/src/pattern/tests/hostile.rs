//! Patterns and texts made to be slow, big or deep. Nothing here measures time: what is not linear does not end.

use super::{Pattern, PatternError, PatternLimits, compile};

const COMPILED_SIZE: PatternError = PatternError::TooLarge {
    what: "compiled size",
};

/// Runs on the smallest stack the workspace promises to live with.
fn on_small_stack(work: fn()) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no panic");
}

#[test]
fn repetition_bombs_are_refused() {
    for source in [
        "(a{1000}){1000}",
        "^((a{1,1000}){1,1000}){1,1000}$",
        "(((((a{99}){99}){99}){99}){99}){99}",
        "(?:a{4294967294}|b)c",
        "x(?:[]{4294967295}|b)c",
        r"b(?:\p{L}|\P{N}b){0,5000}b",
        "x(?:a{4096}|b)c",
    ] {
        assert_eq!(compile(source).err(), Some(COMPILED_SIZE), "{source}");
    }
}

#[test]
fn repetitions_of_nothing_cost_nothing() {
    for source in [
        "(?:(?:(?:){1000}){1000}){1000}",
        "(?:(?:|){4294967295}){4294967295}",
        r"(?:(?:\b){4294967295}){4294967295}",
        "(?:(?:a{0}){4294967295}){4294967295}",
    ] {
        let pattern = compile(&format!("x{source}y")).expect("a small pattern");
        assert!(pattern.memory_usage() < 4096, "{source}");
    }
}

#[test]
fn ambiguous_repetition_stays_linear() {
    let text = "x".repeat(1 << 20);
    for source in [
        "(x+x+)+y",
        "((x*)*)*y",
        "^(x|x|x)*y$",
        "(?:x?){50}x{50}y",
        "(x*)*(x*)*(x*)*y",
    ] {
        let pattern = compile(source).expect("a valid pattern");
        assert!(!pattern.is_match(&text), "{source}");
        assert!(pattern.is_match(&format!("{text}y")), "{source}");
    }
}

#[test]
fn five_megabytes_are_judged() {
    let digits = "0123456789".repeat(500_000);
    let letters = "é".repeat(2_500_000);
    for (source, text) in [
        ("^[0-9]+$", &digits),
        ("^[0-9]{1,5000000}$", &digits),
        (r"^(?:\d{5})*$", &digits),
        ("[0-9]$", &digits),
        (r"^\p{L}+$", &letters),
        ("^[^a-z]*$", &letters),
        (r"\B$", &letters),
    ] {
        let pattern = compile(source).expect("a valid pattern");
        assert!(pattern.is_match(text), "{source}");
        assert_eq!(pattern.weight(), 1, "{source}");
    }
}

#[test]
fn a_position_inside_a_character_costs_one_pass() {
    let text = format!("{}é", "a.".repeat(2_500_000)) + "a";
    let pattern = compile(r"\B(?:|zz)").expect("a valid pattern");
    assert!(
        pattern.is_match(&text),
        "'.é' has no word character on either side"
    );
    let text = format!("{}aéa", "a.".repeat(2_500_000));
    assert!(!pattern.is_match(&text));
}

#[test]
fn exploding_states_are_simulated() {
    let pattern = compile("[ab]*a[ab]{400}c$").expect("a valid pattern");
    let mut state = 1_u32;
    let text: String = (0..20_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            if state & 1 == 0 { 'a' } else { 'b' }
        })
        .collect();
    assert!((2..64).contains(&pattern.weight()));
    assert!(!pattern.is_match(&text));
    assert!(pattern.is_match(&format!("a{}c", &text[..400])));
}

#[test]
fn compilation_is_bounded() {
    let many_sets: Vec<String> = ('\u{100}'..'\u{200}')
        .zip('\u{900}'..)
        .map(|(low, high)| format!("[{low}-{high}]"))
        .take(90)
        .collect();
    let many_sets = many_sets.concat();
    for source in [
        format!("(?:a{}){{4000}}x", r"\b".repeat(400)),
        r"^x\b(?:a?b?c?d?e?f?g?h?){500}\B$".to_owned(),
        "x(?:[ab]?){4000}y".to_owned(),
        "x(?:(?:[ab]?){60}c*){60}y".to_owned(),
        r"(?:(?:^|$|\b|\B|a){9}){9}".repeat(30),
        format!("(?:{many_sets}){{30}}y"),
        format!("x{}a?b?c?d?{}y", "(?:".repeat(49), ")*".repeat(49)),
    ] {
        if let Err(error) = compile(&source) {
            assert_eq!(error, COMPILED_SIZE, "{source}");
        }
    }
}

#[test]
fn weight_follows_the_work() {
    let weight = |source: &str| compile(source).expect("a valid pattern").weight();
    assert_eq!(weight("^[a-z]{1,100000}$"), 1);
    assert_eq!(weight(r"(?:\p{L}|\p{N}|-){3,40}!"), 1);
    assert_eq!(weight("a.{10}b"), 1);
    assert_eq!(weight("a.{30}b"), 2);
    let (hundreds, thousands) = (weight("a.{400}b"), weight("a.{4000}b"));
    assert!(2 < hundreds && hundreds < thousands && thousands < 64);
}

#[test]
fn memory_is_bounded() {
    let limits = PatternLimits::default();
    for source in [
        "[ab]*a[ab]{400}c$".to_owned(),
        r"\p{L}{0,40}x".to_owned(),
        r"\p{L}".repeat(60),
        format!("[{}]", r"\p{L}\P{N}".repeat(100)),
        "(?:a|b|c){1,20}".repeat(50),
    ] {
        match compile(&source) {
            Ok(pattern) => assert!(
                pattern.memory_usage() <= limits.max_compiled,
                "{source}: {}",
                pattern.memory_usage()
            ),
            Err(error) => assert_eq!(error, COMPILED_SIZE, "{source}"),
        }
    }
}

#[test]
fn depth_is_refused_or_survived() {
    on_small_stack(|| {
        let limits = PatternLimits {
            max_bytes: usize::MAX,
            max_nesting: usize::MAX,
            ..PatternLimits::default()
        };
        for source in [
            "(".repeat(1024),
            ")".repeat(1024),
            "[".repeat(1024),
            "(?:".repeat(300) + &")".repeat(300),
            "(a|".repeat(200) + &")*".repeat(200),
            "(".repeat(1_000_000),
        ] {
            assert!(compile(&source).is_err());
            assert!(Pattern::compile(&source, &limits).is_err() || source.starts_with('['));
        }
        let deep = "(?:a|b".repeat(100) + &")*c".repeat(100);
        assert!(Pattern::compile(&deep, &limits).is_ok());
    });
}

#[test]
fn long_patterns_are_survived_when_limits_are_lifted() {
    let limits = PatternLimits {
        max_bytes: usize::MAX,
        ..PatternLimits::default()
    };
    for source in [
        "{".repeat(1 << 18),
        "a?".repeat(1 << 17),
        "|".repeat(1 << 18),
        r"\p{L}".repeat(1 << 15),
        format!("[{}]", r"\p{L}".repeat(1 << 15)),
        format!("[{}]", "é".repeat(1 << 17)),
        "a{1".repeat(1 << 16),
    ] {
        if let Err(error) = Pattern::compile(&source, &limits) {
            assert_eq!(error, COMPILED_SIZE);
        }
    }
}
