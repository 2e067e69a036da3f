//! Whatever is said to it, the gateway sends a client nothing that breaks the law of the boundary: no member at the top of
//! a message that the protocol does not have, and no live control token where a model may read it. The same runs as in
//! `fuzz/`, here over attacks that were tried by hand, the inspection corpus and generated messages.

use crate::law_of_boundary as boundary;

/// Generated inputs of each kind, unless `COUNTERSIGN_TEST_RUNS` says otherwise.
const GENERATED: u64 = 400;

/// Inputs that grow messages; a share of what is generated.
fn generated(share: u64) -> impl Iterator<Item = Vec<u8>> {
    let asked = std::env::var("COUNTERSIGN_TEST_RUNS").ok();
    let count = asked
        .and_then(|asked| asked.parse().ok())
        .unwrap_or(GENERATED);
    (0..count / share).map(|seed| {
        let mut entropy = boundary::Entropy::Seed(seed);
        let mut input = growing(seed).to_vec();
        input.extend((0..96).flat_map(|_| entropy.next().to_le_bytes()));
        input
    })
}

/// The choices of a run that grows messages: bits of the first byte say between whom, the second byte what is asked.
fn growing(seed: u64) -> [u8; 2] {
    let [first, second, ..] = seed.to_le_bytes();
    [first.rotate_left(1) | 1, second.wrapping_add(first)]
}

/// Runs every input and shows how the law was broken, the first few times.
fn keeps_the_law(run: fn(&[u8]) -> Result<(), String>, inputs: impl Iterator<Item = Vec<u8>>) {
    let broken: Vec<String> = inputs.filter_map(|input| run(&input).err()).collect();
    let few: Vec<&str> = broken.iter().take(20).map(String::as_str).collect();
    assert!(
        broken.is_empty(),
        "{} times\n{}",
        broken.len(),
        few.join("\n\n")
    );
}

#[test]
fn what_a_client_sends_brings_nothing_unlawful_back() {
    let inputs = boundary::seeds::client_bodies().chain(generated(1));
    keeps_the_law(boundary::client_body, inputs);
}

#[test]
fn lines_of_a_server_bring_nothing_unlawful_to_the_client() {
    let inputs = boundary::seeds::upstream_lines().chain(generated(1));
    keeps_the_law(boundary::upstream_line, inputs);
}

#[test]
fn event_streams_of_a_server_bring_nothing_unlawful_to_the_client() {
    let inputs = boundary::seeds::upstream_events().chain(generated(1));
    keeps_the_law(boundary::upstream_sse, inputs);
}

#[test]
fn json_replies_of_a_server_bring_nothing_unlawful_to_the_client() {
    let inputs = boundary::seeds::upstream_bodies().chain(generated(1));
    keeps_the_law(boundary::upstream_http, inputs);
}

#[test]
fn what_servers_say_about_their_tools_is_lawful() {
    let inputs = boundary::seeds::upstream_tools().chain(generated(20));
    keeps_the_law(boundary::upstream_tools, inputs);
}
