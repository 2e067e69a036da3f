//! Reads rules, and finds those that cannot mean what their author thinks: a misspelt server or caller, an `allow` that has no
//! effect.

use std::str::FromStr;

use countersign_inspect::nearest_word;

use super::{Access, AccessDefault, AccessRule, CallerPattern, ItemPattern};
use crate::callers::CallerConfig;
use crate::document::brief;
use crate::model::Config;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::setting::Keys;

/// Patterns of callers or of items.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature that `plain!` asks for"
)]
pub(super) fn read_patterns<T: FromStr<Err = Problem>>(
    reader: &mut Reader<'_, '_>,
    node: u32,
) -> Option<Vec<T>> {
    let elements: Vec<_> = reader.tape().children(node).collect();
    let patterns = elements.into_iter().filter_map(|element| {
        let pattern = reader.text(element).parse();
        reader.usable(element, pattern)
    });
    Some(patterns.collect())
}

/// Scopes, which stand in a header with spaces between them.
pub(super) fn read_scopes(reader: &mut Reader<'_, '_>, node: u32, scopes: &mut Vec<String>) {
    let elements: Vec<_> = reader.tape().children(node).collect();
    for element in elements {
        let scope = reader.text(element);
        let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if scope.is_empty() || !scope.bytes().all(fits) {
            let hint = "a scope is one word without spaces and quotes, like \"crm:write\"";
            reader.refuse(element, "not a scope", hint);
        }
        scopes.push(scope);
    }
}

/// One rule, with what is wrong with it alone.
pub(super) fn read_rule(reader: &mut Reader<'_, '_>, node: u32) -> AccessRule {
    let before = reader.problems.len();
    let mut rule = AccessRule::default();
    rule.read_keys(reader, node);
    if let Some(hold) = reader.member(node, "hold") {
        let hint = "remove it; deny the items, or give the tool's server a way to ask";
        let message = "\"hold\" is reserved for approvals, which this version does not have";
        reader.refuse(hold, message, hint);
    }
    if reader.problems.len() > before {
        // A list without its bad elements would be blamed for more than is wrong with it.
        return rule;
    }
    if rule.callers.is_empty() {
        let hint = "name them in \"callers\"; \"*\" is every caller";
        reader.refuse(node, "a rule needs callers", hint);
    }
    if rule.allow.is_empty() && rule.deny.is_empty() {
        let hint = "write \"allow\" or \"deny\" with items like \"server:tool\"";
        reader.refuse(node, "the rule neither allows nor denies anything", hint);
    } else if rule.allow.is_empty() {
        for key in ["scopes", "where"] {
            if let Some(place) = reader.member(node, key) {
                let message = format!("\"{key}\" narrows \"allow\", and this rule has none");
                let hint = "a deny holds always; remove it, or write what it allows";
                reader.refuse(place, message, hint);
            }
        }
    }
    refuse_void_allows(reader, node, &rule);
    rule
}

/// What a rule denies to its callers, it cannot allow them.
fn refuse_void_allows(reader: &mut Reader<'_, '_>, node: u32, rule: &AccessRule) {
    for (place, allowed) in elements(reader, node, "allow").into_iter().zip(&rule.allow) {
        if let Some(deny) = rule.deny.iter().find(|deny| deny.covers(allowed)) {
            let message = format!("the same rule denies it with \"{deny}\"");
            reader.refuse(place, message, "a deny always wins; remove one of them");
        }
    }
}

