//! What an adapter hands on: bytes, and the records that must be written down before.

use bytes::Bytes;

use countersign_inspect::Passed;

use crate::config::OnStoreError;
use crate::fidelity::Fidelity;
use crate::record;

/// A piece of what the client may read.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// The bytes.
    pub bytes: Bytes,
    /// Records as JSON objects, to be handed to the program before the bytes go on.
    pub records: Vec<String>,
    /// What to hand on in place of the bytes if a record could not be handed over. Nothing: the bytes go on all the same.
    pub refusal: Option<Bytes>,
}

impl Delivery {
    pub(crate) fn plain(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }

    /// What became of one message of a server; nothing if it was dropped. `frame` puts a message into its place in the
    /// line, body or stream.
    pub(crate) fn new(
        passed: &Passed,
        on_store_error: OnStoreError,
        fidelity: Fidelity,
        frame: impl Fn(&Bytes) -> Bytes,
    ) -> Option<Self> {
        let message = passed.message()?;
        let refuses = passed
            .calls()
            .iter()
            .any(|call| on_store_error.refuses(call.inspected().mode()));
        let calls = passed.calls().iter();
        Some(Self {
            bytes: frame(message),
            records: calls
                .flat_map(|call| record::for_call(call, fidelity))
                .collect(),
            refusal: refuses
                .then(|| passed.unrecorded())
                .flatten()
                .map(|bytes| frame(&bytes)),
        })
    }
}
