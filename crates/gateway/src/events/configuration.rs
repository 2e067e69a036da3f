//! About configurations that came while the gateway runs.

use super::{Events, LIFECYCLE, count};

use crate::config_change::{AppliedConfig, Notice};

/// A new configuration holds.
pub(crate) struct ConfigApplied<'a> {
    pub(crate) file: &'a str,
    pub(crate) applied: &'a AppliedConfig,
}

impl ConfigApplied<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.config_reloads);
        let Self { file, applied } = *self;
        let listed = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        let summary = &applied.summary;
        tracing::info!(
            target: LIFECYCLE,
            file,
            servers_added = listed(&summary.added),
            servers_removed = listed(&summary.removed),
            servers_changed = listed(&summary.changed),
            keys_changed = listed(&summary.keys),
            "{}",
            if applied.changed.is_empty() {
                "the configuration was read again; nothing changed"
            } else {
                "the new configuration holds"
            }
        );
        for warning in &applied.warnings {
            let hint = warning.hint.as_deref().unwrap_or_default();
            tracing::warn!(hint, "{}", warning.message);
        }
        if !applied.needs_restart.is_empty() {
            let keys = applied.needs_restart.join(", ");
            tracing::warn!(
                file,
                keys,
                "these settings wait for a restart; the rest holds"
            );
        }
    }
}

/// A new configuration cannot be used.
pub(crate) struct ConfigRefused<'a> {
    pub(crate) file: &'a str,
    pub(crate) errors: &'a [Notice],
}

impl ConfigRefused<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.config_refusals);
        let Self { file, errors } = *self;
        for error in errors {
            let hint = error.hint.as_deref().unwrap_or_default();
            let error = &*error.message;
            tracing::warn!(
                file,
                error,
                hint,
                "the new configuration is not used; what held before holds"
            );
        }
    }
}

/// A new certificate is used.
pub(crate) struct CertificateApplied {}

impl CertificateApplied {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.certificate_reloads);
        let Self {} = self;
        tracing::info!(target: LIFECYCLE, "new connections get the new certificate");
    }
}

event! {
    /// The files of `tls` have changed and cannot be used.
    CertificateRefused<'a> { error: &'a str }
    counts certificate_refusals, logs error "the new certificate is not used; the one before is"
}
