//! The tester against scripted servers.

mod client;
mod load;
mod support;
