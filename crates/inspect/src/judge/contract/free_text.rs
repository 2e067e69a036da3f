//! Whether a schema admits free text: a string not limited to listed values, or a member the
//! schema does not declare. Such a tool has an injection surface; one without has none worth
//! classifying. Doubt counts as free text, so a construct this file does not know is never
//! proof of the opposite.
//!
//! A schema is *closed* if every value it admits is free of free text. That is computed as a
//! greatest fixed point over the schema's nodes: compiled schemas have no cycle that does not
//! descend, so assuming closedness around a cycle is sound.

use countersign_schema::Dialect;
use countersign_tape::{Kind, Tape};

/// Passes over the nodes before the answer is "doubt". A pass settles everything that refers
/// only to later text, so each pass follows one more backward reference.
const MAX_PASSES: usize = 64;

/// How the keywords of the schema are interpreted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interpretation {
    /// Keywords that this dialect does not know prove nothing.
    pub(crate) dialect: Dialect,
    /// `format` is asserted.
    pub(crate) assert_formats: bool,
}

/// Whether a value that conforms to the schema may carry free text. The schema must compile.
pub(crate) fn admits_free_text(schema: &Tape<'_>, reading: Interpretation) -> bool {
    // A `$schema` below the root starts another dialect, in which keywords mean something else.
    if !schema.duplicate_keys().is_empty() || has_inner_string(schema, "$schema") {
        return true;
    }
    let nodes = schema.len();
    let mut proof = Proof {
        schema,
        reading,
        // A `$id` below the root starts another resource, in which `#/…` means something else.
        local_references: !has_inner_string(schema, reading.dialect.id_keyword()),
        closed: vec![true; nodes as usize],
    };
    for _ in 0..MAX_PASSES {
        let mut settled = true;
        for node in (0..nodes).rev() {
            if proof.closed(node) && !proof.holds(node) {
                proof.open(node);
                settled = false;
            }
        }
        if settled {
            return !proof.closed(0);
        }
    }
    true
}

/// Whether a member of this name has a string, other than the root's. A property may have the name too, and a schema.
fn has_inner_string(schema: &Tape<'_>, name: &str) -> bool {
    let at_root = schema.get(0, name);
    (0..schema.len()).any(|node| {
        schema.node(node).kind() == Kind::Key
            && schema.string(node) == name
            && Some(node + 1) != at_root
            && schema.node(node + 1).kind() == Kind::String
    })
}

struct Proof<'t, 'a> {
    schema: &'t Tape<'a>,
    reading: Interpretation,
    local_references: bool,
    /// By node, read as a schema. Entries of nodes that are not schemas are never read.
    closed: Vec<bool>,
}

impl Proof<'_, '_> {
    fn closed(&self, node: u32) -> bool {
        self.closed.get(node as usize).copied().unwrap_or(false)
    }

    fn open(&mut self, node: u32) {
        if let Some(closed) = self.closed.get_mut(node as usize) {
            *closed = false;
        }
    }

    /// Whether the node, read as a schema, is closed given what is assumed about the others.
    fn holds(&self, node: u32) -> bool {
        match self.schema.node(node).kind() {
            Kind::False => true,
            Kind::Object => self.object_holds(node),
            _ => false,
        }
    }

    fn object_holds(&self, node: u32) -> bool {
        let get = |name| self.schema.get(node, name);
        let reference = get("$ref").is_some_and(|target| self.reference_holds(target));
        let is_masked = self.reading.dialect.reference_masks_siblings() && get("$ref").is_some();
        if reference || is_masked {
            return reference;
        }
        // Each of these alone limits the value; one that is closed is enough.
        get("enum").is_some()
            || (self.reading.dialect >= Dialect::Draft6 && get("const").is_some())
            || get("allOf").is_some_and(|list| self.schema.children(list).any(|s| self.closed(s)))
            || get("anyOf").is_some_and(|list| self.schema.children(list).all(|s| self.closed(s)))
            || get("oneOf").is_some_and(|list| self.schema.children(list).all(|s| self.closed(s)))
            || get("type").is_some_and(|types| self.types_hold(node, types))
    }

