//! `Caller`: who sends a request, as the door has established it. What the client calls itself is another thing, and proves
//! nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_audit::Timestamp;
use countersign_config::{CallerConfig, CallerRight};

/// The name of a caller that has shown no credential.
pub(super) const ANONYMOUS: &str = "anonymous";

use super::access::Subject;
use super::token_rules::IssuerRules;

/// The sender of a request, as far as it has proved who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// `key:ci`, `cert:mesh`, `local:1000` or `anonymous`, or the name of an issuer and the subject of its token.
    /// Sessions and streams belong to this name.
    pub(crate) name: Arc<str>,
    pub(crate) groups: BTreeSet<String>,
    /// The scopes of its token; nothing for a caller without one.
    pub(crate) scopes: Option<BTreeSet<String>>,
    pub(crate) rights: Rights,
    /// The issuer of its token, as it was configured when the token was accepted.
    pub(crate) issuer: Option<Arc<IssuerRules>>,
    /// When its credential ends.
    pub(crate) expires: Option<Timestamp>,
}

/// What a caller may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Use MCP.
    pub(crate) call: bool,
    /// Read activity, events and metrics.
    pub(crate) read: bool,
    /// Change something.
    pub(crate) manage: bool,
}

/// One of the rights: what a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// For everything under `/mcp`.
    Call,
    /// For what only reads: `GET /api`, `/events`, `/metrics`.
    Read,
    /// For every change.
    Manage,
}

impl Rights {
    /// What a caller of MCP needs, and nothing else.
    pub(crate) const CALL: Self = Self {
        call: true,
        read: false,
        manage: false,
    };
    /// What the `api_key` opens.
    pub(crate) const CLIENT: Self = Self {
        call: true,
        read: true,
        manage: false,
    };
    /// What the `admin_key` opens.
    pub(crate) const ALL: Self = Self {
        call: true,
        read: true,
        manage: true,
    };

    pub(crate) fn has(self, right: Right) -> bool {
        match right {
            Right::Call => self.call,
            Right::Read => self.read,
            Right::Manage => self.manage,
        }
    }
}

impl Caller {
    /// A caller without groups or scopes, whose credential does not end.
    pub(crate) fn new(name: impl Into<Arc<str>>, rights: Rights) -> Self {
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
    pub(crate) fn named(config: &CallerConfig) -> Self {
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
    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS, Rights::CALL)
    }

    /// A process of this machine under a user id that the kernel has told.
    pub(crate) fn local(uid: u32) -> Self {
        Self::new(format!("local:{uid}"), Rights::CALL)
    }

    /// The user that this process runs as: the client at the other end of a pipe has started it.
    pub(crate) fn this_process() -> Self {
        Self::local(rustix::process::getuid().as_raw())
    }

    /// As rules know it.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            name: &self.name,
            groups: &self.groups,
            scopes: self.scopes.as_ref(),
        }
    }

    /// Whether its credential has ended.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
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
