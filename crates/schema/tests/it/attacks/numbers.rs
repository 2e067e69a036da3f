//! Numbers beyond every machine type, in schemas and in instances.

use countersign_schema::Verdict::{Exhausted, Invalid, Valid};

use super::{Attack, AttackOutcome};

use AttackOutcome::Judged;

#[test]
fn huge_lengths_and_counts() {
    for keyword in ["minLength", "minItems", "minProperties", "minContains"] {
        for bound in [
            "99999999999999999999",
            "18446744073709551616",
            "1e30",
            "1e308",
            "4294967296",
        ] {
            let instance = match keyword {
                "minLength" => "\"abc\"",
                "minProperties" => r#"{"a":1}"#,
                _ => "[1]",
            };
            Attack::new(
                format!("{keyword} {bound}"),
                format!(r#"{{"contains":true,"{keyword}":{bound}}}"#),
                instance,
                Invalid,
            )
            .gives(Judged(Invalid), Judged(Invalid));
        }
    }
    for keyword in ["maxLength", "maxItems", "maxProperties", "maxContains"] {
        Attack::new(
            format!("{keyword} 1e30"),
            format!(r#"{{"{keyword}":1e30}}"#),
            "\"abc\"",
            Valid,
        )
        .gives(Judged(Valid), Judged(Valid));
    }
}

#[test]
fn exponents_beyond_any_float() {
    for (number, is_small) in [("1e400", false), ("1e-400", true)] {
        Attack::new(
            format!("maximum 5 on {number}"),
            r#"{"maximum":5}"#,
            number,
            if is_small { Valid } else { Invalid },
        )
        .gives(
            Judged(if is_small { Valid } else { Invalid }),
            Judged(if is_small { Valid } else { Invalid }),
        );
    }
    Attack::new(
        "1e400 is an integer",
        r#"{"type":"integer","multipleOf":3}"#,
        "1e400",
        Invalid,
    )
    .gives(Judged(Invalid), Judged(Invalid));
    Attack::new(
        "3e400 is a multiple of 3",
        r#"{"type":"integer","multipleOf":3}"#,
        "3e400",
        Valid,
    )
    .gives(Judged(Valid), Judged(Valid));
    // Past an exponent of a million there may be no answer, but there is an end.
    for schema in [
        r#"{"type":"integer"}"#,
        r#"{"multipleOf":7}"#,
        r#"{"multipleOf":0.01}"#,
        r#"{"minimum":1e999999998}"#,
        r#"{"const":1e999999999}"#,
        r#"{"enum":[1e999999999,1]}"#,
        r#"{"exclusiveMaximum":1e-999999999}"#,
    ] {
        for number in [
            "1e999999999",
            "1e-999999999",
            "-1E+99999999999999999999",
            "0e999999999",
        ] {
            let attack = Attack::new(format!("{schema} on {number}"), schema, number, Exhausted);
            for limits in [
                countersign_schema::Limits::default(),
                countersign_schema::Limits::lifted(),
            ] {
                let (_, fuel) = attack.judge(&limits);
                assert!(fuel < 1_000, "{}: {fuel}", attack.name);
            }
        }
    }
}

#[test]
fn ten_thousand_digits() {
    let long = "7".repeat(10_000);
    let longer = format!("{long}8");
    let fraction = format!("0.{}1", "0".repeat(10_000));
    for (schema, instance, verdict) in [
        (format!(r#"{{"minimum":{long}}}"#), longer.clone(), Valid),
        (format!(r#"{{"maximum":{long}}}"#), longer.clone(), Invalid),
        (
            format!(r#"{{"const":{long}}}"#),
            format!("{long}.000"),
            Valid,
        ),
        (
            format!(r#"{{"enum":[{long},{longer}]}}"#),
            format!("{longer}e0"),
            Valid,
        ),
        (r#"{"multipleOf":7}"#.to_owned(), long.clone(), Valid),
        (r#"{"multipleOf":7}"#.to_owned(), longer.clone(), Invalid),
        (r#"{"multipleOf":0.7}"#.to_owned(), long.clone(), Valid),
        (
            r#"{"type":"integer"}"#.to_owned(),
            fraction.clone(),
            Invalid,
        ),
        (
            r#"{"exclusiveMinimum":0}"#.to_owned(),
            fraction.clone(),
            Valid,
        ),
        (
            r#"{"uniqueItems":true}"#.to_owned(),
            format!("[{long},{longer},{fraction},{long}.0]"),
            Invalid,
        ),
    ] {
        Attack::new(
            format!("10,000 digits, {schema:.24}"),
            schema,
            instance,
            verdict,
        )
        .gives(Judged(verdict), Judged(verdict));
    }
}

#[test]
fn long_divisors_have_an_end() {
    for divisor in [
        "1e-400",
        "1e400",
        "0.0000000000000000000000000001",
        "1234567890123456789012345",
        "1e-999999999",
    ] {
        let schema = format!(r#"{{"items":{{"multipleOf":{divisor}}}}}"#);
        let instance = format!("[{}]", vec!["123456789.123456789"; 1_000].join(","));
        let attack = Attack::new(format!("multipleOf {divisor}"), schema, instance, Exhausted);
        for limits in [
            countersign_schema::Limits::default(),
            countersign_schema::Limits::lifted(),
        ] {
            let (answer, fuel) = attack.judge(&limits);
            assert!(fuel <= 1_000_000, "{}: {fuel} {answer:?}", attack.name);
        }
    }
}
