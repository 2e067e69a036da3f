//! Every subschema, and every name it can be referred to by.
//!
//! A document is walked once with a work list. Each subschema gets its number here; each schema resource its base URI,
//! its rules and its anchors. Documents the caller handed in and the bundled metaschemas are walked when first needed.

mod children;
mod identity;

use std::collections::BTreeMap;

use countersign_tape::{Kind, Tape};

use super::directory::Directories;
use super::{SchemaLocation, Settings, Text};
use crate::metaschema;
use crate::program::{NONE, NodeId};
use crate::rules::Rules;
use crate::unenforceable::Unenforceable;

/// A document being compiled.
pub(super) struct Document<'a> {
    pub(super) uri: String,
    pub(super) tape: Tape<'a>,
    /// For each tape node, the subschema that starts there.
    subschemas: Vec<NodeId>,
    pub(super) directories: Directories,
}

/// A subschema, before its keywords are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subschema {
    pub(super) place: SchemaLocation,
    pub(super) resource: u32,
}

/// A schema resource: what one base URI covers.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) base: String,
    pub(super) rules: Rules,
    pub(super) root: NodeId,
    /// 2019-09: the root carries `"$recursiveAnchor": true`.
    pub(super) recursive: bool,
}

/// What an anchor names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) node: NodeId,
    pub(super) dynamic: bool,
}

pub(super) struct Index<'a> {
    settings: Settings<'a>,
    pub(super) documents: Vec<Document<'a>>,
    pub(super) subschemas: Vec<Subschema>,
    pub(super) resources: Vec<Resource>,
    by_uri: BTreeMap<String, u32>,
    /// By name, then by resource, so that all resources defining a dynamic anchor stand together.
    pub(super) anchors: BTreeMap<(String, u32), Anchor>,
    handed_in_walked: bool,
    pub(super) references: usize,
    uri_bytes: usize,
}

/// URIs of a small schema may take this much, however short it is.
const FREE_URI_BYTES: usize = 64 * 1024;

impl<'a> Index<'a> {
    pub(super) fn new(settings: Settings<'a>) -> Self {
        Self {
            settings,
            documents: Vec::new(),
            subschemas: Vec::new(),
            resources: Vec::new(),
            by_uri: BTreeMap::new(),
            anchors: BTreeMap::new(),
            handed_in_walked: false,
            references: 0,
            uri_bytes: 0,
        }
    }

