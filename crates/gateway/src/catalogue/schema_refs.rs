//! The documents that the schemas of a tool list refer to. The schema crate never fetches: it names the first document that
//! it lacks, the gateway fetches that one if the operator allows it, and hands it in. Every address is recorded, whether it
//! was fetched or not.

mod fetch;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Kind, Outcome, Record, Source};
use countersign_config::SchemaRefs;
use countersign_inspect::Declaration;
use countersign_inspect::config::OutputValidation;
use tokio::time::{Instant, timeout_at};

use crate::services::Services;
use crate::state::SchemaDocuments;
use fetch::DocumentError;

/// How long all documents of a list may take; its tools are offered after that without the missing ones.
const WHOLE: Duration = Duration::from_secs(30);
/// So much of an address is recorded.
const SHOWN: usize = 300;
/// So many addresses of a list that are not fetched are recorded one by one.
const MAX_REFUSALS: usize = 8;

/// The documents for each tool of a list that refers to others, by the tool's declaration.
#[derive(Debug, Default)]
pub(super) struct ListDocuments {
    by_tool: HashMap<Bytes, Arc<SchemaDocuments>>,
    pub(super) records: Vec<Record>,
}

impl ListDocuments {
    /// The documents for one tool.
    pub(super) fn for_tool(&self, declaration: &[u8]) -> Arc<SchemaDocuments> {
        self.by_tool.get(declaration).cloned().unwrap_or_default()
    }
}

/// Fetches what the schemas of a list refer to, as far as the operator allows it. Does nothing unless there are allowed
/// hosts.
pub(super) async fn collect(
    services: &Arc<Services>,
    refs: &SchemaRefs,
    server: &str,
    list: &[Bytes],
) -> ListDocuments {
    if !refs.is_enabled() {
        return ListDocuments::default();
    }
    let tools = referring(list.to_vec()).await;
    let mut collection = Collection {
        services,
        refs,
        server,
        until: Instant::now() + WHOLE,
        documents: BTreeMap::new(),
        refusals: 0,
        list: ListDocuments::default(),
    };
    for tool in tools {
        let documents = collection.collect(&tool).await;
        collection.list.by_tool.insert(tool, Arc::new(documents));
    }
    collection.list
}

/// The tools of a list with a schema that refers to another document.
async fn referring(list: Vec<Bytes>) -> Vec<Bytes> {
    let found = tokio::task::spawn_blocking(move || {
        let refers = |tool: &Bytes| missing_document(tool, &[]).is_some();
        list.into_iter().filter(refers).collect()
    });
    found.await.unwrap_or_default()
}

/// A document that a tool's schemas refer to and that is not at hand.
#[derive(Debug)]
struct Missing {
    address: String,
    /// The document with the reference; empty for the schema itself.
    referrer: String,
}

/// Blocks: compiles the schemas.
fn missing_document(tool: &Bytes, documents: &[(String, Bytes)]) -> Option<Missing> {
    let mut declaration = Declaration::read(tool).ok()?;
    for (address, document) in documents {
        declaration = declaration.document(address, document.clone());
    }
    let contract = declaration.capture(&OutputValidation::default());
    let mut schemas = [contract.output(), contract.input()].into_iter().flatten();
    schemas.find_map(|schema| {
        let (address, referrer) = schema.schema().err()?.missing_document()?;
        Some(Missing {
            address: address.to_owned(),
            referrer: referrer.to_owned(),
        })
    })
}

/// The documents of one list while they are collected.
struct Collection<'a> {
    services: &'a Arc<Services>,
    refs: &'a SchemaRefs,
    server: &'a str,
    until: Instant,
    /// What became of each address.
    documents: BTreeMap<String, Result<Bytes, String>>,
    refusals: usize,
    list: ListDocuments,
}

impl Collection<'_> {
    /// The documents for one tool: one after another, until none is missing or one cannot be had.
    async fn collect(&mut self, tool: &Bytes) -> SchemaDocuments {
        let mut depths: BTreeMap<String, usize> = BTreeMap::new();
        let mut found: Vec<(String, Bytes)> = Vec::new();
        loop {
            let (declaration, known) = (tool.clone(), found.clone());
            let missing =
                tokio::task::spawn_blocking(move || missing_document(&declaration, &known)).await;
            let Some(Missing { address, referrer }) = missing.ok().flatten() else {
                let refusal = None;
                return SchemaDocuments { found, refusal };
            };
            let depth = depths.get(&referrer).copied().unwrap_or_default() + 1;
            let is_known = found.iter().any(|(known, _)| *known == address);
            let document = if depth > self.refs.max_depth {
                self.refuse(&address, &DocumentError::TooDeep)
            } else if is_known {
                // It was handed in and does not serve: nothing more can be done.
                Err("it is there and has no such place".to_owned())
            } else {
                self.document(&address).await
            };
            match document {
                Ok(document) => {
                    depths.insert(address.clone(), depth);
                    found.push((address, document));
                }
                Err(why) => {
                    let refusal = Some(why);
                    return SchemaDocuments { found, refusal };
                }
            }
        }
    }

    /// The document at an address, from an earlier tool or list if it is known.
    async fn document(&mut self, address: &str) -> Result<Bytes, String> {
        if let Some(known) = self.documents.get(address) {
            return known.clone();
        }
        if let Some(known) = self.services.schema_documents.get(address) {
            self.documents.insert(address.to_owned(), known.clone());
            return known;
        }
        if self.documents.len() >= self.refs.max_documents {
            return self.refuse(address, &DocumentError::TooMany);
        }
        let fetched = timeout_at(self.until, fetch::fetch(self.refs, address)).await;
        let document = match fetched.unwrap_or(Err(DocumentError::TimedOut)) {
            Ok(document) => {
                let reason = format!("fetched {} ({} bytes)", shown(address), document.len());
                self.record(Outcome::Success, reason);
                Ok(document)
            }
            Err(error) => self.refuse(address, &error),
        };
        let address = address.to_owned();
        self.services
            .schema_documents
            .put(address.clone(), document.clone());
        self.documents.insert(address, document.clone());
        document
    }

    /// Records that a document is not fetched; the reason is what the operator reads beside the schema.
    fn refuse(&mut self, address: &str, error: &DocumentError) -> Result<Bytes, String> {
        self.refusals += 1;
        if self.refusals <= MAX_REFUSALS {
            let reason = format!("not fetched: {}: {error}", shown(address));
            self.record(Outcome::Rejected, reason);
        }
        Err(error.to_string())
    }

    fn record(&mut self, outcome: Outcome, reason: String) {
        let id = self.services.store.next_id();
        let mut record = Record::new(id, Kind::SchemaDiagnostic, outcome);
        record.source = Source::Internal;
        record.server = Some(self.server.to_owned());
        record.reason = Some(reason);
        self.list.records.push(record);
    }
}

/// An address as it is recorded: on one line, and not longer than it needs to be.
fn shown(address: &str) -> String {
    let graphic = address.chars().filter(char::is_ascii_graphic);
    let mut text: String = graphic.take(SHOWN).collect();
    if address.len() > SHOWN {
        text.push('…');
    }
    text
}
