//! Whether the clients of a server share one connection to it.

use countersign_inspect::word_enum;

use super::setting::{plain, read_word};

/// What `isolation` may be: a choice by its word, or `auto`, which is the word of none.
pub(crate) const ISOLATIONS: &[&str] = &["auto", "shared", "client"];

word_enum! {
    /// Whether the clients of a server share one connection to it.
    pub enum Isolation {
        /// All clients share one session or process.
        Shared = "shared",
        /// Each client with a session has a session or process of its own.
        Client = "client",
    }
}

plain! { Isolation: read_word, Isolation::clone; }
