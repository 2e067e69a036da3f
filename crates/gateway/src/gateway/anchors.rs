//! Publishes the signed heads of the log where the operator says, so that a store that is rolled back or replaced later
//! contradicts something that is not in it. One task for each place, beside every call: a place that does not answer is
//! tried again with the newest head, and nothing waits for it.

mod http;
mod object_store;
mod witness;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_audit::{Reader, SignedHead, Store};
use countersign_config::{Anchor, AnchorTarget, Config};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(10);
/// How long to wait after a failure: from the first to the second value.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// How long a gateway that stops waits for its last head to be published.
const LAST: Duration = Duration::from_secs(5);

/// The tasks that publish, until the gateway stops.
#[derive(Debug)]
pub(super) struct Anchors {
    tasks: Vec<JoinHandle<()>>,
    is_stopping: watch::Sender<bool>,
}

impl Anchors {
    /// Starts a task for each place. Where standard output belongs to the client, it is no place for log heads.
    pub(super) fn start(config: &Config, store: &Store, has_stdout: bool) -> Self {
        let is_stopping = watch::Sender::new(false);
        let is_usable = |anchor: &&Anchor| {
            let is_usable = has_stdout || !matches!(anchor.target, AnchorTarget::Stdout);
            if !is_usable {
                tracing::warn!(
                    "log heads are not written to standard output here: it carries messages to the client"
                );
            }
            is_usable
        };
        let anchors = config.activity.anchors.iter().filter(is_usable);
        let start = |anchor: &Anchor| {
            let publisher = Publisher {
                anchor: anchor.clone(),
                reader: store.reader().clone(),
                published: 0,
                witness_size: 0,
            };
            tokio::spawn(publisher.run(store.log_head(), is_stopping.subscribe()))
        };
        Self {
            tasks: anchors.map(start).collect(),
            is_stopping,
        }
    }

    /// Publishes the last head, if that does not take long. Call it when the store is closed.
    pub(super) async fn finish(self) {
        self.is_stopping.send_replace(true);
        for task in self.tasks {
            let abort = task.abort_handle();
            if timeout(LAST, task).await.is_err() {
                tracing::warn!("the last log head could not be published in time");
                abort.abort();
            }
        }
    }
}

/// Why a head was not published.
type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Publisher {
    anchor: Anchor,
    reader: Reader,
    /// The size of the last head that was published here.
    published: u64,
    /// The size that the witness knows, as far as this process knows.
    witness_size: u64,
}

impl Publisher {
    async fn run(
        mut self,
        mut heads: watch::Receiver<Option<Arc<SignedHead>>>,
        mut is_stopping: watch::Receiver<bool>,
    ) {
        let mut backoff = BACKOFF.0;
        loop {
            let is_last = *is_stopping.borrow_and_update();
            let head = heads.borrow_and_update().clone();
            let head = head.filter(|head| head.size > self.published);
            let mut has_failed = false;
            if let Some(head) = head {
                let published = timeout(ATTEMPT, self.publish(&head)).await;
                let published = published.unwrap_or_else(|_| Err("no answer in time".into()));
                has_failed = published.is_err();
                self.note(&head, published, backoff);
            }
            if is_last {
                return;
            }
            if has_failed {
                tokio::select! {
                    () = sleep(backoff) => {}
                    _ = is_stopping.changed() => {}
                }
                backoff = (backoff * 2).min(BACKOFF.1);
                continue;
            }
            backoff = BACKOFF.0;
            tokio::select! {
                changed = heads.changed() => if changed.is_err() { return },
                changed = is_stopping.changed() => if changed.is_err() { return },
            }
        }
    }

    fn note(&mut self, head: &SignedHead, published: Result<(), Failure>, backoff: Duration) {
        match published {
            Ok(()) => {
                self.published = head.size;
                if backoff > BACKOFF.0 {
                    tracing::warn!(
                        anchor = self.anchor.shown(),
                        size = head.size,
                        "log heads are published again"
                    );
                }
            }
            // Said once; it is tried again until it succeeds.
            Err(error) if backoff == BACKOFF.0 => {
                tracing::warn!(%error, anchor = self.anchor.shown(), size = head.size, "a log head cannot be published");
            }
            Err(error) => tracing::debug!(%error, "a log head still cannot be published"),
        }
    }

    async fn publish(&mut self, head: &SignedHead) -> Result<(), Failure> {
        // An empty line between two heads.
        let text = || format!("{}\n", head.note);
        let sized = |url: &str| url.replace("{size}", &head.size.to_string());
        match &self.anchor.target {
            AnchorTarget::Stdout => {
                let text = text();
                Ok(spawn_blocking(move || print(&text)).await??)
            }
            AnchorTarget::File(path) => {
                let (path, text) = (path.clone(), text());
                Ok(spawn_blocking(move || append(&path, &text)).await??)
            }
            AnchorTarget::Post(url) => http::send("POST", &sized(url), head.note.clone()).await,
            AnchorTarget::Put(url) => http::send("PUT", &sized(url), head.note.clone()).await,
            AnchorTarget::ObjectStore(store) => {
                object_store::put(store, &sized(&store.url), &head.note).await
            }
            AnchorTarget::Witness { url, key } => {
                let known = self.witness_size.min(head.size);
                let size = witness::ask(&self.reader, url, key, head, known).await?;
                self.witness_size = size;
                Ok(())
            }
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// One write call, so that processes that share the file do not interleave.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}
