//! The protocol versions.

/// The modern version.
pub const MODERN: &str = "2026-07-28";
/// The legacy versions, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
