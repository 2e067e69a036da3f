//! What an operator should know about the running gateway, as types: emitting one writes the log
//! line and counts it, so the two cannot disagree. Payloads are never among the fields.

/// An event: a struct whose `emit` counts it and logs its fields.
macro_rules! event {
    (
        $(#[$meta:meta])*
        $name:ident $(<$life:lifetime>)? { $($field:ident: $type:ty),* }
        counts $counter:ident, logs $level:ident $message:literal
    ) => {
        $(#[$meta])*
        pub(crate) struct $name $(<$life>)? { $(pub(crate) $field: $type),* }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) fn emit(&self, events: &$crate::events::Events) {
                $crate::events::count(&events.$counter);
                let Self { $($field),* } = *self;
                tracing::$level!($($field,)* $message);
            }
        }
    };
}

mod access;
mod call;
mod classified;
mod configuration;
mod list;
mod server;

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use access::{
    Evicted, Foreign, HandshakeFailed, IssuerUnreachable, NoRight, NotAdmin, ScopeMissing,
    TokenInQuery, TokenRefused, TwoCredentials, Unauthorised,
};
pub(crate) use call::{CallAnswered, Unrecorded};
pub(crate) use classified::ResultClassified;
pub(crate) use configuration::{
    CertificateApplied, CertificateRefused, ConfigApplied, ConfigRefused,
};
pub(crate) use list::{ListCaptured, ListCut, ListDelayed, ListFailed, ToolSkipped};
pub(crate) use server::ServerReady;

/// The target of the few lines that `serve` shows by default though nothing is wrong: a server came up, a new configuration
/// holds.
const LIFECYCLE: &str = "countersign::lifecycle";

macro_rules! counters {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        /// How often each thing has happened since the start.
        #[derive(Debug, Default)]
        pub(crate) struct Events {
            $($(#[$meta])* $name: AtomicU64,)+
        }

        impl Events {
            /// Every counter by its name.
            pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.load(Ordering::Relaxed)),)+]
            }
        }
    };
}

counters! {
    /// Calls answered.
    calls,
    /// Answers that no request waited for: late, doubled, or under a wrong id.
    stray_answers,
    /// Lines of a child that are no messages.
    lines_skipped,
    /// Lines of a child that were too long, or that there was no memory for.
    lines_refused,
    /// Times a server came up.
    server_starts,
    /// Times a server could not be started.
    server_start_failures,
    /// Times a running server went away.
    server_losses,
    /// Tool lists captured.
    lists_captured,
    /// Tool lists that could not be fetched.
    list_failures,
    /// Tool lists that have no end, or more than is kept.
    lists_cut,
    /// Tool lists fetched later because the server changes its list too often.
    lists_delayed,
    /// Entries of tool lists that are no tools.
    tools_skipped,
    /// Requests with a wrong or missing key.
    unauthorised,
    /// Requests that would change something, with the clients' key.
    not_admin,
    /// Requests of callers without the right that they need.
    no_right,
    /// Requests with more than one credential.
    two_credentials,
    /// Tokens that are not accepted.
    tokens_refused,
    /// Tokens without the scopes that are needed.
    scopes_missing,
    /// Requests with a token in their address.
    tokens_in_query,
    /// Tokens that could not be checked, because their issuer was out of reach.
    issuer_unreachable,
    /// Requests with a foreign `Host` or `Origin`.
    foreign,
    /// Connections without a key that were closed because newer ones came.
    evicted,
    /// TLS handshakes that failed.
    handshake_failures,
    /// Calls whose records could not be written.
    unrecorded,
    /// Times a new configuration came to hold.
    config_reloads,
    /// Times a new configuration was refused.
    config_refusals,
    /// Times a new certificate came to be used.
    certificate_reloads,
    /// Times a new certificate could not be used.
    certificate_refusals,
    /// Results a classifier was asked about.
    classified,
    /// Those of them it had no verdict about, or not about all of it.
    classifier_errors,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
