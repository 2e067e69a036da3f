//! The interface to injection classifiers, which run outside this crate between `examine` and `conclude`: the texts they
//! are given and the findings they return.

pub(crate) mod screening;
pub(crate) mod texts;
