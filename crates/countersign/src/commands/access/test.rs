//! `countersign access test`: what the rules of the configuration file decide about a caller and items. Decides as the gateway
//! does, and asks no gateway.

use std::collections::BTreeSet;

use anyhow::anyhow;
use clap::Args;
use countersign_config::Overrides;
use countersign_gateway::{AccessDecision, AccessRules, Item, RulePath, Subject};
use serde_json::{Value, json};

use crate::commands::config::ConfigOption;
use crate::format::FormatOption;
use crate::json::text;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign access test --caller key:ci crm:delete_contact
  countersign access test --caller corp:ada --group support --scope crm:write crm:update_contact
  countersign access test --caller key:ci crm:prompt/review crm:resource/file:///notes.txt

Annotations of tools are known to the running gateway only. Where a rule has `where`, the answer says so.

Exit codes: 0 all are allowed, 1 one is denied or needs scopes, 2 bad usage or configuration.";

/// Say what the rules allow a caller, and which rule decides
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The caller: `key:ci`, `corp:2482897`, `cert:mesh`, `local:1000` or `anonymous`
    #[arg(long, value_name = "CALLER")]
    caller: String,
    /// A group of the caller, beside those that the file gives it
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// A scope of the caller's token
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// What it wants to use: `SERVER:TOOL`, `SERVER:prompt/NAME` or `SERVER:resource/URI`
    #[arg(required = true, value_name = "SERVER:TOOL")]
    items: Vec<String>,
    #[command(flatten)]
    config: ConfigOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let config = arguments.config.open(&Overrides::default(), console)?;
    let known = config.callers.iter();
    let known = known.filter(|caller| caller.full_name() == arguments.caller);
    let groups = known.flat_map(|caller| &caller.groups);
    let groups: BTreeSet<String> = groups.chain(&arguments.groups).cloned().collect();
    let scopes: BTreeSet<String> = arguments.scopes.iter().cloned().collect();
    let caller = Subject {
        name: &arguments.caller,
        groups: &groups,
        scopes: has_token(&arguments.caller, &scopes).then_some(&scopes),
    };
    let rules = AccessRules::new(&config);
    let mut is_all = true;
    for name in &arguments.items {
        let item = Item::parse(name).ok_or_else(|| {
            let hint = "write SERVER:TOOL, SERVER:prompt/NAME or SERVER:resource/URI";
            Failure::usage(anyhow!("'{name}' is not an item")).hint(hint)
        })?;
        let answer = answer(rules.as_ref(), caller, item);
        is_all &= answer["allowed"] == true;
        let line = || {
            let name = printable(name);
            format!("{name}: {}\n", text(&answer["answer"]))
        };
        let mut whole = answer.clone();
        whole["item"] = json!(name);
        arguments.format.print(&whole, line, console)?;
    }
    Ok(Exit::answer(is_all))
}

/// Whether a caller of this name comes with a token: every name that is not one of the gateway's own kinds is an issuer's.
fn has_token(caller: &str, scopes: &BTreeSet<String>) -> bool {
    let kind = caller.split_once(':').map(|(kind, _)| kind);
    let is_own = kind.is_none_or(|kind| ["key", "cert", "local"].contains(&kind));
    !is_own || !scopes.is_empty()
}

fn answer(rules: Option<&AccessRules>, caller: Subject<'_>, item: Item<'_>) -> Value {
    let Some(rules) = rules else {
        let answer = "allowed: there are no access rules";
        return json!({"allowed": true, "answer": answer, "rule": RulePath::Default.to_string()});
    };
    let (is_allowed, answer, by) = match rules.decide(caller, item) {
        AccessDecision::Permit(by) => (true, format!("allowed by {by}"), by),
        AccessDecision::Needs(by) => {
            let scopes = rules.scopes(by).join(" ");
            (false, format!("needs scope {scopes} ({by})"), by)
        }
        AccessDecision::Denied(by) => {
            let hint = rules
                .waits_for_annotations(caller, item)
                .map_or_else(String::new, |rule| {
                    format!("; {rule} allows it if its annotations fit, which are not known here")
                });
            (false, format!("denied: {by}{hint}"), by)
        }
    };
    json!({"allowed": is_allowed, "answer": answer, "rule": by.to_string()})
}
