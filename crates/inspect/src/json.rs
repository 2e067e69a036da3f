//! Helpers on JSON text that several stages share: finding strings, comparing values, replacing part of a string, and
//! reusable parser buffers.

pub(crate) mod equal;
pub(crate) mod scratch;
pub(crate) mod splice;
pub(crate) mod strings;
