//! The plan file: server, validation, load, scenarios, thresholds, output.
