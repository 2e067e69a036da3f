//! An MCP client that keeps the bytes of what servers send: stdio, Streamable HTTP and the HTTP transport before it, in both
//! eras, with sessions, reconnects and notifications.

mod announcement;
mod authorizer;
pub mod backoff;
mod cancel_reason;
mod client;
mod connection;
mod diagnostics;
mod era_preference;
mod eras;
mod error;
mod gate;
mod header_mismatch;
mod hello;
mod http;
mod lease;
pub mod notes;
mod observer;
mod peer;
mod pending;
mod retry;
mod server_error;
mod server_handle;
mod state;
mod stdio;
mod supervisor;
mod timeouts;
mod timings;

pub use announcement::Announcement;
pub use authorizer::{Authorizer, AuthorizerFuture, NoAuthorization, TokenRefusal};
pub use cancel_reason::CancelReason;
pub use client::{
    Client, ConnectError, Declaration, ErrorReply, Exchange, Fault, List, ListError, Options,
    Reply, Target,
};
pub use connection::{Connection, PendingRequest};
pub use countersign_dial::{Site, SiteError};
pub use diagnostics::{Diagnostics, FailureInfo, excerpt};
pub use eras::{KnownEras, ServerEra};
pub use error::Error;
pub use hello::Identity;
pub use lease::Lease;
pub use notes::{NoteSink, Notes};
pub use observer::{Observer, ServerFailure};
pub use peer::{Peer, PeerMessage};
pub use server_error::ServerError;
pub use server_handle::{Limits, ServerHandle};
pub use state::{State, ready};
pub use stdio::program::{Inheritance, Program};
pub use supervisor::{
    HttpServer, HttpTransport, OwnConnection, ServerExit, ServerTransport, StdioServer,
    Supervision, Supervisor,
};
