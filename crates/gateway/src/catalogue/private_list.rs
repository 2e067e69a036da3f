//! The tools that a server shows one client over a connection of its own. A legacy server may show more of them to a client
//! that it can ask for something. Tools that it shows to every client are the ones of the shared list, so a list like that
//! costs next to nothing.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use countersign_client::{Connection, State, backoff, ready};
use countersign_config::Config;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::DEBOUNCE;
use super::budget::ListBudget;
use super::fetch;
use super::remarks::Remarks;
use super::schema_refs::{self, ListDocuments};
use crate::services::{PrivateServer, Services, Session, ToolList};
use crate::state::{CurrentState, Entry, Tool, Tools};

/// Keeps the list of one client up to date in a task of its own, once the client has asked for it and for as long as the
/// connection is there. `list_changed` is what the client is told of a change.
pub(crate) fn follow_private(
    services: &Arc<Services>,
    private: &Arc<PrivateServer>,
    session: &Arc<Session>,
    list_changed: Bytes,
) {
    let (wanted, state) = (private.list_wanted(), private.upstream.state());
    let (private, session) = (Arc::downgrade(private), Arc::downgrade(session));
    let for_task = Arc::clone(services);
    services.background.spawn(move |current| {
        let list = PrivateList {
            services: for_task,
            current: Arc::new(current),
            private,
            session,
            list_changed,
        };
        list.follow(wanted, state)
    });
}

struct PrivateList {
    services: Arc<Services>,
    current: Arc<CurrentState>,
    private: Weak<PrivateServer>,
    session: Weak<Session>,
    /// What the client is told when its list has changed.
    list_changed: Bytes,
}

impl PrivateList {
    async fn follow(self, mut wanted: watch::Receiver<bool>, mut state: watch::Receiver<State>) {
        if wanted.wait_for(|wanted| *wanted).await.is_err() {
            return;
        }
        let mut budget = ListBudget::new(Instant::now());
        loop {
            if let Ok(connection) = ready(&mut state).await {
                tokio::select! {
                    () = self.track(&connection, &mut budget) => {}
                    changed = state.changed() => if changed.is_err() { return },
                }
            } else {
                self.publish(ToolList::Unavailable);
                if state.changed().await.is_err() {
                    return;
                }
            }
        }
    }

    /// Fetches the list, and again whenever the server says that it has changed. Never comes back.
    async fn track(&self, connection: &Connection, budget: &mut ListBudget) {
        let mut failures = 0;
        loop {
            sleep(budget.take(Instant::now())).await;
            if let Ok(list) = fetch::tools(connection).await {
                failures = 0;
                self.capture(list.tools).await;
                connection.list_changed().await;
                sleep(DEBOUNCE).await;
            } else {
                failures += 1;
                self.publish(ToolList::Unavailable);
                tokio::select! {
                    () = connection.list_changed() => {}
                    () = sleep(backoff::delay(failures + 3)) => {}
                }
            }
        }
    }

    async fn capture(&self, list: Vec<Bytes>) {
        let Some(name) = self
            .private
            .upgrade()
            .map(|private| Arc::clone(private.upstream.name()))
        else {
            return;
        };
        let (services, current) = (Arc::clone(&self.services), Arc::clone(&self.current));
        let settings = Arc::clone(&current.load().settings);
        let refs = &settings.config.schema_refs;
        let mut documents = schema_refs::collect(&services, refs, &name, &list).await;
        let fetches = std::mem::take(&mut documents.records);
        let captured = tokio::task::spawn_blocking(move || {
            let snapshot = current.load();
            let shared = snapshot
                .server(&name)
                .map(|server| Arc::clone(&server.tools));
            let settings = Arc::clone(&snapshot.settings);
            // Held longer, it would keep servers alive that are to end.
            drop(snapshot);
            let mut remarks = Remarks::default();
            let shared = shared.unwrap_or_default();
            let tools = capture(
                &services,
                &settings.config,
                (&name, &shared),
                (list, &documents),
                &mut remarks,
            );
            let mut records = remarks.into_records(&services, &name);
            records.extend(fetches);
            (tools, records)
        });
        let Ok((tools, records)) = captured.await else {
            return;
        };
        self.publish(ToolList::Known(tools));
        self.services.metrics.observe(&records);
        // A remark is no reply: nothing waits for it.
        let _remarked = self.services.store.commit((), records).await;
    }

    /// Makes a list known, and tells the client if it had another one before.
    fn publish(&self, list: ToolList) {
        let Some(private) = self.private.upgrade() else {
            return;
        };
        let before = private.tools();
        let after = match &list {
            ToolList::Known(tools) => Some(Arc::clone(tools)),
            ToolList::Unknown | ToolList::Unavailable => None,
        };
        private.list(list);
        let names = |tools: &Arc<Tools>| -> Vec<Bytes> {
            let tools = tools.all().iter();
            tools
                .map(|tool| Bytes::copy_from_slice(tool.raw()))
                .collect()
        };
        let is_news = match (before, after) {
            (Some(before), Some(after)) => names(&before) != names(&after),
            _ => false,
        };
        let session = self.session.upgrade();
        let session = session.filter(|session| session.is_at(private.upstream.name()));
        if let Some(session) = session.filter(|_| is_news) {
            // A client with that many messages to read learns it by its next list.
            session.outbox.push(self.list_changed.clone());
        }
    }
}

/// Makes tools of a list; the shared tools themselves if the list is theirs.
fn capture(
    services: &Services,
    config: &Config,
    (server, shared): (&str, &Arc<Tools>),
    (list, documents): (Vec<Bytes>, &ListDocuments),
    remarks: &mut Remarks,
) -> Arc<Tools> {
    let mut names = HashSet::new();
    let entries = list.into_iter().filter_map(|raw| Entry::read(raw).ok());
    let entries = entries.filter(|entry| names.insert(entry.name().to_owned()));
    let tools: Vec<Arc<Tool>> = entries
        .map(|entry| {
            let policy = config.policy(server, entry.name());
            let documents = documents.for_tool(entry.raw());
            match shared.get(entry.name()) {
                Some(tool) if tool.matches_stored(&entry, &policy, &documents) => Arc::clone(tool),
                _ => services.private_tools.get_or_capture(
                    entry,
                    server,
                    (policy, documents),
                    |tool| {
                        remarks.add(services, server, tool);
                    },
                ),
            }
        })
        .collect();
    let same = |(one, other): (&Arc<Tool>, &Arc<Tool>)| Arc::ptr_eq(one, other);
    let is_shared = tools.len() == shared.all().len() && tools.iter().zip(shared.all()).all(same);
    if is_shared {
        return Arc::clone(shared);
    }
    Arc::new(Tools::new(tools, true))
}
