//! Decisions about callers and items, by the rules of a file.

use countersign_config::{Environment, parse};

use super::*;

fn rules(access: &str) -> AccessRules {
    let file = format!(
        r#"{{"access": {access}, "mcpServers": {{"crm": {{"command": "x", "trust_annotations": true}}, "wiki": {{"command": "x"}}}}}}"#
    );
    let (config, _) = parse(&file, &Environment::empty()).expect("a configuration");
    AccessRules::new(&config).expect("rules")
}

/// A caller, its groups and the scopes of its token.
struct Person(&'static str, BTreeSet<String>, Option<BTreeSet<String>>);

impl Person {
    fn new(name: &'static str, groups: &[&str], scopes: Option<&[&str]>) -> Self {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self(name, set(groups), scopes.map(set))
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            name: self.0,
            groups: &self.1,
            scopes: self.2.as_ref(),
        }
    }
}

fn decided(rules: &AccessRules, person: &Person, item: &str) -> String {
    decided_with(rules, person, item, None)
}

fn decided_with(rules: &AccessRules, person: &Person, item: &str, hints: Option<Hints>) -> String {
    let item = Item {
        hints,
        ..Item::parse(item).expect(item)
    };
    match rules.decide(person.subject(), item) {
        AccessDecision::Permit(by) => format!("permit {by}"),
        AccessDecision::Needs(by) => format!("needs {:?}", rules.scopes(by)),
        AccessDecision::Denied(by) => format!("denied {by}"),
    }
}

#[test]
fn allows_unite_and_any_deny_wins() {
    let rules = rules(
        r#"{"default": "deny", "rules": [
            {"callers": ["group:build"], "allow": ["crm:get_*"]},
            {"callers": ["key:ci"], "allow": ["wiki:*"], "deny": ["crm:get_secret"]},
            {"callers": ["*"], "deny": ["*:delete_*"]}]}"#,
    );
    let ci = Person::new("key:ci", &["build"], None);
    for (item, decision) in [
        ("crm:get_contact", "permit access.rules[0]"),
        ("crm:get_secret", "denied access.rules[1]"),
        ("crm:update", "denied access.default"),
        ("wiki:delete_page", "denied access.rules[2]"),
        ("wiki:page", "permit access.rules[1]"),
        ("wiki:prompt/review", "permit access.rules[1]"),
        ("wiki:resource/file:///a", "permit access.rules[1]"),
        ("crm:prompt/get_contact", "denied access.default"),
    ] {
        assert_eq!(decided(&rules, &ci, item), decision, "{item}");
    }
    let other = Person::new("key:cd", &["build"], None);
    assert_eq!(
        decided(&rules, &other, "crm:get_secret"),
        "permit access.rules[0]"
    );
    assert_eq!(
        decided(&rules, &other, "wiki:page"),
        "denied access.default"
    );
    assert!(rules.may_reach(ci.subject(), "wiki") && !rules.may_reach(other.subject(), "wiki"));
}

#[test]
fn what_no_rule_speaks_of_follows_the_default() {
    let rules = rules(
        r#"{"default": "allow", "rules": [{"callers": ["corp:*"], "deny": ["wiki:*", "crm:x"]}]}"#,
    );
    let person = Person::new("corp:1", &[], Some(&[]));
    assert_eq!(decided(&rules, &person, "crm:a"), "permit access.default");
    assert_eq!(decided(&rules, &person, "crm:x"), "denied access.rules[0]");
    assert!(!rules.may_reach(person.subject(), "wiki") && rules.may_reach(person.subject(), "crm"));
    let key = Person::new("key:ci", &[], None);
    assert_eq!(decided(&rules, &key, "wiki:a"), "permit access.default");
}

