//! One row of the policy table that a reply or a declaration does not keep to. It says where and
//! what, never how bad that is.

use countersign_inspect::Finding;

use crate::policy::Site;

/// One place where a reply or a declaration does not keep its contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The row of the policy table.
    pub site: Site,
    /// What was found there; pointers and types, never values.
    pub findings: Vec<Finding>,
}

impl Violation {
    /// A violation that its site says all about.
    pub fn of_site(site: Site) -> Self {
        Self::new(site, Vec::new())
    }

    pub(super) fn new(site: Site, findings: Vec<Finding>) -> Self {
        Self { site, findings }
    }
}
