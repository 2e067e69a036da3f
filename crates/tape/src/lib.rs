//! One pass over JSON bytes: a borrowed tape of kinds and spans, with guards.
//!
//! A message from an upstream is hostile until proven otherwise, so nothing here recurses on its depth,
//! allocates more than a small multiple of it, or panics on it. There are three ways in:
//!
//! - [`scan`] checks a message and finds the members a gateway interprets, without building anything;
//! - [`Tape::parse`] lays every value out as a 16-byte [`Node`], for a validator to walk;
//! - [`Edits`] changes spans and members and leaves every other byte as it was written.
//!
//! ```
//! use countersign_tape::{Kind, Limits, Tape};
//!
//! let tape = Tape::parse(br#"{"city":"Oslo","temp":[1,2.5]}"#, &Limits::default())?;
//! let temp = tape.get(0, "temp").expect("the member is there");
//! assert_eq!(tape.node(temp).kind(), Kind::Array);
//! let second = tape.children(temp).nth(1).expect("two elements");
//! assert_eq!(tape.raw(second), "2.5");
//! assert_eq!(tape.pointer(second), "/temp/1");
//! assert_eq!(tape.depth(), 3);
//! # Ok::<(), countersign_tape::ParseError>(())
//! ```

mod block;
mod compact;
mod duplicates;
mod edits;
mod envelope;
mod error;
mod excerpts;
mod fingerprint;
mod grammar;
mod kind;
mod masks;
mod node;
mod number;
mod parse;
mod parts;
mod pointer;
mod scan;
mod skip;
mod span;
mod string;
mod tape;
mod walk;

pub use compact::compact;
pub use edits::{EditError, EditedText, Edits, MemberPosition, Segment};
pub use envelope::{Envelope, Member};
pub use error::{ParseError, ScanError};
pub use excerpts::{Excerpt, Excerpts};
pub use fingerprint::{NameTag, ShortName, fingerprint};
pub use kind::Kind;
pub use masks::{BLOCK_LENGTH, Block, Escapes, each_place};
pub use node::Node;
pub use parts::{PartBuffers, PartTapes, ReadValue, ValueReader, WantedParts};
pub use scan::{Scan, ScanLimits, scan};
pub use span::{RawElements, RawMembers, Span, elements, members};
pub use string::{escape_into, quote, unescape, unescape_into};
pub use tape::{Children, Limits, Members, Scratch, Tape};
pub use walk::{Container, Sink, first_text_member, walk};
