//! A tool that can be called: its declaration, its contract, and the policy that holds for it.
//! What clients see of it is a `ListedTool`, under the name that the endpoint gives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use countersign_config::Config;
use countersign_inspect::config::Advertise;
use countersign_inspect::{
    ClientEra, Contract, Declaration, ListView, ListedTool, Listing, Policy, RouterCall,
};
use countersign_login::Hints;
use countersign_wire::MirroredArguments;

use super::entry::Entry;
use super::schema_documents::SchemaDocuments;
use crate::state::names::wire_name;

/// How tools are named in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// As their server names them.
    Original,
    /// `server__tool`.
    Prefixed,
    /// `server:tool`, as arguments write it.
    Human,
}

/// A tool of one server.
#[derive(Debug)]
pub(crate) struct Tool {
    /// As received.
    raw: Bytes,
    /// As it may be shown.
    listed: ListedTool,
    /// Its own name: it is called by it, also if it is shown under a cleaned one.
    name: String,
    /// The least cautious router tool that the hints it is shown with allow; nothing without hints.
    access: Option<RouterCall>,
    /// What the annotations it is shown with say it does.
    hints: Hints,
    wire_name: String,
    contract: Contract,
    /// The documents that its schemas refer to.
    documents: Arc<SchemaDocuments>,
    policy: Policy,
    /// The digest of the `outputSchema`, as records write it.
    schema_digest: Option<String>,
    mirrored: MirroredArguments,
    /// A result broke the contract. Shared with the same declaration under other policies.
    broken: Arc<AtomicBool>,
}

impl Tool {
    /// Captures a declaration: compiles its schemas under the policy that holds for it.
    pub(crate) fn capture(entry: Entry, server: &str, generation: u64, policy: Policy) -> Self {
        Self::capture_with(entry, server, generation, policy, Arc::default())
    }

    /// The same, with the documents that its schemas refer to.
    pub(crate) fn capture_with(
        entry: Entry,
        server: &str,
        generation: u64,
        policy: Policy,
        documents: Arc<SchemaDocuments>,
    ) -> Self {
        let declaration = Declaration::read_shared(&entry.raw)
            // Unreachable: an entry has a name and each schema at most once.
            .unwrap_or_else(|_| Declaration::new(countersign_inspect::ToolName::new(entry.name())))
            .server(server)
            .generation(generation);
        let found = documents.found.iter();
        let contract = found
            .fold(declaration, |declaration, (address, document)| {
                declaration.document(address, document.clone())
            })
            .capture(&policy.output);
        let digest = contract.output().map(|schema| schema.digest().to_string());
        // Tools of HTTP servers whose header marks are invalid were left out of the list before.
        let mirrored = entry
            .input_schema()
            .and_then(|schema| MirroredArguments::from_schema(schema).ok());
        let Entry { raw, name, .. } = entry;
        let listed = ListedTool::new(&raw, &name, &policy);
        let shown = Entry::read(listed.listing().bytes().clone()).ok();
        Self {
            raw,
            schema_digest: digest,
            mirrored: mirrored.unwrap_or_default(),
            broken: Arc::default(),
            wire_name: wire_name(server, &name),
            access: shown.as_ref().and_then(|shown| shown.access),
            hints: shown.map_or(Hints::new([None; 4]), |shown| shown.hints),
            listed,
            name,
            contract,
            documents,
            policy,
        }
    }

    /// The same declaration under another policy.
    pub(super) fn with_policy(&self, server: &str, policy: Policy) -> Option<Self> {
        let entry = Entry::read(self.raw.clone()).ok()?;
        let (generation, documents) = (self.contract.generation(), Arc::clone(&self.documents));
        let mut tool = Self::capture_with(entry, server, generation, policy, documents);
        tool.broken = Arc::clone(&self.broken);
        Some(tool)
    }

    /// The same tool under the policy that a configuration has for it. Blocks if that is another one: schemas have to be
    /// compiled again.
    pub(crate) fn under_policy_of(self: &Arc<Self>, config: &Config, server: &str) -> Arc<Self> {
        let policy = config.policy(server, self.name());
        if self.has_policy(&policy) {
            return Arc::clone(self);
        }
        let changed = self.with_policy(server, policy);
        changed.map_or_else(|| Arc::clone(self), Arc::new)
    }

    /// Whether this policy holds for it already.
    pub(crate) fn has_policy(&self, policy: &Policy) -> bool {
        self.policy == *policy
    }

    /// Whether it was captured under this policy, with these documents.
    pub(crate) fn is_captured_with(&self, policy: &Policy, documents: &SchemaDocuments) -> bool {
        self.has_policy(policy) && *self.documents == *documents
    }

    /// A stand-in for a prompt, a resource or a completion: it declares nothing.
    pub(crate) fn undeclared(name: &str, server: &str, policy: Policy) -> Self {
        Self::capture(Entry::with_name(name), server, 0, policy)
    }

