//! Cleaning through inspection: the sanitiser's own proof carried to every place of a message that a model may read,
//! with the same oracle, which shares no code and no pattern with the crate.

#![expect(clippy::unnecessary_wraps, reason = "the signature of a trial")]

mod boundaries;
mod places;
mod results;
mod survival;

use countersign_inspect::config::{OutputSanitisation, RawOutputSanitisation};
use countersign_inspect::{
    Contract, Examined, Inspected, Mode, Policy, Randomness, RawReply, Sanitisation, Screening,
    SkipReason, Source, ToolName, examine,
};
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "sanitise::no token survives in any carrier",
            survival::no_token_survives,
        ),
        Trial::test(
            "sanitise::no token survives in strings that are no known texts",
            survival::no_token_survives_in_other_strings,
        ),
        Trial::test(
            "sanitise::cleaning twice is cleaning once",
            survival::twice_is_once,
        ),
        Trial::test(
            "sanitise::exactly one boundary pair",
            boundaries::one_boundary_pair,
        ),
        Trial::test(
            "sanitise::texts of prompts and resources are framed and cut without a hit",
            boundaries::prompts_and_resources_are_framed,
        ),
        Trial::test(
            "sanitise::no boundary without randomness",
            boundaries::no_guessable_boundary,
        ),
        Trial::test(
            "sanitise::a keyed nonce is the same for the same text",
            boundaries::keyed_nonce,
        ),
        Trial::test(
            "sanitise::bytes that were not cleaned stay",
            results::untouched_bytes,
        ),
        Trial::test(
            "sanitise::classifiers see clean unwrapped text",
            results::classifier_texts,
        ),
        Trial::test(
            "sanitise::structured content is held to its schema after cleaning",
            results::revalidated,
        ),
        Trial::test(
            "sanitise::a text twin says what the structured value says",
            results::twins_agree,
        ),
        Trial::test(
            "sanitise::a moved value is cleaned like text",
            results::moved_value,
        ),
        Trial::test(
            "sanitise::many hits are few findings",
            results::bounded_findings,
        ),
    ]
}

/// Counts up, so that tests are the same every time.
struct Counter(std::cell::Cell<u8>);

impl Randomness for Counter {
    fn fresh(&self) -> Option<[u8; 16]> {
        self.0.set(self.0.get().wrapping_add(1));
        Some([self.0.get(); 16])
    }

    fn secret(&self) -> Option<[u8; 32]> {
        Some([7; 32])
    }
}

fn counter() -> Counter {
    Counter(std::cell::Cell::new(0x40))
}

fn compiled(block: &str) -> Sanitisation {
    let block: RawOutputSanitisation = serde_json::from_str(block).expect("a block");
    Sanitisation::compile(&OutputSanitisation::resolve([&block])).expect("it compiles")
}

fn policy(block: &str) -> Policy {
    Policy {
        sanitisation: compiled(block),
        ..Policy::default()
    }
}

fn strict(block: &str) -> Policy {
    let mut policy = policy(block);
    policy.output.mode = Mode::Strict;
    policy
}

fn examined(message: &str, policy: &Policy) -> Examined {
    let contract = Contract::undeclared(ToolName::on_server("web", "fetch"));
    let raw = RawReply::new(message.to_owned(), Source::default());
    examine(raw, &contract, policy)
}

fn inspect(message: &str, policy: &Policy) -> Inspected {
    let skipped = Screening::skipped(SkipReason::NotConfigured);
    examined(message, policy).conclude_with(skipped, &counter())
}

fn emitted(message: &str, policy: &Policy) -> Value {
    let bytes = inspect(message, policy).emitted().into_bytes();
    serde_json::from_slice(&bytes).expect("JSON leaves")
}
