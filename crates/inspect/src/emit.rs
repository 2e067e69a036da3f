//! The last stage, writing the answer: convert for the client's protocol version, put texts between boundaries, and
//! splice the edits into the bytes that arrived.

pub(crate) mod authored;
pub(crate) mod body;
pub(crate) mod boundary;
pub(crate) mod case;
pub(crate) mod egress;
pub(crate) mod inspected;
pub(crate) mod randomness;
pub(crate) mod refusal;
pub(crate) mod report;
pub(crate) mod segments;
