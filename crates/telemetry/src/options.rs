//! What is sent, and where to.

use std::time::Duration;

use countersign_dial::{Site, SiteError};
use thiserror::Error;

/// What is sent, and where to. `Debug` does not show the values of headers.
#[derive(Clone)]
pub struct Options {
    /// The address of an OTLP/HTTP receiver, without `/v1/traces` and the like.
    pub endpoint: String,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// Whether spans are sent.
    pub traces: bool,
    /// Whether metrics are sent.
    pub metrics: bool,
    /// Whether decisions are sent.
    pub logs: bool,
    /// What the sender is: `service.name` and the like.
    pub resource: Vec<(String, String)>,
    /// How often metrics are sent.
    pub metrics_interval: Duration,
}

impl Options {
    /// Whether something can be sent with these options.
    pub fn check(&self) -> Result<(), SetupError> {
        Site::new(
            &self.endpoint,
            self.headers.iter().map(|(name, value)| (name, value)),
        )?;
        Ok(())
    }
}

/// Why nothing can be sent.
#[derive(Debug, Error)]
#[error("cannot use the address or the headers of the receiver")]
pub struct SetupError(#[from] SiteError);

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Options")
            .field("endpoint", &self.endpoint)
            .field("headers", &names)
            .field("traces", &self.traces)
            .field("metrics", &self.metrics)
            .field("logs", &self.logs)
            .field("resource", &self.resource)
            .field("metrics_interval", &self.metrics_interval)
            .finish()
    }
}
