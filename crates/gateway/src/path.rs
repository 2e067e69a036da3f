//! The path of a call from the client to the server and back: `call.rs` runs it, `route.rs` finds the tool, `screen.rs` asks
//! the classifiers, `reply.rs` writes the answer, `merged.rs` shows the prompts and resources of several servers as one.
//! `isolation.rs` says which connection a client uses, and `server_relay.rs` is the way back: what a server asks of a client.
//! `visible.rs` leaves out of lists what a caller may not see, and `request_state.rs` binds the rounds of a call to its
//! caller. Everything here is given one snapshot and the services.

pub(crate) mod call;
pub(crate) mod client;
pub(crate) mod isolation;
pub(crate) mod merged;
pub(crate) mod needed_login;
pub(crate) mod reply;
pub(crate) mod request_state;
pub(crate) mod route;
pub(crate) mod router;
pub(crate) mod screen;
pub(crate) mod server_instructions;
pub(crate) mod server_relay;
pub(crate) mod visible;
