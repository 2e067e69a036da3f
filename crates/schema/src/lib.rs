//! JSON Schema for schemas and data that somebody else wrote.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the validator is not there yet")
)]
mod format;
#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "the validator is not there yet")
)]
mod number;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the validator is not there yet")
)]
mod uri;