    pub(super) fn settings(&self) -> &Settings<'a> {
        &self.settings
    }

    pub(super) fn root_rules(&self) -> Rules {
        match self.resources.first() {
            Some(root) => root.rules,
            None => self.settings.rules_of(self.settings.default_dialect),
        }
    }

    pub(super) fn places(&self) -> Vec<SchemaLocation> {
        self.subschemas
            .iter()
            .map(|subschema| subschema.place)
            .collect()
    }

    pub(super) fn into_texts(self) -> Vec<Text> {
        let texts = self.documents.into_iter().map(|document| Text {
            bytes: document.tape.text().as_bytes().into(),
            uri: document.uri,
        });
        // Collected in the memory of the documents, which is much larger.
        let mut texts: Vec<Text> = texts.collect();
        texts.shrink_to_fit();
        texts
    }

    pub(super) fn add_root(&mut self, bytes: &'a [u8]) -> Result<NodeId, Unenforceable> {
        self.add_document(String::new(), bytes)
    }

    /// Parses and walks a document that is known by `uri`.
    fn add_document(&mut self, uri: String, bytes: &'a [u8]) -> Result<NodeId, Unenforceable> {
        let tape = super::parse(bytes, self.settings.limits)?;
        if let Some(key) = tape.duplicate_keys().first() {
            return Err(Unenforceable::Invalid {
                pointer: tape.pointer(*key),
                reason: "duplicate key",
            });
        }
        let rules = self.root_rules();
        let document = position(self.documents.len());
        let resource = self.add_resource(uri.clone(), rules);
        let subschemas = vec![NONE; tape.len() as usize];
        self.documents.push(Document {
            uri,
            tape,
            subschemas,
            directories: Directories::default(),
        });
        self.walk(SchemaLocation { document, node: 0 }, resource)
    }

    fn add_resource(&mut self, base: String, rules: Rules) -> u32 {
        let resource = position(self.resources.len());
        self.by_uri.entry(base.clone()).or_insert(resource);
        self.resources.push(Resource {
            base,
            rules,
            root: NONE,
            recursive: false,
        });
        resource
    }

    /// Numbers the subschema at a place and all it holds. The number of the first is returned.
    pub(super) fn walk(
        &mut self,
        place: SchemaLocation,
        resource: u32,
    ) -> Result<NodeId, Unenforceable> {
        let first = position(self.subschemas.len());
        if self.find_subschema(place).is_none() {
            self.refuse_boolean(place, resource)?;
        }
        let mut work = vec![(place.node, resource)];
        while let Some((node, resource)) = work.pop() {
            self.visit(place.with_node(node), resource, &mut work)?;
        }
        Ok(self.find_subschema(place).unwrap_or(first))
    }

    /// The subschema that starts at a place, when it is known.
    pub(super) fn find_subschema(&self, place: SchemaLocation) -> Option<NodeId> {
        let document = self.documents.get(place.document as usize)?;
        let id = *document.subschemas.get(place.node as usize)?;
        (id != NONE).then_some(id)
    }

    fn visit(
        &mut self,
        place: SchemaLocation,
        resource: u32,
        work: &mut Vec<(u32, u32)>,
    ) -> Result<(), Unenforceable> {
        if self.find_subschema(place).is_some() {
            return Ok(());
        }
        let id = position(self.subschemas.len());
        let is_room = self.subschemas.len() < self.settings.limits.max_subschemas;
        Unenforceable::check_limit(is_room, "subschemas")?;
        let kind = self.tape(place).node(place.node).kind();
        if !matches!(kind, Kind::Object | Kind::True | Kind::False) {
            return Err(self.invalid(place, "a schema must be an object or a boolean"));
        }
        if let Some(document) = self.documents.get_mut(place.document as usize)
            && let Some(slot) = document.subschemas.get_mut(place.node as usize)
        {
            *slot = id;
        }
        self.subschemas.push(Subschema { place, resource });
        if kind != Kind::Object {
            if place.node == 0 {
                self.resource_mut(resource).root = id;
            }
            return Ok(());
        }
        let resource = self.enter(place, resource, id)?;
        if let Some(subschema) = self.subschemas.last_mut() {
            subschema.resource = resource;
        }
        self.queue_children(place, resource, work)
    }

    /// Refuses the schema unless the value at a place is of this kind.
    pub(super) fn expect(
        &self,
        place: SchemaLocation,
        kind: Kind,
        reason: &'static str,
    ) -> Result<(), Unenforceable> {
        if self.tape(place).node(place.node).kind() == kind {
            return Ok(());
        }
        Err(self.invalid(place, reason))
    }

    pub(super) fn invalid(&self, place: SchemaLocation, reason: &'static str) -> Unenforceable {
        Unenforceable::Invalid {
            pointer: self.pointer(place),
            reason,
        }
    }

    /// The place as a pointer, with its document's URI when that is not the schema itself.
    pub(super) fn pointer(&self, place: SchemaLocation) -> String {
        let pointer = self.tape(place).pointer(place.node);
        match self.documents.get(place.document as usize) {
            Some(document) if place.document != 0 => format!("{}#{pointer}", document.uri),
            _ => pointer,
        }
    }

    /// The resource a URI names, walking handed-in documents and metaschemas as needed.
    pub(super) fn find_resource(&mut self, uri: &str) -> Result<Option<u32>, Unenforceable> {
        if let Some(resource) = self.by_uri.get(uri) {
            return Ok(Some(*resource));
        }
        if let Some(bytes) = self.handed_in(uri) {
            self.add_document(uri.to_owned(), bytes)?;
        } else if let Some(text) = metaschema::find(uri) {
            self.add_document(uri.to_owned(), text.as_bytes())?;
        } else if !self.handed_in_walked {
            self.walk_handed_in()?;
        }
        Ok(self.by_uri.get(uri).copied())
    }

    /// A handed-in document may be known by its `$id` only: walk them all once.
    fn walk_handed_in(&mut self) -> Result<(), Unenforceable> {
        self.handed_in_walked = true;
        let documents = self.settings.documents;
        for (uri, bytes) in documents {
            if !self.by_uri.contains_key(uri) {
                self.add_document(uri.clone(), bytes)?;
            }
        }
        Ok(())
    }

    pub(super) fn handed_in(&self, uri: &str) -> Option<&'a [u8]> {
        let documents = self.settings.documents;
        documents
            .iter()
            .find(|(known, _)| known == uri)
            .map(|(_, bytes)| bytes.as_slice())
    }

    pub(super) fn tape(&self, place: SchemaLocation) -> &Tape<'a> {
        &self.documents[place.document as usize].tape
    }

    pub(super) fn resource(&self, resource: u32) -> &Resource {
        &self.resources[resource as usize]
    }

    fn resource_mut(&mut self, resource: u32) -> &mut Resource {
        &mut self.resources[resource as usize]
    }

    pub(super) fn rules(&self, resource: u32) -> Rules {
        self.resource(resource).rules
    }
}

/// A table position as an index. Tables are bounded by the bytes of the schema, far below 2^32.
pub(super) fn position(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}
