//! `access test`: what the rules of a file say about a caller, and which rule says it.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Folder;

const FILE: &str = r#"{"access": {"default": "deny", "rules": [
    {"callers": ["group:build", "cert:*"], "allow": ["*:*"], "deny": ["crm:delete_*"], "where": {"read_only": true}},
    {"callers": ["corp:*"], "allow": ["crm:update_*"], "scopes": ["crm:write"]},
    {"callers": ["key:ci"], "allow": ["crm:get_*", "crm:prompt/*"]},
    {"callers": ["group:night"], "allow": ["wiki:*"]}]},
  "callers": [
    {"name": "ci", "key_sha256": "0000000000000000000000000000000000000000000000000000000000000000", "groups": ["night"]}],
  "public_url": "https://tools.example.com",
  "auth": {"issuers": [{"name": "corp", "issuer": "https://id.example.com"}]},
  "mcpServers": {"crm": {"command": "x", "trust_annotations": true}, "wiki": {"command": "x"}}}"#;

fn folder() -> Folder {
    Folder::with(&[("c.json", FILE), ("open.json", "{}")])
}

#[test]
fn the_deciding_rule_is_named() {
    let folder = folder();
    let test = |line: &str| folder.countersign(&format!("access test --config c.json {line}"));
    assert_snapshot!(test("--caller key:ci crm:get_contact crm:prompt/review crm:put"), @r"
    exit: 1
    --- stdout
    crm:get_contact: allowed by access.rules[2]
    crm:prompt/review: allowed by access.rules[2]
    crm:put: denied: access.default
    --- stderr
    ");
    assert_snapshot!(test("--caller key:cd --group build crm:delete_contact crm:put wiki:put"), @r"
    exit: 1
    --- stdout
    crm:delete_contact: denied: access.rules[0]
    crm:put: denied: access.default; access.rules[0] allows it if its annotations fit, which are not known here
    wiki:put: denied: access.default
    --- stderr
    ");
    assert_snapshot!(test("--caller corp:1 crm:update_contact"), @r"
    exit: 1
    --- stdout
    crm:update_contact: needs scope crm:write (access.rules[1])
    --- stderr
    ");
    assert_snapshot!(test("--caller corp:1 --scope crm:write crm:update_contact"), @r"
    exit: 0
    --- stdout
    crm:update_contact: allowed by access.rules[1]
    --- stderr
    ");
    assert_snapshot!(test("--caller key:ci wiki:put"), @r"
    exit: 0
    --- stdout
    wiki:put: allowed by access.rules[3]
    --- stderr
    ");
    let ran = test("--caller key:ci -o json crm:put");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("one object");
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["rule"], "access.default");
    assert_eq!(test("--caller key:ci crm").code, Some(2));
    let open = folder.countersign("access test --config open.json --caller key:ci crm:put");
    assert_eq!(open.code, Some(0), "{open}");
}
