//! What an operator may say about inspection. Two layers: `Raw…` is what a file says, every key
//! optional, unknown keys and values refused; the plain type is what holds for one tool once
//! global, server and tool blocks are merged key by key. No file is read here.

mod block;
mod input;
mod output;
mod sanitisation;

pub use input::{InputValidation, RawInputValidation};
pub use output::{
    Advertise, Egress, GuardScope, OutputValidation, Posture, RawOutputValidation, Tolerance,
};
pub use sanitisation::{
    Invisibles, MirrorText, NonceSource, Normalisation, OnToken, OutputSanitisation,
    RawOutputSanitisation, SanitiseMode, Structured, Wrap,
};