#[test]
fn scopes_are_asked_of_tokens_only() {
    let rules = rules(
        r#"{"default": "deny", "rules": [
            {"callers": ["*"], "allow": ["crm:update_*"], "scopes": ["crm:write", "crm:read"]},
            {"callers": ["*"], "allow": ["crm:*"], "scopes": ["crm:all"]}]}"#,
    );
    let token = |scopes: &[&str]| Person::new("corp:1", &[], Some(scopes));
    let update = |person: &Person| decided(&rules, person, "crm:update_x");
    assert_eq!(update(&token(&[])), r#"needs ["crm:all"]"#);
    assert_eq!(update(&token(&["crm:write"])), r#"needs ["crm:all"]"#);
    assert_eq!(
        update(&token(&["crm:write", "crm:read"])),
        "permit access.rules[0]"
    );
    assert_eq!(update(&token(&["crm:all"])), "permit access.rules[1]");
    let key = Person::new("key:ci", &[], None);
    assert_eq!(update(&key), "denied access.default");
    assert!(!rules.may_reach(key.subject(), "crm"));
}

#[test]
fn annotations_count_only_where_their_server_is_trusted() {
    let rules = rules(
        r#"{"default": "deny", "rules": [
            {"callers": ["*"], "allow": ["*:*"], "where": {"read_only": true}},
            {"callers": ["key:a"], "allow": ["*:*"], "where": {"destructive": false}}]}"#,
    );
    let b = Person::new("key:b", &[], None);
    let reads = Some(Hints::new([Some(true), Some(true), None, None]));
    let writes = Some(Hints::new([None, Some(false), None, None]));
    let silent = Some(Hints::new([None; 4]));
    let permit = "permit access.rules[0]";
    let denied = "denied access.default";
    assert_eq!(decided_with(&rules, &b, "crm:x", reads), permit);
    assert_eq!(decided_with(&rules, &b, "crm:x", writes), denied);
    assert_eq!(decided_with(&rules, &b, "crm:x", silent), denied);
    assert_eq!(decided_with(&rules, &b, "crm:x", None), denied);
    assert_eq!(decided_with(&rules, &b, "wiki:x", reads), denied);
    assert_eq!(decided_with(&rules, &b, "crm:prompt/x", reads), denied);
    let a = Person::new("key:a", &[], None);
    assert_eq!(
        decided_with(&rules, &a, "crm:x", writes),
        "permit access.rules[1]"
    );
    assert_eq!(decided_with(&rules, &a, "crm:x", silent), denied);
    let item = Item::parse("crm:x").expect("an item");
    assert_eq!(
        rules.waits_for_annotations(b.subject(), item),
        Some(RulePath::Rule(0))
    );
    let item = Item::parse("wiki:x").expect("an item");
    assert_eq!(rules.waits_for_annotations(b.subject(), item), None);
}

#[test]
fn the_order_of_rules_has_no_meaning() {
    let texts = [
        r#"{"callers": ["*"], "allow": ["crm:*"], "scopes": ["b"]}"#,
        r#"{"callers": ["corp:*"], "allow": ["*:a*"], "scopes": ["a"]}"#,
        r#"{"callers": ["key:*"], "allow": ["*:*"], "deny": ["crm:ab"]}"#,
        r#"{"callers": ["group:g"], "deny": ["*:b*"]}"#,
    ];
    let people = [
        Person::new("corp:1", &["g"], Some(&["a"])),
        Person::new("corp:2", &[], Some(&[])),
        Person::new("key:1", &[], None),
        Person::new("key:2", &["g"], None),
    ];
    let kind = |rules: &AccessRules, person: &Person, item: &str| {
        let item = Item::parse(item).expect(item);
        match rules.decide(person.subject(), item) {
            AccessDecision::Permit(_) => "permit".to_owned(),
            AccessDecision::Needs(by) => format!("{:?}", rules.scopes(by)),
            AccessDecision::Denied(_) => "denied".to_owned(),
        }
    };
    let mut order = [0, 1, 2, 3];
    let mut first: Option<Vec<String>> = None;
    for turn in 0..24 {
        order.swap(turn % 4, (turn * 3 + 1) % 4);
        let listed = order.map(|index| texts[index]).join(",");
        let rules = rules(&format!(r#"{{"default": "deny", "rules": [{listed}]}}"#));
        let mut all = Vec::new();
        for person in &people {
            for item in ["crm:ab", "crm:b", "wiki:a", "wiki:c", "crm:prompt/a"] {
                all.push(kind(&rules, person, item));
            }
        }
        assert_eq!(*first.get_or_insert(all.clone()), all, "{listed}");
    }
}
