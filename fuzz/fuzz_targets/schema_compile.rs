//! Any bytes as a schema, and a few values for what compiles: no panic, no overdraft, both faces agree.
//!
//! The first byte chooses limits, dialect and formats; a line that holds only `---` separates schema and instance.

#![no_main]

use countersign_schema::{Compiler, Dialect, Fuel, Limits};
use countersign_tape::Tape;
use libfuzzer_sys::fuzz_target;

const INSTANCES: [&str; 5] = [
    "null",
    r#"{"a":{"a":{"b":[1,"a"]}},"b":"","é":1e400}"#,
    r#"[[],[1,1.0],{"a":true},"\u0061"]"#,
    "-12345678901234567890.5e-3",
    r#""lorem \ud83d\ude00""#,
];

fuzz_target!(|data: &[u8]| {
    let Some((options, rest)) = data.split_first() else {
        return;
    };
    let marker = b"\n---\n";
    let cut = rest
        .windows(marker.len())
        .position(|window| window == marker);
    let (schema, instance) = match cut {
        Some(at) => (&rest[..at], Some(&rest[at + marker.len()..])),
        None => (rest, None),
    };
    let limits = if options & 1 == 0 {
        Limits::default()
    } else {
        Limits::lifted()
    };
    let dialect = match options & 22 {
        2 => Dialect::Draft7,
        4 => Dialect::Draft201909,
        16 => Dialect::Draft4,
        18 => Dialect::Draft6,
        _ => Dialect::Draft202012,
    };
    let compiler = Compiler::new()
        .limits(limits)
        .default_dialect(dialect)
        .assert_formats(options & 8 != 0);
    let Ok(schema) = compiler.compile(schema) else {
        return;
    };
    for instance in INSTANCES.iter().map(|text| text.as_bytes()).chain(instance) {
        let Ok(tape) = Tape::parse(instance, &countersign_tape::Limits::default()) else {
            continue;
        };
        let mut fuel = Fuel::for_instance(&tape, 1.0);
        let budget = fuel.remaining();
        let quick = schema.is_valid(&tape, &mut fuel);
        assert!(fuel.used() <= budget);
        let explained = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
        assert_eq!(quick, explained.verdict());
    }
});
