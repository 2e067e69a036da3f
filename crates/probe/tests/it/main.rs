//! The tester against scripted servers.

mod client;
mod support;
