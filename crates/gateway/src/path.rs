//! The path of a call from the client to the server and back: `call.rs` runs it, `route.rs` finds the tool, `screen.rs` asks
//! the classifiers, `reply.rs` writes the answer. Everything here is given one snapshot and the services.

pub(crate) mod call;
pub(crate) mod client;
pub(crate) mod reply;
pub(crate) mod route;
pub(crate) mod router;
pub(crate) mod screen;
