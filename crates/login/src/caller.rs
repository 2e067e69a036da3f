//! `Caller`: who sends a request, as the door has established it. What the client calls itself is another thing, and proves
//! nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_audit::Timestamp;
use countersign_config::{CallerConfig, CallerRight};
use countersign_token as token;

/// The name of a caller that has shown no credential.
pub const ANONYMOUS: &str = "anonymous";

use crate::access::Subject;
use crate::token_rules::{IssuerRules, TokenRules};

/// The sender of a request, as far as it has proved who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// `key:ci`, `cert:mesh`, `local:1000` or `anonymous`, or the name of an issuer and the subject of its token.
    /// Sessions and streams belong to this name.
    pub name: Arc<str>,
    /// Its groups, which rules may name.
    pub groups: BTreeSet<String>,
    /// The scopes of its token; nothing for a caller without one.
    pub scopes: Option<BTreeSet<String>>,
    /// What it may do.
    pub rights: Rights,
    /// The issuer of its token, as it was configured when the token was accepted.
    pub issuer: Option<Arc<IssuerRules>>,
    /// When its credential ends.
    pub expires: Option<Timestamp>,
}

/// What a caller may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Use MCP.
    pub call: bool,
    /// Read activity, events and metrics.
    pub read: bool,
    /// Change something.
    pub manage: bool,
}

/// One of the rights: what a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// For everything under `/mcp`.
    Call,
    /// For what only reads: `GET /api`, `/events`, `/metrics`.
    Read,
    /// For every change.
    Manage,
}

impl Rights {
    /// What a caller of MCP needs, and nothing else.
    pub const CALL: Self = Self {
        call: true,
        read: false,
        manage: false,
    };
    /// What the `api_key` opens.
    pub const CLIENT: Self = Self {
        call: true,
        read: true,
        manage: false,
    };
    /// What the `admin_key` opens.
    pub const ALL: Self = Self {
        call: true,
        read: true,
        manage: true,
    };

    /// Whether a right is among them.
    pub fn has(self, right: Right) -> bool {
        match right {
            Right::Call => self.call,
            Right::Read => self.read,
            Right::Manage => self.manage,
        }
    }
}

impl Caller {
    /// A caller without groups or scopes, whose credential does not end.
    pub fn new(name: impl Into<Arc<str>>, rights: Rights) -> Self {
        Self {
            name: name.into(),
            groups: BTreeSet::new(),
            scopes: None,
            rights,
            issuer: None,
            expires: None,
        }
    }

    /// A caller that the configuration names.
    pub fn named(config: &CallerConfig) -> Self {
        let has = |right| config.rights.contains(&right);
        let rights = Rights {
            call: has(CallerRight::Call),
            read: has(CallerRight::Read),
            manage: has(CallerRight::Manage),
        };
        Self {
            groups: config.groups.iter().cloned().collect(),
            expires: config.expires,
            ..Self::new(config.full_name(), rights)
        }
    }

    /// A client of MCP that has shown no credential, where none is asked for.
    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS, Rights::CALL)
    }

    /// A process of this machine under a user id that the kernel has told.
    pub fn local(uid: u32) -> Self {
        Self::new(format!("local:{uid}"), Rights::CALL)
    }

    /// The user that this process runs as: the client at the other end of a pipe has started it.
    pub fn this_process() -> Self {
        Self::local(rustix::process::getuid().as_raw())
    }

    /// As rules know it.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            name: &self.name,
            groups: &self.groups,
            scopes: self.scopes.as_ref(),
        }
    }

    /// Whether its credential has ended.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl TokenRules {
    /// The caller that a token proves, with the rights of its scopes and groups.
    pub fn caller(&self, token: &token::Caller) -> Caller {
        let scopes = self.with_implied(&token.scopes);
        let is_member = |groups: &[String]| groups.iter().any(|it| token.groups.contains(it));
        let manage = is_member(&self.manage_groups);
        let rights = Rights {
            call: self.scopes.iter().all(|scope| scopes.contains(scope)),
            read: manage || is_member(&self.read_groups),
            manage,
        };
        // The difference of clocks is added: until then the token is accepted, so its streams must not end before.
        let is_it = |rules: &&Arc<IssuerRules>| rules.issuer.name == token.issuer;
        let issuer = self.issuers.iter().find(is_it);
        let skew = issuer.map_or(0, |rules| rules.issuer.clock_skew);
        let millis = token.expires.saturating_add(skew).saturating_mul(1000);
        Caller {
            groups: token.groups.clone(),
            scopes: Some(scopes),
            issuer: issuer.cloned(),
            expires: Some(Timestamp::from_millis(millis)),
            ..Caller::new(token.to_string(), rights)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_one_of_three() {
        for (rights, has) in [
            (Rights::default(), [false, false, false]),
            (Rights::CALL, [true, false, false]),
            (Rights::CLIENT, [true, true, false]),
            (Rights::ALL, [true, true, true]),
        ] {
            let all = [Right::Call, Right::Read, Right::Manage];
            assert_eq!(all.map(|right| rights.has(right)), has);
        }
    }

    #[test]
    fn a_credential_ends_at_its_time() {
        let mut caller = Caller::anonymous();
        let now = Timestamp::from_millis(5);
        assert!(!caller.has_expired(now));
        caller.expires = Some(now);
        assert!(caller.has_expired(now) && !caller.has_expired(Timestamp::from_millis(4)));
    }
}
