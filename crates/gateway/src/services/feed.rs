//! The newest records as events, read from the store and written as text once for all streams. It is kept up to date
//! while there are streams, and its size is bounded: a stream that needs older records is too slow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use countersign_audit::{Filter, StoredRecord};
use countersign_dial::lock;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use super::{Phase, Services};

/// Records read at a time.
pub(crate) const STEP: usize = 100;
/// How much is held.
const MOST_EVENTS: usize = 1000;
const MOST_BYTES: usize = 4 << 20;
/// Streams that read the store at once.
const CATCHING_UP: usize = 4;

/// What all streams read.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    /// Notified when there are new records, or the feed has ended.
    grown: watch::Sender<()>,
    streams: Arc<AtomicUsize>,
    /// Reads of the store at once, for streams that begin or have something to catch up with.
    catching_up: Semaphore,
}

#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    /// All records after this sequence number, up to `to`, are in `events`.
    from: u64,
    to: u64,
    is_fed: bool,
}

/// A record, and how a stream writes it.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) stored: StoredRecord,
    pub(crate) text: String,
}

/// A stream reads the feed for as long as this lives.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) grown: watch::Receiver<()>,
    streams: Arc<AtomicUsize>,
}

/// What follows a sequence number.
#[derive(Debug)]
pub(crate) enum NextEvents {
    /// These records, and the number to go on with.
    Events(Vec<Arc<Event>>, u64),
    /// The number is too old: the records that follow it are in the store only.
    Behind,
    /// The store cannot be read any more.
    Ended,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self {
            ring: Mutex::default(),
            grown: watch::Sender::new(()),
            streams: Arc::default(),
            catching_up: Semaphore::new(CATCHING_UP),
        }
    }

    /// Opens a stream; `None` if `max_streams` or more are open.
    pub(crate) fn subscribe(&self, max_streams: usize) -> Option<Subscription> {
        let one_more = |streams| (streams < max_streams).then_some(streams + 1);
        self.streams
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more)
            .ok()?;
        Some(Subscription {
            grown: self.grown.subscribe(),
            streams: Arc::clone(&self.streams),
        })
    }

    /// Has the feed begin at `newest` unless it runs. Its caller has a subscription, so the feed goes on.
    pub(crate) fn begin(services: &Arc<Services>, newest: u64) {
        let mut ring = lock(&services.feed.ring);
        if !ring.is_fed {
            *ring = Ring {
                from: newest,
                to: newest,
                is_fed: true,
                ..Ring::default()
            };
            tokio::spawn(feed_streams(Arc::clone(services)));
        }
    }

    /// What follows a sequence number, at most `STEP` records.
    pub(crate) fn events_after(&self, place: u64) -> NextEvents {
        let ring = lock(&self.ring);
        if !ring.is_fed {
            return NextEvents::Ended;
        }
        if place < ring.from {
            return NextEvents::Behind;
        }
        let start = ring
            .events
            .partition_point(|event| event.stored.seq <= place);
        let events: Vec<_> = ring.events.iter().skip(start).take(STEP).cloned().collect();
        let is_all = events.len() < STEP;
        let last = events.last().map(|event| event.stored.seq);
        let next = last.filter(|_| !is_all).unwrap_or(ring.to);
        NextEvents::Events(events, next.max(place))
    }

    /// Waits until a stream may read the store itself.
    pub(crate) async fn catch_up_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.catching_up.acquire().await.ok()
    }

    /// How many streams there are.
    pub(crate) fn streams(&self) -> usize {
        self.streams.load(Ordering::SeqCst)
    }

    /// Adds records up to a sequence number; false if no stream reads them: then the feed has ended.
    fn extend(&self, records: Vec<StoredRecord>, to: u64) -> bool {
        let events: Vec<_> = records.into_iter().filter_map(Event::new).collect();
        let mut ring = lock(&self.ring);
        for event in events {
            ring.push(Arc::new(event));
        }
        ring.to = ring.to.max(to);
        if self.streams() == 0 {
            *ring = Ring::default();
        }
        ring.is_fed
    }

    /// Ends all streams.
    fn end(&self) {
        *lock(&self.ring) = Ring::default();
        self.grown.send_replace(());
    }
}

