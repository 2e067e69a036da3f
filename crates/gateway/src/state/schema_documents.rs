//! The documents that the references of one tool's schemas lead to, handed in where the schemas are compiled.

use bytes::Bytes;

/// The documents by their addresses, and why one more is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchemaDocuments {
    /// Each document, by the address that references name.
    pub(crate) found: Vec<(String, Bytes)>,
    /// Why a document that is referred to was not fetched, if one was not.
    pub(crate) refusal: Option<String>,
}
