//! The answer to `tools/list`: each tool becomes a contract, and the client sees the list with texts cleaned and without
//! schemas that cannot be enforced. An element that is no tool, or that repeats a name, is left out.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use countersign_tape::{Edits, Kind, Span, elements, members, scan};

use super::UNLIMITED;
use super::message::member;
use crate::era::ClientEra;
use crate::inspector::Inspector;
use crate::judge::contract::{Contract, Declaration};
use crate::listed_tool::{ListView, ListedTool};

/// A tool list on its way to the client.
pub(super) struct ToolList {
    shown: Bytes,
    contracts: Vec<Arc<Contract>>,
}

impl ToolList {
    /// Reads a response with a list. Nothing if it has none, or two, which two readers would read differently.
    pub(super) fn read(message: &Bytes, inspector: &Inspector, client: ClientEra) -> Option<Self> {
        let envelope = scan(message, &UNLIMITED).ok()?;
        let result = envelope.result()?;
        let list = member(message, result, "tools")?;
        let is_list = |key: Span| key.is_text(message, "tools");
        let lists = members(message, result).filter(|(key, _)| is_list(*key));
        if lists.count() != 1 || list.kind(message) != Some(Kind::Array) {
            return Some(Self::empty(message, result));
        }
        let (mut names, mut contracts, mut tools) = (HashSet::new(), Vec::new(), Vec::new());
        for element in elements(message, list) {
            let raw = message.slice_ref(element.bytes(message));
            let Ok(declaration) = Declaration::read(&raw) else {
                continue;
            };
            if !names.insert(declaration.tool().tool().to_owned()) {
                continue;
            }
            let contract = inspector.capture(declaration);
            tools.push(listed(&raw, &contract, inspector, client));
            contracts.push(contract);
        }
        let mut edits = Edits::new(message);
        edits.replace(list, [&b"["[..], &tools.join(&b','), b"]"].concat());
        let shown = edits.apply().ok()?.to_vec().into();
        Some(Self { shown, contracts })
    }

    /// A list that cannot be shown.
    fn empty(message: &Bytes, result: Span) -> Self {
        let mut edits = Edits::new(message);
        edits.replace(result, &br#"{"tools":[]}"#[..]);
        let shown = edits
            .apply()
            .map_or_else(|_| Bytes::new(), |edited| edited.to_vec().into());
        Self {
            shown,
            contracts: Vec::new(),
        }
    }

    pub(super) fn shown(&self) -> &Bytes {
        &self.shown
    }

    /// Makes the tools known.
    pub(super) fn keep_contracts(self, inspector: &Inspector) {
        for contract in self.contracts {
            inspector.keep(&contract);
        }
    }
}

/// A tool as the client sees it.
fn listed(raw: &Bytes, contract: &Contract, inspector: &Inspector, client: ClientEra) -> Vec<u8> {
    let policy = inspector.policy(contract.tool());
    let view = ListView {
        name: None,
        client,
        advertise: policy.output.advertise_output_schema,
        has_violated: inspector.has_violated(contract.tool()),
    };
    ListedTool::new(raw, contract.tool().tool(), policy).entry(contract, view)
}
