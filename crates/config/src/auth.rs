//! Tokens of authorization servers: whose are accepted, and what they open.

use std::collections::BTreeMap;

use serde::Serialize;

use super::effective::EffectiveSettings;
use super::issuer::Issuer;
use super::keys::{Form, Key};
use super::problem::Problem;
use super::reader::Reader;
use super::setting::{Setting, keep, keys};

/// The scope that a token needs, unless the file says otherwise.
const SCOPE: &str = "mcp:use";

keys! {
    /// Tokens that clients get from an authorization server and send to `/mcp`. Without `issuers`, keys are the only
    /// credentials. See [sign in](../guides/sign-in.md).
    #[block("auth")]
    pub struct Auth {
        /// The scopes that a token needs for `/mcp`, all of them. Clients are told to ask for these.
        #[key(Form::Texts, Reload)]
        scopes: Vec<String> = vec![SCOPE.to_owned()], read read_scopes;
        /// Scopes that stand for others: a token with the scope on the left has those on the right too.
        #[key(Form::TextsMap, Reload)]
        scope_implies: BTreeMap<String, Vec<String>> = BTreeMap::new(), read read_implied;
        /// Groups whose members may read `GET /api`, `/events`, `/metrics` and the console with their token. Without them,
        /// a token opens `/mcp` only.
        #[key(Form::Texts, Reload)]
        read_groups: Vec<String> = Vec::new();
        /// Groups whose members may do with their token what needs the `admin_key`; reading included.
        #[key(Form::Texts, Reload)]
        manage_groups: Vec<String> = Vec::new();
        /// The authorization servers whose tokens are accepted.
        #[key(Form::Blocks(Issuer::BLOCK), Reload)]
        issuers: Vec<Issuer> = Vec::new();
    }
}

impl Auth {
    /// Whether a key beside `issuers` differs from its default.
    pub(crate) fn says_something(&self) -> bool {
        self.scopes != [SCOPE]
            || !self.scope_implies.is_empty()
            || !self.read_groups.is_empty()
            || !self.manage_groups.is_empty()
    }
}

impl Default for Auth {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Setting for BTreeMap<String, Vec<String>> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let members = reader.members(node).into_iter();
        Some(
            members
                .map(|(name, node)| (name, reader.texts(node)))
                .collect(),
        )
    }

    fn show<'a>(&'a self, _: Form, _: &'a EffectiveSettings) -> Option<impl Serialize + 'a> {
        Some(self)
    }

    fn keep(&mut self, running: &Self, key: &Key, waiting: &mut Vec<String>) {
        let is_same = self == running;
        keep(self, running, is_same, key, waiting);
    }
}

fn read_scopes(reader: &mut Reader<'_, '_>, node: u32, scopes: &mut Vec<String>) {
    *scopes = reader.texts(node);
    check_scopes(reader, node);
    if scopes.is_empty() {
        let message = "every token of an issuer for this gateway opens /mcp, whatever its scopes";
        let hint = format!("remove the key to ask for \"{SCOPE}\", or name a scope");
        reader.warn(node, Problem::new(message, hint));
    }
}

fn read_implied(
    reader: &mut Reader<'_, '_>,
    node: u32,
    implied: &mut BTreeMap<String, Vec<String>>,
) {
    for (name, node) in reader.members(node) {
        if !is_scope(&name) {
            refuse_scope(reader, node);
        }
        check_scopes(reader, node);
        implied.insert(name, reader.texts(node));
    }
}

/// Each text of an array is a scope.
fn check_scopes(reader: &mut Reader<'_, '_>, node: u32) {
    let elements: Vec<_> = reader.tape().children(node).collect();
    for element in elements {
        if !is_scope(&reader.text(element)) {
            refuse_scope(reader, element);
        }
    }
}

fn refuse_scope(reader: &mut Reader<'_, '_>, node: u32) {
    let hint = "write one word, such as \"mcp:use\"";
    reader.refuse(node, "not a scope", hint);
}

/// What RFC 6749 (section 3.3) allows.
fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    !text.is_empty() && text.bytes().all(is_allowed)
}
