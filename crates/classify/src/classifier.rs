//! The trait of a classifier: it takes a few chunks of text and returns a verdict for each. Time limits,
//! caches and policies are the caller's.

use std::fmt;
use std::pin::Pin;

use crate::error::Error;
use crate::verdict::{Question, Verdict};

/// A running request for verdicts, one for each chunk. Dropping it cancels the request.
pub type VerdictFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Verdict>, Error>> + Send + 'a>>;

/// How much a classifier takes. Characters are counted as UTF-16 code units, which no count of characters exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters of one chunk.
    pub chunk_chars: usize,
    /// Chunks of one question.
    pub batch_chunks: usize,
    /// Characters of one question.
    pub batch_chars: usize,
}

/// A classifier.
pub trait Classifier: Send + Sync + fmt::Debug {
    /// What its operator calls it: a plain word, since it stands in reasons and metrics.
    fn name(&self) -> &str;

    /// Everything its verdicts depend on beside the text: provider, address, version, model, threshold. A verdict is
    /// remembered under it.
    fn identity(&self) -> &str;

    /// How much it takes at once.
    fn limits(&self) -> Limits;

    /// Whether its verdict may depend on where the text comes from.
    fn knows_origin(&self) -> bool {
        false
    }

    /// One verdict for each chunk, in their order.
    fn screen<'a>(&'a self, question: &'a Question) -> VerdictFuture<'a>;
}