    /// The tool's own name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its declaration as received.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether this is what the entry would become under the policy, with these documents, and is in the store.
    pub(crate) fn matches_stored(
        &self,
        entry: &Entry,
        policy: &Policy,
        documents: &SchemaDocuments,
    ) -> bool {
        self.raw == entry.raw
            && self.policy == *policy
            && *self.documents == *documents
            && self.contract.generation() > 0
    }

    /// Why its output schema cannot be enforced; nothing if it can be, or there is none.
    pub(crate) fn unenforceable_reason(&self) -> Option<String> {
        let why = self.contract.output()?.schema().err()?;
        let refusal = self.documents.refusal.as_ref();
        Some(match refusal.filter(|_| why.is_external_ref()) {
            Some(refusal) => format!("{why} ({refusal})"),
            None => why.to_string(),
        })
    }

    /// Its `server__tool` name on the merged endpoint.
    pub(crate) fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// The router tool that clients are told to call it with. Without hints the protocol's
    /// defaults hold: destructive.
    pub(crate) fn access(&self) -> RouterCall {
        self.access.unwrap_or(RouterCall::Destructive)
    }

    /// What its annotations say it does. Only a server that is trusted is believed.
    pub(super) fn hints(&self) -> Hints {
        self.hints
    }

    /// Whether a router tool may call it: any if the tool gives no hints, otherwise the one that
    /// the hints ask for or a more cautious one.
    pub(crate) fn may_be_called_with(&self, router: RouterCall) -> bool {
        self.access.is_none_or(|least| least <= router)
    }

    /// Its cleaned declaration, with what was found in it.
    pub(crate) fn listing(&self) -> &Listing {
        self.listed.listing()
    }

    /// What is said about it in a text block.
    pub(crate) fn text_block(&self, described: Vec<u8>) -> Listing {
        Listing::text_block(described, &self.policy.sanitisation)
    }

    /// What it declared.
    pub(crate) fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The digest of its `outputSchema`, as records write it.
    pub(crate) fn schema_digest(&self) -> Option<&str> {
        self.schema_digest.as_deref()
    }

    /// Which arguments are repeated as headers.
    pub(crate) fn mirrored(&self) -> &MirroredArguments {
        &self.mirrored
    }

    /// Takes note of a result that broke the contract; true if it is the first one.
    pub(crate) fn broke_contract(&self) -> bool {
        !self.broken.swap(true, Ordering::Relaxed)
    }

    /// Whether the tool is listed differently once a result has broken the contract: clients that validate would throw
    /// away what is forwarded to them.
    pub(crate) fn lists_conforming(&self) -> bool {
        self.policy.output.advertise_output_schema == Advertise::Conforming
    }

    /// The policy for its results, for this client.
    pub(crate) fn policy(&self, client: ClientEra) -> Policy {
        Policy {
            client,
            ..self.policy.clone()
        }
    }

    /// The tool as a client sees it that may see it: [`super::VisibleTool`] is the way to it.
    pub(super) fn list_entry(&self, naming: Naming, client: ClientEra) -> Vec<u8> {
        let human;
        let name = match naming {
            Naming::Original => None,
            Naming::Prefixed => Some(self.wire_name.as_str()),
            Naming::Human => {
                human = self.contract.tool().to_string();
                Some(human.as_str())
            }
        };
        let view = ListView {
            name,
            client,
            advertise: self.policy.output.advertise_output_schema,
            has_violated: self.broken.load(Ordering::Relaxed),
        };
        self.listed.entry(&self.contract, view)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn tool(text: &'static str) -> Tool {
        let entry = Entry::read(Bytes::from_static(text.as_bytes())).expect("a tool");
        Tool::capture(entry, "s", 1, Policy::default())
    }

    fn listed(text: &'static str, naming: Naming, client: ClientEra) -> String {
        String::from_utf8(tool(text).list_entry(naming, client)).expect("UTF-8")
    }

    #[test]
    fn an_ordinary_tool_is_listed_as_received() {
        let text = r#"{ "x-y": 1.0,"inputSchema":{"type":"object"}, "name":"\u0061", "outputSchema":{"type":"object","maxProperties":1.0} }"#;
        assert_eq!(listed(text, Naming::Original, ClientEra::Legacy), text);
        let renamed = text.replace(r#""\u0061""#, r#""s__a""#);
        assert_eq!(listed(text, Naming::Prefixed, ClientEra::Modern), renamed);
    }

    #[test]
    fn schemas_that_break_clients_are_withheld() {
        let array =
            r#"{"name":"a","outputSchema":{"type":"array"},"inputSchema":{"type":"object"}}"#;
        let without = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
        assert_eq!(listed(array, Naming::Original, ClientEra::Modern), array);
        assert_eq!(listed(array, Naming::Original, ClientEra::Legacy), without);
        let broken = r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":5}}"#;
        assert_eq!(listed(broken, Naming::Original, ClientEra::Modern), without);
        let odd = r#"{"name":"a","inputSchema":[]}"#;
        assert_eq!(listed(odd, Naming::Original, ClientEra::Modern), without);
        assert_eq!(
            listed(r#"{"name":"a"}"#, Naming::Original, ClientEra::Modern),
            without
        );
    }
}
