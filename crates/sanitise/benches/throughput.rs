//! Placeholder until the corpus builders exist.
fn main() {}
