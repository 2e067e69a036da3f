//! The crate's laws, through its public face only.

mod compact;
mod document;
mod duplicates;
mod edits;
mod grammar;
mod real;
mod scan;
mod tape;
