//! Schemas and instances grown from the fuzzer's choices, judged by three engines that must agree.

#![no_main]

#[path = "../../crates/schema/tests/support/conform.rs"]
mod conform;
#[path = "../../crates/schema/tests/support/engines.rs"]
mod engines;
#[path = "../../crates/schema/tests/support/entropy.rs"]
#[expect(dead_code, reason = "a fuzzer has bytes and no seed")]
mod entropy;
#[path = "../../crates/schema/tests/support/generate/schema.rs"]
mod generate;
#[path = "../../crates/schema/tests/support/reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;

use engines::{Engines, documented};
use entropy::Entropy;

fuzz_target!(|data: &[u8]| {
    // One half chooses the schema, the other the instances, so that a mutation changes one of them.
    let (first, second) = data.split_at(data.len() / 2);
    let mut coverage = generate::Coverage::new();
    let grow = match first.split_first() {
        Some((choice, _)) if choice % 4 == 3 => generate::early_schema,
        _ => generate::schema,
    };
    let schema = grow(&mut Entropy::Bytes(first), &mut coverage);
    let text = schema.to_string();
    let engines = Engines::compile(&text);
    let mut entropy = Entropy::Bytes(second);
    for _ in 0..3 {
        let value = generate::instance(&schema, &mut entropy);
        let instance = generate::text(&value, &mut entropy);
        let value = serde_json::from_str(&instance).expect("the generator writes JSON");
        let said = engines.judge(&instance);
        assert!(
            said.iter().all(|one| *one == said[0]) || documented(&schema, &value, said).is_some(),
            "ours, jsonschema, boon: {said:?}\nschema {text}\ninstance {instance}"
        );
    }
});
