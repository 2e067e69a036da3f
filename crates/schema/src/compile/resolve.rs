//! References: from the text of `$ref` to a subschema's number.

use countersign_tape::Kind;

use super::SchemaLocation;
use super::index::{Anchor, Index};
use crate::program::{NONE, NodeId};
use crate::unenforceable::Unenforceable;
use crate::uri;

/// Where a reference leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Static(NodeId),
    /// The dynamic scope decides; `fallback` serves when it knows no such anchor.
    Dynamic {
        anchor: String,
        fallback: NodeId,
    },
}

/// The name `$recursiveAnchor` goes by among dynamic anchors. No `$dynamicAnchor` can be spelt like this.
pub(super) const RECURSIVE: &str = "#";

impl Index<'_> {
    /// Resolves `$ref` at `keyword` in a resource.
    pub(super) fn resolve(
        &mut self,
        resource: u32,
        keyword: SchemaLocation,
    ) -> Result<NodeId, Unenforceable> {
        self.references += 1;
        let is_kept = self.references <= self.settings().limits.max_references;
        Unenforceable::check_limit(is_kept, "references")?;
        let text = self.reference_text(keyword)?;
        let absolute = uri::resolve(&self.resource(resource).base, &text);
        let (document, fragment) = uri::split_fragment(&absolute);
        let external = || Unenforceable::ExternalRef {
            uri: if absolute.is_empty() {
                text.clone()
            } else {
                absolute.clone()
            },
            referrer: self.referrer(keyword),
        };
        let external = external();
        let target = self.find_resource(document)?.ok_or(external)?;
        let fragment = fragment.unwrap_or_default();
        let dangling = |index: &Self| Unenforceable::DanglingRef {
            pointer: index.pointer(keyword),
        };
        let Some(fragment) = uri::percent_decode(fragment) else {
            return Err(dangling(self));
        };
        if fragment.is_empty() {
            let root = Some(self.resource(target).root);
            return root
                .filter(|root| *root != NONE)
                .ok_or_else(|| dangling(self));
        }
        if let Some(pointer) = fragment.strip_prefix('/') {
            let found = self.follow(target, pointer);
            let (place, nearest) = found.ok_or_else(|| dangling(self))?;
            return self.walk(place, nearest);
        }
        let anchor = self
            .anchors
            .get(&(fragment.into_owned(), target))
            .map(|anchor| anchor.node);
        anchor.ok_or_else(|| dangling(self))
    }

    /// Resolves `$dynamicRef`: dynamic only if the plain resolution lands on a `$dynamicAnchor`.
    pub(super) fn resolve_dynamic(
        &mut self,
        resource: u32,
        keyword: SchemaLocation,
    ) -> Result<Target, Unenforceable> {
        let node = self.resolve(resource, keyword)?;
        let text = self.reference_text(keyword)?;
        let (_, fragment) = uri::split_fragment(&text);
        let Some(name) = fragment.and_then(uri::percent_decode) else {
            return Ok(Target::Static(node));
        };
        let lands_on = self
            .subschemas
            .get(node as usize)
            .map_or(resource, |subschema| subschema.resource);
        match self.anchors.get(&(name.clone().into_owned(), lands_on)) {
            Some(Anchor {
                dynamic: true,
                node: anchored,
            }) if *anchored == node => Ok(Target::Dynamic {
                anchor: name.into_owned(),
                fallback: node,
            }),
            _ => Ok(Target::Static(node)),
        }
    }

    /// Resolves 2019-09's `$recursiveRef`, which may only say `#`.
    pub(super) fn resolve_recursive(
        &mut self,
        resource: u32,
        keyword: SchemaLocation,
    ) -> Result<Target, Unenforceable> {
        if self.reference_text(keyword)? != "#" {
            return Err(self.invalid(keyword, "$recursiveRef must be \"#\""));
        }
        let node = self.resolve(resource, keyword)?;
        if self.resource(resource).recursive {
            return Ok(Target::Dynamic {
                anchor: RECURSIVE.to_owned(),
                fallback: node,
            });
        }
        Ok(Target::Static(node))
    }

    /// All resources that define a dynamic anchor, with what it names there.
    pub(super) fn definers(&self, anchor: &str) -> Vec<(u32, NodeId)> {
        if anchor == RECURSIVE {
            let resources = (0u32..).zip(&self.resources);
            return resources
                .filter(|(_, resource)| resource.recursive)
                .map(|(number, resource)| (number, resource.root))
                .collect();
        }
        self.anchors
            .range((anchor.to_owned(), 0)..=(anchor.to_owned(), NONE))
            .filter(|(_, found)| found.dynamic)
            .map(|((_, resource), found)| (*resource, found.node))
            .collect()
    }

    /// The URI of the document that a keyword stands in; empty for the schema itself.
    fn referrer(&self, keyword: SchemaLocation) -> String {
        let document = self.documents.get(keyword.document as usize);
        let document = document.filter(|_| keyword.document != 0);
        document.map_or_else(String::new, |document| document.uri.clone())
    }

    fn reference_text(&self, keyword: SchemaLocation) -> Result<String, Unenforceable> {
        let tape = self.tape(keyword);
        self.expect(keyword, Kind::String, "a reference must be a string")?;
        Ok(tape.string(keyword.node).into_owned())
    }

    /// Follows a JSON pointer from a resource's root. Also gives the innermost resource on the way.
    fn follow(&mut self, resource: u32, pointer: &str) -> Option<(SchemaLocation, u32)> {
        let root = self.subschemas.get(self.resource(resource).root as usize)?;
        let mut place = root.place;
        let mut nearest = root.resource;
        for token in pointer.split('/') {
            let document = self.documents.get_mut(place.document as usize)?;
            place.node = document
                .directories
                .step(&document.tape, place.node, token)?;
            if let Some(id) = self.find_subschema(place) {
                nearest = self.subschemas.get(id as usize)?.resource;
            }
        }
        Some((place, nearest))
    }
}
