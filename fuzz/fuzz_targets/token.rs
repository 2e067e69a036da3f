//! A header, claims and a key set, one per line. They are read without a panic, and no token is accepted: its
//! signature is empty.

#![no_main]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_token::{Issuer, KeySet, Token};
use libfuzzer_sys::fuzz_target;

const RESOURCE: &str = "https://tools.example.com/mcp";
const NOW: u64 = 1_800_000_000;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (header, claims, keys) = (next(), next(), next());
    let issuer = Issuer {
        groups_claim: Some("/groups".to_owned()),
        ..Issuer::new("corp", "https://id.example.com")
    };
    drop(issuer.check_introspection(claims, RESOURCE, NOW));
    let keys = KeySet::parse(keys).unwrap_or_default();
    let encoded = |part| URL_SAFE_NO_PAD.encode(part);
    let made = format!("{}.{}.", encoded(header), encoded(claims));
    for text in [made, String::from_utf8_lossy(data).into_owned()] {
        if let Ok(token) = Token::parse(&text) {
            assert!(issuer.verify(&token, &keys, RESOURCE, NOW).is_err());
        }
    }
});
