//! No token survives, wherever it stands.

use std::io::Write as _;

use countersign_inspect::{Listing, Mode, Note, NotePolicy, Policy, Sanitisation};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::places::{OTHER_PLACES, PLACES, TextLocation};
use super::{emitted, inspect, policy, strict};
use crate::oracle::Oracle;
use crate::transforms::{CARRIERS, TRANSFORMS};

/// Every string of a message that left, and the texts of its blocks joined as a host may join them.
fn said(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => all.push(text.clone()),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                all.extend(members.keys().cloned());
                open.extend(members.values());
            }
            _ => {}
        }
    }
    let texts = value["content"].as_array().into_iter().flatten();
    let texts = texts.filter_map(|block| block["text"].as_str());
    all.push(texts.collect());
    all
}

/// Puts disguised tokens into places in turn; how many messages there were, and how many had a live token before.
fn in_places(
    oracle: &Oracle,
    places: &[TextLocation],
    policy: impl Fn(&str) -> Policy,
) -> Result<(u32, u32), Failed> {
    let policies: Vec<Policy> = places.iter().map(|(_, _, block)| policy(block)).collect();
    let (mut cases, mut alive_before) = (0_u32, 0_u32);
    // Every third token: the sanitiser's own tests take all of them.
    for (number, token) in oracle.tokens().iter().step_by(3).enumerate() {
        for (index, (disguise, transform)) in TRANSFORMS.iter().enumerate() {
            let turn = number * TRANSFORMS.len() + index;
            let (_, texts) = CARRIERS[turn % CARRIERS.len()];
            let texts = texts(&transform(&token.text));
            let place = turn % places.len();
            let (name, message, _) = &places[place];
            let message = message(&texts);
            cases += 1;
            alive_before += u32::from(
                said(&message)
                    .iter()
                    .any(|text| oracle.live(text).is_some()),
            );
            let left = emitted(&message.to_string(), &policies[place]);
            let text = said(&left).join("\n");
            let live = oracle.live(&text).map(|token| ("as it is", token));
            if let Some((how, live)) = live.or_else(|| oracle.live_downstream(&text)) {
                return Err(format!("{disguise} in {name}: {live:?} {how} in {text:?}").into());
            }
        }
    }
    Ok((cases, alive_before))
}

pub(super) fn no_token_survives_in_other_strings() -> Result<(), Failed> {
    // Off: a shape that MCP does not know is forwarded, and what is in it is cleaned all the same.
    let off = |block: &str| {
        let mut policy = policy(block);
        policy.output.mode = Mode::Off;
        policy
    };
    let (cases, alive_before) = in_places(&Oracle::new(), OTHER_PLACES, off)?;
    assert!(cases > 4000 && alive_before > 500);
    Ok(())
}

pub(super) fn no_token_survives() -> Result<(), Failed> {
    let oracle = Oracle::new();
    let (cases, alive_before) = in_places(&oracle, PLACES, strict)?;
    let listings = in_listings(&oracle)?;
    writeln!(
        std::io::stderr(),
        "carriers: {cases} messages and {listings} listings, {alive_before} messages alive before, none after"
    )?;
    assert!(cases > 4000 && alive_before > 500);
    Ok(())
}

/// The same for what a server says about itself, and for its notifications.
fn in_listings(oracle: &Oracle) -> Result<u32, Failed> {
    let default = Sanitisation::default();
    let mut cases = 0;
    for token in oracle.tokens().iter().step_by(11) {
        for (disguise, transform) in TRANSFORMS.iter().step_by(2) {
            let text = transform(&token.text);
            let tool = json!({"name":text,"title":text,"description":text,"inputSchema":{"type":"object","properties":{"x":{"description":text},text.clone():{"enum":[text],"default":text,"examples":[text],"pattern":text}},"required":[text]}});
            let described = Listing::text_block(tool.to_string(), &default);
            let note = json!({"jsonrpc":"2.0","method":"notifications/message","params":{"level":text,"data":[text],text.clone():1}});
            let note = Note::admit(note.to_string(), &NotePolicy::default());
            let note = note.ok_or("the note was dropped")?;
            let listings = [
                Listing::tool(tool.to_string(), &default).bytes().clone(),
                Listing::instructions(json!(text).to_string(), &default)
                    .bytes()
                    .clone(),
                note.bytes().clone(),
                json!(String::from_utf8_lossy(described.bytes()))
                    .to_string()
                    .into(),
            ];
            for listing in listings {
                cases += 1;
                let left: Value = serde_json::from_slice(&listing)?;
                let text = said(&left).join("\n");
                if oracle.live(&text).is_some() || oracle.live_downstream(&text).is_some() {
                    return Err(format!("{disguise}: {text:?}").into());
                }
            }
        }
    }
    Ok(cases)
}

pub(super) fn twice_is_once() -> Result<(), Failed> {
    let oracle = Oracle::new();
    for block in ["{}", r#"{"structured":"report"}"#] {
        let policy = policy(block);
        for (number, token) in oracle.tokens().iter().enumerate().step_by(5) {
            let (_, transform) = TRANSFORMS[number % TRANSFORMS.len()];
            let text = transform(&token.text);
            let result = json!({"content":[{"type":"text","text":text},{"type":"text","text":"b"}],"structuredContent":{"s":text}});
            let once = inspect(&result.to_string(), &policy).emitted().into_bytes();
            let once = std::str::from_utf8(&once)?;
            let twice = inspect(once, &policy).emitted().into_bytes();
            assert_eq!(std::str::from_utf8(&twice)?, once);
        }
    }
    Ok(())
}
