//! What a schema object is called: `$id` (`id` in draft-04), `$schema` and the anchors, and the resource they make it
//! part of.

use countersign_tape::Kind;

use super::{Anchor, FREE_URI_BYTES, Index};
use crate::compile::SchemaLocation;
use crate::dialect::Dialect;
use crate::program::NodeId;
use crate::unenforceable::Unenforceable;
use crate::uri;

impl Anchor {
    fn fixed(node: NodeId) -> Self {
        let dynamic = false;
        Self { node, dynamic }
    }

    fn dynamic(node: NodeId) -> Self {
        let dynamic = true;
        Self { node, dynamic }
    }
}

impl Index<'_> {
    /// Reads the identity of a schema object: `$id`, `$schema` and the anchors. Gives the resource it belongs to.
    pub(super) fn enter(
        &mut self,
        place: SchemaLocation,
        outer: u32,
        id: NodeId,
    ) -> Result<u32, Unenforceable> {
        let outer_rules = self.rules(outer);
        let dialect = self.own_dialect(place).unwrap_or(outer_rules.dialect);
        let own_id = self.string_at(place, dialect.id_keyword())?;
        let masked = outer_rules.dialect.reference_masks_siblings()
            && self.tape(place).get(place.node, "$ref").is_some();
        let is_root = place.node == 0;
        let names_resource =
            own_id.as_deref().is_some_and(|text| !text.starts_with('#')) && !masked;
        let resource = if names_resource && !is_root {
            self.add_resource(String::new(), outer_rules)
        } else {
            outer
        };
        if is_root || names_resource {
            let rules = self.rules_at(self.tape(place), place.node, outer_rules)?;
            self.resource_mut(resource).rules = rules;
            self.resource_mut(resource).root = id;
        }
        if names_resource && let Some(text) = own_id.as_deref() {
            self.name_resource(place, outer, resource, text)?;
        }
        if !masked {
            self.add_anchors(place, resource, id, own_id.as_deref())?;
        }
        Ok(resource)
    }

    /// The dialect that the object's own `$schema` names, which decides what its URI is called.
    fn own_dialect(&self, place: SchemaLocation) -> Option<Dialect> {
        let tape = self.tape(place);
        let value = tape.get(place.node, "$schema")?;
        let is_string = tape.node(value).kind() == Kind::String;
        is_string.then(|| Dialect::from_uri(&tape.string(value)))?
    }

    /// Gives a resource the URI its `$id` spells.
    fn name_resource(
        &mut self,
        place: SchemaLocation,
        outer: u32,
        resource: u32,
        text: &str,
    ) -> Result<(), Unenforceable> {
        let (reference, fragment) = uri::split_fragment(text);
        if fragment.is_some_and(|fragment| !fragment.is_empty())
            && self.rules(resource).dialect > Dialect::Draft7
        {
            return Err(self.invalid(place, "$id must not have a fragment"));
        }
        let base = uri::resolve(&self.resource(outer).base, reference);
        self.pay_for_uri(base.len())?;
        self.resource_mut(resource).base.clone_from(&base);
        if *self.by_uri.entry(base).or_insert(resource) != resource {
            return Err(self.invalid(place, "two schemas have the same $id"));
        }
        Ok(())
    }

    /// A long base makes every URI under it long. All together stay in proportion to the texts they were made from.
    fn pay_for_uri(&mut self, bytes: usize) -> Result<(), Unenforceable> {
        self.uri_bytes += bytes;
        let texts: usize = self
            .documents
            .iter()
            .map(|document| document.tape.text().len())
            .sum();
        let is_kept = self.uri_bytes <= FREE_URI_BYTES + 8 * texts;
        Unenforceable::check_limit(is_kept, "bytes of URIs")
    }

    fn add_anchors(
        &mut self,
        place: SchemaLocation,
        resource: u32,
        id: NodeId,
        own_id: Option<&str>,
    ) -> Result<(), Unenforceable> {
        let dialect = self.rules(resource).dialect;
        if dialect <= Dialect::Draft7 {
            if let Some((_, Some(name))) = own_id.map(uri::split_fragment)
                && !name.is_empty()
            {
                self.anchor(place, name.to_owned(), resource, Anchor::fixed(id))?;
            }
            return Ok(());
        }
        if let Some(name) = self.string_at(place, "$anchor")? {
            self.anchor(place, name, resource, Anchor::fixed(id))?;
        }
        if dialect == Dialect::Draft202012
            && let Some(name) = self.string_at(place, "$dynamicAnchor")?
        {
            self.anchor(place, name, resource, Anchor::dynamic(id))?;
        }
        if dialect == Dialect::Draft201909 && self.resource(resource).root == id {
            let tape = self.tape(place);
            let flag = tape
                .get(place.node, "$recursiveAnchor")
                .map(|value| tape.node(value).kind());
            self.resource_mut(resource).recursive = flag == Some(Kind::True);
        }
        Ok(())
    }

    fn anchor(
        &mut self,
        place: SchemaLocation,
        name: String,
        resource: u32,
        anchor: Anchor,
    ) -> Result<(), Unenforceable> {
        match self.anchors.insert((name, resource), anchor) {
            Some(earlier) if earlier.node != anchor.node => {
                Err(self.invalid(place, "two schemas have the same anchor"))
            }
            _ => Ok(()),
        }
    }

    fn string_at(
        &self,
        place: SchemaLocation,
        name: &str,
    ) -> Result<Option<String>, Unenforceable> {
        let tape = self.tape(place);
        let Some(value) = tape.get(place.node, name) else {
            return Ok(None);
        };
        self.expect(place.with_node(value), Kind::String, "must be a string")?;
        Ok(Some(tape.string(value).into_owned()))
    }
}
