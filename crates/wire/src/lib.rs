//! MCP as bytes, without I/O: versions and eras, methods, capabilities, headers, error codes and `_meta` keys, the heads of
//! JSON-RPC messages, and the messages that are sent to a server. Nothing here re-serialises what a peer wrote.
//!
//! ```
//! use countersign_wire::{Head, head, message};
//!
//! let request = message::request(7, "tools/call", br#"{"name":"t","arguments":{"n":1.0}}"#);
//! assert!(request.ends_with(br#""params":{"name":"t","arguments":{"n":1.0}}}"#), "the bytes are kept");
//! let Head::Answer(id) = head::read(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#) else { panic!("no answer") };
//! assert_eq!(id, 7);
//! ```

mod capability;
pub mod error_code;
pub mod head;
pub mod header;
pub mod json;
pub mod message;
pub mod meta;
mod method;
mod mirrored;
pub mod version;

pub use capability::{Capabilities, Capability};
pub use countersign_inspect::Era;
pub use head::Head;
pub use method::Method;
pub use mirrored::{MirroredArguments, Subject};
