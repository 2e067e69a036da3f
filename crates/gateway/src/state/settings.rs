//! What the configuration makes of a gateway, ready to be used: itself, what is kept of payloads, and who may come in.
//! Immutable, like the snapshot it is a part of. A call keeps the settings it began with, and nothing else of its snapshot,
//! so that a long call does not keep other servers alive.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_audit::{KeyDigest, PayloadPolicy, Redactor};
use countersign_config::{Config, Tls};
use countersign_inspect::{Digest, encode_hex};
use countersign_login::{AccessDecision, AccessRules, Item, RulePath};

use super::{Caller, Guard, TokenRules};

/// One configuration in use.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Arc<Config>,
    pub(crate) payloads: PayloadPolicy,
    /// Checks who may come in. None if the gateway does not listen.
    pub(crate) guard: Option<Guard>,
    /// Which tokens are accepted, if any are.
    pub(crate) tokens: Option<TokenRules>,
    /// Which callers may see and use what. None if every caller may use everything.
    pub(crate) access: Option<AccessRules>,
    /// Equal for gateways whose configurations say the same.
    pub(crate) digest: String,
}

impl Settings {
    /// `guard`: none for a gateway that listens nowhere, so that no client is ever asked for a key.
    pub(crate) fn new(config: Config, guard: Option<Guard>) -> Self {
        Self::of(Arc::new(config), guard)
    }

    fn of(config: Arc<Config>, guard: Option<Guard>) -> Self {
        let activity = &config.activity;
        let payloads = PayloadPolicy::new(
            activity.payloads,
            activity.payload_max_bytes,
            Redactor::default(),
        );
        Self {
            digest: digest(&config),
            tokens: TokenRules::from_config(&config),
            access: AccessRules::new(&config),
            guard,
            payloads,
            config,
        }
    }

    /// The same settings, in which these keys and certificates open nothing.
    pub(crate) fn without_revoked(&self, keys: &HashSet<KeyDigest>) -> Self {
        let guard = self.guard.as_ref().map(|guard| guard.without_revoked(keys));
        Self::of(Arc::clone(&self.config), guard)
    }

    /// Whether sessions of the caller of this name go on: there still is such a caller, or its issuer is still configured.
    pub(crate) fn knows_caller(&self, name: &str) -> bool {
        let Some(guard) = &self.guard else {
            return true;
        };
        guard.knows(name).unwrap_or_else(|| {
            let rules = self.tokens.as_ref();
            rules.is_some_and(|rules| rules.has_issuer_of(name))
        })
    }

    /// Whether a caller that was let in still is.
    pub(crate) fn still_admits(&self, caller: &Arc<Caller>) -> bool {
        // A gateway without a guard listens nowhere; its one client holds a pipe.
        let Some(guard) = &self.guard else {
            return true;
        };
        match &caller.issuer {
            Some(issuer) => {
                let rules = self.tokens.as_ref();
                rules.is_some_and(|rules| rules.issuers.contains(issuer))
            }
            None => guard.still_admits(caller),
        }
    }
}

impl Settings {
    /// What a caller may do with an item.
    pub(crate) fn decide(&self, caller: &Caller, item: Item<'_>) -> AccessDecision {
        match &self.access {
            None => AccessDecision::Permit(RulePath::Default),
            Some(rules) => rules.decide(caller.subject(), item),
        }
    }

    /// Whether a caller may see anything of a server.
    pub(crate) fn may_reach(&self, caller: &Caller, server: &str) -> bool {
        let rules = self.access.as_ref();
        rules.is_none_or(|rules| rules.may_reach(caller.subject(), server))
    }

    /// Whether callers may see and use the same as under other settings.
    pub(crate) fn has_same_access(&self, other: &Self) -> bool {
        match (&self.access, &other.access) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            _ => false,
        }
    }
}

/// A digest of what `config show` prints: without secrets, and without what each gateway has of its own.
fn digest(config: &Config) -> String {
    let mut shared = config.clone();
    shared.listen = ([0, 0, 0, 0], 0).into();
    shared.tls = Tls::default();
    shared.data_dir = PathBuf::new();
    let digest = Digest::sha256(shared.show().as_bytes());
    encode_hex(&digest.as_bytes()[..8])
}
