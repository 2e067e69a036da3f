//! From one configuration to the next: which servers keep running, which start, which end. Made before anything is touched,
//! so that what cannot be done is known in time; carried out by storing one new state. Servers whose transport is the same
//! keep their process or connection; the others end when the last call to them has.

use std::sync::Arc;

use countersign_client::{self as upstream, Limits, ServerHandle, Supervisor};
use countersign_config::Config;
use countersign_dial::SiteError;
use tokio::sync::watch;

use super::{StartError, keys};
use crate::catalogue::{self, TrackedServer};
use crate::events::Events;
use crate::services::{Runtime, Services};
use crate::state::{Server, Settings, Snapshot, State, Tools};
use crate::supervise::{SupervisorResources, diagnostics, limits, supervisor};

/// After so many tries other changes wait until the new snapshot is made.
const TRIES: u32 = 3;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) settings: Arc<Settings>,
    actions: Vec<Action>,
    /// The supervisors of the servers that are started.
    pub(super) supervisors: Vec<Supervisor>,
}

/// What is done with a server of the configuration.
#[derive(Clone, Debug)]
enum Action {
    /// It keeps running, within these limits.
    Keep(Arc<str>, Limits),
    /// It is started, with the tools that are remembered of it.
    Start(Arc<ServerHandle>, Arc<Tools>),
}

impl Plan {
    /// What the settings ask for. Starts nothing, and changes nothing.
    pub(super) fn make(runtime: &Runtime, settings: Settings) -> Result<Self, StartError> {
        Self::make_except(runtime, Arc::new(settings), None)
    }

    /// The settings stay, and one server is started anew.
    pub(super) fn restarting(
        runtime: &Runtime,
        settings: &Arc<Settings>,
        server: &str,
    ) -> Result<Self, StartError> {
        Self::make_except(runtime, Arc::clone(settings), Some(server))
    }

    /// Every server that is reached as before keeps running, except `restarted`.
    fn make_except(
        runtime: &Runtime,
        settings: Arc<Settings>,
        restarted: Option<&str>,
    ) -> Result<Self, StartError> {
        let (before, config) = (runtime.state.load(), Arc::clone(&settings.config));
        if config.servers.iter().any(|server| server.oauth.is_some()) {
            let grants = &runtime.services.grants;
            grants.unlock(|| keys::seal_key(&config))?;
        }
        let mut plan = Self {
            settings,
            actions: Vec::new(),
            supervisors: Vec::new(),
        };
        for server in config.servers.iter().filter(|server| server.is_startable()) {
            let was = before.settings.config.server(&server.name);
            let same = |was: &countersign_config::Server| {
                restarted != Some(&*server.name) && was.is_reached_like(server)
            };
            let known = before.server(&server.name);
            if let Some(known) = known.filter(|_| was.is_some_and(same)) {
                let name = Arc::clone(known.upstream.name());
                plan.actions
                    .push(Action::Keep(name, limits(&config, server)));
                continue;
            }
            let made = supervise(&runtime.services, &config, server);
            let (upstream, supervisor) = made.map_err(|source| StartError::Address {
                server: server.name.clone(),
                source: Box::new(source),
            })?;
            let action = Action::Start(Arc::new(upstream), Arc::default());
            plan.actions.push(action);
            plan.supervisors.push(supervisor);
        }
        Ok(plan)
    }

    /// Carries the plan out. Only one plan may be carried out at a time.
    pub(super) async fn carry_out(mut self, runtime: &Runtime) {
        let supervisors = std::mem::take(&mut self.supervisors);
        let blocking = runtime.clone();
        let stored = tokio::task::spawn_blocking(move || {
            self.remember(&blocking.services);
            self.store(&blocking.state);
            self.actions
        });
        let Ok(actions) = stored.await else {
            return;
        };
        let starting = actions.iter().filter_map(|action| match action {
            Action::Start(upstream, _) => Some(upstream),
            Action::Keep(..) => None,
        });
        for (upstream, supervisor) in starting.zip(supervisors) {
            runtime.services.metrics.register(upstream.name());
            runtime.services.fleet.start(upstream, supervisor);
            let tracked = TrackedServer::new(upstream);
            tokio::spawn(catalogue::follow(runtime.clone(), tracked));
        }
    }

    /// Gives every server that is started the tools it had the last time.
    fn remember(&mut self, services: &Services) {
        for action in &mut self.actions {
            if let Action::Start(upstream, tools) = action {
                let config = &self.settings.config;
                let known = catalogue::remembered(&services.store, config, upstream.name());
                *tools = Arc::new(known.unwrap_or_default());
            }
        }
    }

    /// Stores the new snapshot. Schemas may have to be compiled for it, so it is made without holding up other changes of
    /// the state; after `TRIES` such changes they have to wait.
    fn store(&self, state: &State) {
        for _ in 0..TRIES {
            let before = state.load();
            let next = self.next(&before);
            if state.compare_and_swap(&before, next) {
                return;
            }
        }
        state.change(|before| self.next(before));
    }

    fn next(&self, before: &Snapshot) -> Snapshot {
        let servers = self.actions.iter().filter_map(|action| match action {
            Action::Keep(name, limits) => Some(self.kept_server(before.server(name)?, *limits)),
            Action::Start(upstream, tools) => {
                let server = Server::new(Arc::clone(upstream), Arc::clone(tools));
                Some(match before.server(upstream.name()) {
                    Some(old) => old.succeeded_by(server),
                    None => server.appearing_after(before),
                })
            }
        });
        before.succeeded_by(Arc::clone(&self.settings), servers.collect())
    }

    /// A server that keeps running, under the new settings.
    fn kept_server(&self, server: &Server, limits: Limits) -> Server {
        let (name, config) = (server.upstream.name(), &self.settings.config);
        let instructions = match &*server.upstream.state().borrow() {
            upstream::State::Ready(connection) => connection
                .instructions()
                .map(|said| catalogue::clean_instructions(said.bytes(), config, name)),
            _ => server.instructions.clone(),
        };
        let tools = server.tools.with_policies(config, name);
        server.with_policy(server.upstream.with_limits(limits), tools, instructions)
    }
}

/// A server, and its supervisor. Starts nothing yet.
fn supervise(
    services: &Services,
    config: &Config,
    server: &countersign_config::Server,
) -> Result<(ServerHandle, Supervisor), SiteError> {
    let state = watch::Sender::new(upstream::State::Starting);
    let diagnostics = Arc::new(diagnostics(&server.transport));
    let upstream = ServerHandle::new(
        server.name.as_str().into(),
        state.subscribe(),
        limits(config, server),
        Arc::clone(&diagnostics),
    );
    let resources = SupervisorResources {
        budget: services.budget_for_one(config),
        events: Arc::<Events>::clone(&services.events),
        known: services.fleet.known.clone(),
        diagnostics,
        state,
        authorizer: services.grants.authorizer(server),
        own: None,
    };
    Ok((upstream, supervisor(config, server, resources)?))
}
