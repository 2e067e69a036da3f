//! The exporter against receivers on this machine. What is sent is read with OpenTelemetry's own message types.

mod faults;
mod receiver;
mod signals;
mod support;
