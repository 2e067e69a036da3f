//! From one configuration to the next: which servers stay, which come, which go. Made before anything is touched, so
//! that what cannot be done is known in time; carried out by storing one new state. Servers whose transport is the same
//! keep their process or connection; the others end when the last call to them has.

use std::sync::Arc;

use crate::catalogue::{self, Followed};
use crate::gateway::StartError;
use crate::shared::Shared;
use crate::state::{Server, Settings, Snapshot, Tools};
use crate::upstream::supervisor::{Supervisor, supervise};
use crate::upstream::{Limits, State, Upstream};

/// After so many tries the state is held still until the next one is made.
const TRIES: u32 = 3;

/// What is to be.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) settings: Arc<Settings>,
    fates: Vec<Fate>,
    /// Who looks after the servers that come.
    pub(crate) supervisors: Vec<Supervisor>,
}

/// What becomes of a server of the configuration.
#[derive(Clone, Debug)]
enum Fate {
    /// It stays, within these limits.
    Stays(Arc<str>, Limits),
    /// It comes, and starts with what is remembered of it.
    Comes(Arc<Upstream>, Arc<Tools>),
}

impl Plan {
    /// What the settings ask for. Starts nothing, and changes nothing.
    pub(crate) fn make(shared: &Shared, settings: Settings) -> Result<Self, StartError> {
        let (before, config) = (shared.snapshot(), Arc::clone(&settings.config));
        let mut plan = Self {
            settings: Arc::new(settings),
            fates: Vec::new(),
            supervisors: Vec::new(),
        };
        for server in config.servers.iter().filter(|server| server.is_startable()) {
            let was = before.settings.config.server(&server.name);
            let same = |was: &countersign_config::Server| was.is_reached_like(server);
            let known = before.server(&server.name);
            if let Some(known) = known.filter(|_| was.is_some_and(same)) {
                let name = Arc::clone(known.upstream.name());
                plan.fates
                    .push(Fate::Stays(name, Limits::of(&config, server)));
                continue;
            }
            let made = supervise(shared, &config, server);
            let (upstream, supervisor) = made.map_err(|source| StartError::Address {
                server: server.name.clone(),
                source: Box::new(source),
            })?;
            let fate = Fate::Comes(Arc::new(upstream), Arc::default());
            plan.fates.push(fate);
            plan.supervisors.push(supervisor);
        }
        Ok(plan)
    }

    /// Carries the plan out. Nobody else may carry one out meanwhile.
    pub(crate) async fn carry_out(mut self, shared: &Arc<Shared>) {
        let supervisors = std::mem::take(&mut self.supervisors);
        let blocking = Arc::clone(shared);
        let stored = tokio::task::spawn_blocking(move || {
            self.remember(&blocking);
            self.store(&blocking);
            self.fates
        });
        let Ok(fates) = stored.await else {
            return;
        };
        let coming = fates.iter().filter_map(|fate| match fate {
            Fate::Comes(upstream, _) => Some(upstream),
            Fate::Stays(..) => None,
        });
        for (upstream, supervisor) in coming.zip(supervisors) {
            shared.metrics.register(upstream.name());
            shared.fleet.start(upstream, supervisor);
            let followed = Followed::new(upstream);
            tokio::spawn(catalogue::follow(Arc::clone(shared), followed));
        }
    }

    /// Gives every server that comes the tools it had the last time.
    fn remember(&mut self, shared: &Shared) {
        for fate in &mut self.fates {
            if let Fate::Comes(upstream, tools) = fate {
                let config = &self.settings.config;
                let known = catalogue::remembered(&shared.store, config, upstream.name());
                *tools = Arc::new(known.unwrap_or_default());
            }
        }
    }

    /// Stores the new state. Schemas may have to be compiled for it, and nobody should wait for that; only if others
    /// keep changing the state meanwhile do they.
    fn store(&self, shared: &Shared) {
        for _ in 0..TRIES {
            let before = shared.snapshot();
            let next = self.next(&before);
            if shared.succeed(&before, next) {
                return;
            }
        }
        shared.change(|before| self.next(before));
    }

    fn next(&self, before: &Snapshot) -> Snapshot {
        let servers = self.fates.iter().filter_map(|fate| match fate {
            Fate::Stays(name, limits) => Some(self.held(before.server(name)?, *limits)),
            Fate::Comes(upstream, tools) => {
                let server = Server::new(Arc::clone(upstream), Arc::clone(tools));
                Some(match before.server(upstream.name()) {
                    Some(old) => old.succeeded_by(server),
                    None => server.appearing_after(before),
                })
            }
        });
        before.succeeded_by(Arc::clone(&self.settings), servers.collect())
    }

    /// A server that stays, held to the new settings.
    fn held(&self, server: &Server, limits: Limits) -> Server {
        let (name, config) = (server.upstream.name(), &self.settings.config);
        let instructions = match &*server.upstream.state().borrow() {
            State::Ready(connection) => connection
                .instructions()
                .map(|said| catalogue::shown(said.bytes(), config, name)),
            _ => server.instructions.clone(),
        };
        let tools = server.tools.with_policies(config, name);
        server.with_policy(server.upstream.limited(limits), tools, instructions)
    }
}
