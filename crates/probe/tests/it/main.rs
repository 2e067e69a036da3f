//! The tester against scripted servers.

mod client;
mod load;
mod overhead;
mod support;
