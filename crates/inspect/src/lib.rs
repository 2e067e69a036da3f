//! One verdict for every tool result.
