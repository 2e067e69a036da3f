//! One pass over JSON bytes: a borrowed tape of kinds and spans, with guards.
