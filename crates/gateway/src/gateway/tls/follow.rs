//! The task that follows the files of TLS, as the configuration file is followed: their content is looked at once a second,
//! and files that cannot be used change nothing, loudly.

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::explain;
use countersign_inspect::Digest;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_rustls::rustls::ServerConfig;

use super::Tls;
use super::files::{Files, TlsError};
use crate::events;
use crate::services::{Phase, Runtime};

const PERIOD: Duration = Duration::from_secs(1);
/// Certificate and key are written one after the other: files that cannot be used are read again after this long.
const SETTLING: Duration = Duration::from_millis(250);
/// Files that differ at each reading are believed after so many.
const READINGS: u32 = 8;

/// What was read: a digest of it, or why it cannot be read.
type Seen = Result<Digest, String>;

impl Tls {
    /// Follows the files until the gateway stops.
    pub(in crate::gateway) async fn follow(self: Arc<Self>, runtime: Runtime) {
        let mut seen = Ok(self.first);
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = runtime.services.drain.wait_for_phase(Phase::Draining) => return,
                _ = ticks.tick() => {}
            }
            let (now, made) = self.read_settled(&seen).await;
            if now != seen {
                seen = now;
                self.apply(made, &runtime);
            }
        }
    }

    /// Reads the files; if they have changed and cannot be used, again after a moment.
    async fn read_settled(self: &Arc<Self>, seen: &Seen) -> (Seen, Result<ServerConfig, TlsError>) {
        let mut read = self.read().await;
        for _ in 0..READINGS {
            if read.0 == *seen || read.1.is_ok() {
                break;
            }
            sleep(SETTLING).await;
            let again = self.read().await;
            let is_settled = again.0 == read.0;
            read = again;
            if is_settled {
                break;
            }
        }
        read
    }

    async fn read(self: &Arc<Self>) -> (Seen, Result<ServerConfig, TlsError>) {
        let tls = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || {
            let files = match Files::read(&tls.config).transpose() {
                Some(Ok(files)) => files,
                Some(Err(error)) => return (Err(explain(&error)), Err(error)),
                // The configuration does not change while the gateway runs, and it names the files.
                None => return (Ok(tls.first), Ok(ServerConfig::clone(&tls.current.load()))),
            };
            let made = files
                .server_config()
                .and_then(|made| files.check_time().map(|()| made));
            (Ok(files.digest()), made)
        });
        read.await
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    fn apply(&self, made: Result<ServerConfig, TlsError>, runtime: &Runtime) {
        let services = &runtime.services;
        let error = made.as_ref().err().map(|error| explain(error));
        match (made, &error) {
            (Ok(config), _) => {
                self.current.store(Arc::new(config));
                events::CertificateApplied {}.emit(&services.events);
            }
            (Err(_), error) => events::CertificateRefused {
                error: error.as_deref().unwrap_or_default(),
            }
            .emit(&services.events),
        }
        services
            .reloads
            .set_status(|status| status.certificate_error = error);
    }
}
