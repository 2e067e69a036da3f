//! The crate's laws, through its public face only.

mod document;
mod duplicates;
mod edits;
mod grammar;
mod scan;
mod tape;