    /// A reference to the root or to a pointer in this document.
    fn reference_holds(&self, reference: u32) -> bool {
        let reference = self.schema.string(reference);
        let Some(pointer) = reference
            .strip_prefix('#')
            .filter(|_| self.local_references)
        else {
            return false;
        };
        self.resolve(pointer).is_some_and(|node| self.closed(node))
    }

    fn resolve(&self, pointer: &str) -> Option<u32> {
        if pointer.contains('%') {
            return None;
        }
        let mut node = 0;
        if pointer.is_empty() {
            return Some(node);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            node = match self.schema.node(node).kind() {
                Kind::Object => self.schema.get(node, &token)?,
                Kind::Array => self.schema.children(node).nth(token.parse().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    fn types_hold(&self, node: u32, types: u32) -> bool {
        if self.schema.node(types).kind() == Kind::Array {
            return self
                .schema
                .children(types)
                .all(|name| self.type_holds(node, name));
        }
        self.type_holds(node, types)
    }

    fn type_holds(&self, node: u32, name: u32) -> bool {
        match self.schema.string(name).as_ref() {
            "null" | "boolean" | "integer" | "number" => true,
            "string" => self.string_holds(node),
            "object" => self.members_hold(node),
            "array" => self.items_hold(node),
            _ => false,
        }
    }

    fn string_holds(&self, node: u32) -> bool {
        let narrow = |format| {
            let name = self.schema.string(format);
            is_narrow_format(&name) && self.reading.dialect.defines_format(&name)
        };
        self.reading.assert_formats && self.schema.get(node, "format").is_some_and(narrow)
    }

    /// No undeclared member, and every declared one closed. Names matched by a pattern are as
    /// good as undeclared.
    fn members_hold(&self, node: u32) -> bool {
        let sealed = self.is_false(node, "additionalProperties")
            || self.is_unevaluated_sealed(node, "unevaluatedProperties");
        let declared = |properties| {
            let mut members = self.schema.members(properties);
            members.all(|(_, schema)| self.closed(schema))
        };
        sealed
            && self.schema.get(node, "patternProperties").is_none()
            && self.schema.get(node, "properties").is_none_or(declared)
    }

    /// No element that a closed schema does not speak about.
    fn items_hold(&self, node: u32) -> bool {
        let get = |name| self.schema.get(node, name);
        let tuple = |list: u32| {
            self.schema.node(list).kind() == Kind::Array
                && self.schema.children(list).all(|item| self.closed(item))
        };
        let old_tuple = get("items").filter(|&items| self.schema.node(items).kind() == Kind::Array);
        let rest = if old_tuple.is_some() {
            get("additionalItems")
        } else {
            get("items")
        };
        let rest_holds = match rest {
            Some(rest) => self.closed(rest),
            None => self.is_unevaluated_sealed(node, "unevaluatedItems"),
        };
        rest_holds && get("prefixItems").is_none_or(tuple) && old_tuple.is_none_or(tuple)
    }

    fn is_false(&self, node: u32, name: &str) -> bool {
        let value = self.schema.get(node, name);
        value.is_some_and(|value| self.schema.node(value).kind() == Kind::False)
    }

    /// `unevaluated…: false`, in a dialect that knows it, on a schema with nothing else that evaluates.
    fn is_unevaluated_sealed(&self, node: u32, keyword: &str) -> bool {
        self.reading.dialect >= Dialect::Draft201909
            && self.is_false(node, keyword)
            && self.stands_alone(node)
    }

    fn stands_alone(&self, node: u32) -> bool {
        let mut members = self.schema.members(node);
        members.all(|(key, _)| !is_applicator(&self.schema.string(key)))
    }
}

/// Whether the grammar of a format leaves no room for prose. URIs, e-mail addresses, host names, pointers and regular
/// expressions do leave room.
fn is_narrow_format(name: &str) -> bool {
    matches!(
        name,
        "date" | "date-time" | "duration" | "ipv4" | "ipv6" | "time" | "uuid"
    )
}

/// Whether `unevaluated*` beside this keyword no longer speaks about the same schema object alone.
fn is_applicator(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref"
            | "$dynamicRef"
            | "$recursiveRef"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "if"
            | "then"
            | "else"
            | "dependentSchemas"
            | "dependencies"
            | "not"
    )
}

#[cfg(test)]
mod tests;