/// What is wrong with `access` as a whole, and with the servers its rules name.
pub(crate) fn check_access(reader: &mut Reader<'_, '_>, config: &Config) {
    let (access, Some(node)) = (&config.access, reader.member(0, "access")) else {
        return;
    };
    if !access.rules.is_empty() && reader.member(node, "default").is_none() {
        let hint = "write \"default\": \"deny\" to allow only what rules allow, or \"allow\" to deny only what rules deny";
        reader.refuse(node, "access needs a \"default\"", hint);
    }
    if !reader.problems.is_empty() {
        return;
    }
    for (rule, place) in access.rules.iter().zip(elements(reader, node, "rules")) {
        check_allows(reader, access, rule, place);
        warn_of_unknown_callers(reader, config, &rule.callers, place);
        for (key, items) in [("allow", &rule.allow), ("deny", &rule.deny)] {
            let places = elements(reader, place, key);
            for (item, place) in items.iter().zip(places) {
                reader.usable(place, check_server(item, config));
            }
        }
    }
}

/// An `allow` has no effect where everything is allowed; neither have the scopes that it asks for.
fn check_allows(reader: &mut Reader<'_, '_>, access: &Access, rule: &AccessRule, place: u32) {
    if access.default == AccessDefault::Allow
        && !rule.allow.is_empty()
        && let Some(place) = reader.member(place, "allow")
    {
        let message = "everything is allowed by default, so this has no effect";
        let hint = "remove it, or write \"default\": \"deny\"";
        reader.refuse(place, message, hint);
    }
}

/// A pattern that means no server is probably misspelt, and a deny that is misspelt protects nothing.
fn check_server(item: &ItemPattern, config: &Config) -> Result<(), Problem> {
    let names = || config.servers.iter().map(|server| server.name.as_str());
    if item.server().as_str() == "*" || names().any(|name| item.concerns_server(name)) {
        return Ok(());
    }
    let written = item.server().as_str();
    let message = format!("no server is called \"{}\"", brief(written));
    let hint = match nearest_word(written, names()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "see \"mcpServers\" for the names".to_owned(),
    };
    Err(Problem::new(message, hint))
}

/// Warns of limits whose callers are not known.
pub(crate) fn check_limits(reader: &mut Reader<'_, '_>, config: &Config) {
    let places = elements(reader, 0, "limits");
    for (limit, place) in config.limits.iter().zip(places) {
        warn_of_unknown_callers(reader, config, &limit.callers, place);
    }
}

/// A caller that is not known is probably misspelt. No mistake: a rule may stay when its caller is revoked.
fn warn_of_unknown_callers(
    reader: &mut Reader<'_, '_>,
    config: &Config,
    callers: &[CallerPattern],
    place: u32,
) {
    let places = elements(reader, place, "callers");
    for (caller, place) in callers.iter().zip(places) {
        if let Err(warning) = check_caller(caller, config) {
            reader.warn(place, warning);
        }
    }
}

/// Whether a pattern can mean a caller: keys and certificates by their names, tokens by their issuers.
fn check_caller(caller: &CallerPattern, config: &Config) -> Result<(), Problem> {
    let Some((kind, name)) = caller.named() else {
        return Ok(());
    };
    let (known, what): (Vec<String>, _) = match kind {
        "local" => return Ok(()),
        "key" | "cert" if name.contains('*') => return Ok(()),
        "key" | "cert" => {
            let own = ["key:client", "key:operator"].map(str::to_owned);
            let named = config.callers.iter().map(CallerConfig::full_name);
            (own.into_iter().chain(named).collect(), "caller")
        }
        _ => {
            let issuers = config.auth.issuers.iter();
            (
                issuers.map(|issuer| issuer.name.clone()).collect(),
                "issuer",
            )
        }
    };
    let text = caller.to_string();
    let written = if what == "caller" { &*text } else { kind };
    if known.iter().any(|known| known == written) {
        return Ok(());
    }
    let message = format!("no {what} is called \"{}\"", brief(written));
    let hint = match nearest_word(written, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "see \"callers\" and \"auth.issuers\" for the names".to_owned(),
    };
    Err(Problem::new(message, hint))
}

/// The elements of an array under a key.
fn elements(reader: &Reader<'_, '_>, node: u32, key: &str) -> Vec<u32> {
    let array = reader.member(node, key);
    array.map_or_else(Vec::new, |array| reader.tape().children(array).collect())
}
