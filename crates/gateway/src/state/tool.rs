//! A tool that can be called: its declaration, its contract, and the policy that holds for it.
//! What clients see of it is the declaration with as few bytes changed as possible: the
//! `server__tool` name, and a schema that would make some client reject the whole list. See
//! `docs/decisions/advertised-schemas.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use countersign_config::Config;
use countersign_inspect::config::Advertise;
use countersign_inspect::{ClientEra, Contract, Declaration, Listing, Policy, RouterCall};
use countersign_tape::{Edits, MemberPosition, ScanLimits, Span, quote, scan};
use countersign_wire::MirroredArguments;

use super::entry::Entry;
use crate::state::names::wire_name;

/// Replaces an `inputSchema` that clients would reject.
const OBJECT: &[u8] = br#"{"type":"object"}"#;
/// How deep a tool stands in the reply that lists it.
const AROUND: u32 = 3;

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
    /// As it may be shown: the same, unless something in it had to be cleaned. Its name is the server's own.
    entry: Entry,
    listing: Listing,
    wire_name: String,
    contract: Contract,
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
        let contract = Declaration::read(&entry.raw)
            // Unreachable: an entry has a name and each schema at most once.
            .unwrap_or_else(|_| Declaration::new(countersign_inspect::ToolName::new(entry.name())))
            .server(server)
            .generation(generation)
            .capture(&policy.output);
        let digest = contract.output().map(|schema| schema.digest().to_string());
        // Tools of HTTP servers whose header marks are invalid were left out of the list before.
        let mirrored = entry
            .input_schema()
            .and_then(|schema| MirroredArguments::from_schema(schema).ok());
        let raw = entry.raw.clone();
        let name = entry.name;
        let listing = shown(&raw, &name, &policy);
        // It is called by its own name, also if it is shown under a cleaned one.
        let entry = match Entry::read(listing.bytes().clone()) {
            Ok(shown) => Entry { name, ..shown },
            // Not expected: what cannot be read is not shown.
            Err(_) => Entry {
                name,
                ..Entry::with_name("")
            },
        };
        Self {
            raw,
            listing,
            schema_digest: digest,
            mirrored: mirrored.unwrap_or_default(),
            broken: Arc::default(),
            wire_name: wire_name(server, entry.name()),
            entry,
            contract,
            policy,
        }
    }

    /// The same declaration under another policy.
    pub(super) fn with_policy(&self, server: &str, policy: Policy) -> Option<Self> {
        let entry = Entry::read(self.raw.clone()).ok()?;
        let mut tool = Self::capture(entry, server, self.contract.generation(), policy);
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

    /// A stand-in for a prompt, a resource or a completion: it declares nothing.
    pub(crate) fn undeclared(name: &str, server: &str, policy: Policy) -> Self {
        Self::capture(Entry::with_name(name), server, 0, policy)
    }

    /// The tool's own name.
    pub(crate) fn name(&self) -> &str {
        &self.entry.name
    }

    /// Its declaration as received.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether this is what the entry would become under the policy, and is in the store.
    pub(crate) fn matches_stored(&self, entry: &Entry, policy: &Policy) -> bool {
        self.raw == entry.raw && self.policy == *policy && self.contract.generation() > 0
    }

    /// Its `server__tool` name on the merged endpoint.
    pub(crate) fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// The router tool that clients are told to call it with. Without hints the protocol's
    /// defaults hold: destructive.
    pub(crate) fn access(&self) -> RouterCall {
        self.entry.access.unwrap_or(RouterCall::Destructive)
    }

    /// Whether a router tool may call it: any if the tool gives no hints, otherwise the one that
    /// the hints ask for or a more cautious one.
    pub(crate) fn may_be_called_with(&self, router: RouterCall) -> bool {
        self.entry.access.is_none_or(|least| least <= router)
    }

    /// Its cleaned declaration, with what was found in it.
    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
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

    /// The tool as a client sees it.
    pub(crate) fn list_entry(&self, naming: Naming, client: ClientEra) -> Vec<u8> {
        let entry = &self.entry;
        let whole = Span::whole(&entry.raw);
        let mut edits = Edits::new(&entry.raw);
        match naming {
            Naming::Original => {}
            Naming::Prefixed => edits.replace(entry.name_at, quote(&self.wire_name)),
            Naming::Human => {
                edits.replace(entry.name_at, quote(&self.contract.tool().to_string()));
            }
        }
        let how = self.policy.output.advertise_output_schema;
        if let Some((key, _)) = entry.output
            && !self
                .contract
                .advertises_output(client, how, self.broken.load(Ordering::Relaxed))
        {
            edits.remove_member(whole, key);
        }
        if !self.contract.advertises_input() {
            match entry.input {
                Some((_, value)) => edits.replace(value, OBJECT),
                None => {
                    edits.insert_member(whole, MemberPosition::Last, "inputSchema", OBJECT);
                }
            }
        }
        // The spans are of distinct members, so the edits cannot collide.
        edits
            .apply()
            .map_or_else(|_| entry.raw.to_vec(), |edited| edited.to_vec())
    }
}

/// A declaration as it may be shown: its name and a schema that takes everything, if the whole of it would make the list
/// too deep for its readers.
fn shown(raw: &Bytes, name: &str, policy: &Policy) -> Listing {
    let hard = ScanLimits {
        max_bytes: usize::MAX,
        max_depth: policy.max_message_depth.saturating_sub(AROUND),
    };
    if scan(raw, &hard).is_ok() {
        return Listing::tool(raw.clone(), &policy.sanitisation);
    }
    let bare: [&[u8]; 5] = [
        b"{\"name\":",
        &quote(name),
        b",\"inputSchema\":",
        OBJECT,
        b"}",
    ];
    Listing::too_deep(bare.concat(), &policy.sanitisation)
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