impl Ring {
    fn push(&mut self, event: Arc<Event>) {
        self.bytes += event.text.len();
        self.events.push_back(event);
        while self.events.len() > MOST_EVENTS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.text.len();
            self.from = oldest.stored.seq;
        }
    }
}

impl Event {
    pub(crate) fn new(stored: StoredRecord) -> Option<Self> {
        let data = serde_json::to_string(&stored).ok()?;
        let text = format!("id: {}\nevent: activity\ndata: {data}\n\n", stored.seq);
        Some(Self { stored, text })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Keeps the feed up to date until there is no stream, or the gateway stops.
async fn feed_streams(services: Arc<Services>) {
    let has_streams = tokio::select! {
        () = services.drain.wait_for_phase(Phase::Draining) => true,
        has_streams = follow(&services) => has_streams,
    };
    if has_streams {
        services.feed.end();
    }
}

/// Comes back when there is no stream any more (false), or when the store cannot be read (true).
async fn follow(services: &Services) -> bool {
    let mut latest = services.store.latest();
    let mut place = lock(&services.feed.ring).to;
    loop {
        latest.mark_unchanged();
        let all = Filter::default();
        let tail = services.read(move |reader| reader.records_after(place, &all, STEP));
        let Some(tail) = tail.await else {
            return true;
        };
        place = tail.next;
        if !services.feed.extend(tail.records, place) {
            return false;
        }
        services.feed.grown.send_replace(());
        if !tail.more && latest.changed().await.is_err() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_audit::{Kind, Outcome, Record};

    use super::*;

    fn stored(seq: u64) -> StoredRecord {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let id: countersign_audit::Ulid = serde_json::from_value(id.into()).expect("an id");
        let record = Record::new(id, Kind::ToolCall, Outcome::Success);
        let mut whole = serde_json::to_value(&record).expect("JSON");
        for (name, value) in [
            ("chain_id", serde_json::json!(record.id())),
            ("seq", seq.into()),
            ("n", seq.into()),
            ("hash", "0".repeat(64).into()),
        ] {
            whole[name] = value;
        }
        serde_json::from_value(whole).expect("a stored record")
    }

    fn places(next: NextEvents) -> (Vec<u64>, u64) {
        match next {
            NextEvents::Events(events, next) => {
                (events.iter().map(|event| event.stored.seq).collect(), next)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_stream_that_falls_behind_what_is_held_is_too_slow() {
        let feed = Feed::new();
        assert!(matches!(feed.events_after(0), NextEvents::Ended));
        feed.streams.store(1, Ordering::SeqCst);
        lock(&feed.ring).is_fed = true;
        assert!(feed.extend((1..=150).map(stored).collect(), 150));
        let (first, next) = places(feed.events_after(0));
        assert_eq!((first.len(), next), (STEP, 100));
        let (rest, next) = places(feed.events_after(next));
        assert_eq!((rest.len(), next), (50, 150));
        assert_eq!(places(feed.events_after(150)), (Vec::new(), 150));
        // Places that no record has are passed over too.
        assert!(feed.extend(Vec::new(), 170));
        assert_eq!(places(feed.events_after(150)), (Vec::new(), 170));
        assert!(feed.extend((171..=1200).map(stored).collect(), 1200));
        assert_eq!(lock(&feed.ring).events.len(), MOST_EVENTS);
        assert!(matches!(feed.events_after(170), NextEvents::Behind));
        assert_eq!(places(feed.events_after(1199)), (vec![1200], 1200));
        feed.streams.store(0, Ordering::SeqCst);
        assert!(!feed.extend(Vec::new(), 1200));
        assert!(matches!(feed.events_after(1200), NextEvents::Ended));
    }
}
