//! The engine's promises, through its public face only.
//!
//! Suites that need data read the directory that `COUNTERSIGN_TEST_DATA` names, and say so when it is not set.

mod attacks;
mod dialects;
mod keywords;
mod peers;
mod suite;
mod support;
