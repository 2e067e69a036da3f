//! The crate's laws, through its public face only.

mod tape;
