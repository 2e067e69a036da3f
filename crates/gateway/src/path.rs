//! The path of a call: route, call, screen, reply.

pub(crate) mod call;
pub(crate) mod reply;
pub(crate) mod route;
pub(crate) mod router;
pub(crate) mod screen;
