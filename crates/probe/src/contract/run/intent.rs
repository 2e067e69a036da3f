//! What arguments are meant to be, from the arguments alone: how a case is known again once its
//! arguments have been changed, or were given on the command line.

use serde_json::Value;

use crate::contract::case::Intent;
use crate::contract::generate::label;
use crate::judge::Judge;

/// What arguments are meant to be, from the arguments alone.
pub(super) fn intent_of(judge: &Judge, tool: &str, arguments: &Value) -> Intent {
    let Some(contract) = judge.contract(tool) else {
        return Intent::UnknownTool;
    };
    if !arguments.is_object() {
        return Intent::NotAnObject;
    }
    let Some(Ok(engine)) = contract.input().map(|declared| declared.schema()) else {
        return Intent::Valid;
    };
    label(engine, arguments).unwrap_or_else(|| Intent::Invalid {
        keyword: String::new(),
        pointer: String::new(),
    })
}
