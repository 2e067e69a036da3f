//! Sessions and processes, made before the clock starts: what setting up costs is reported apart
//! and is no part of any call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_inspect::Era;

use super::LoadError;
use crate::client::{Client, List, Target};
use crate::plan::{Executor, Plan, Processes};

/// The clients of a run, and what the first one was told about the tools.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) clients: Vec<Arc<Client>>,
    pub(super) list: List,
    pub(super) took: Duration,
}

impl Sessions {
    /// Makes as many as the plan needs.
    pub(super) async fn open(plan: &Plan) -> Result<Self, LoadError> {
        let began = Instant::now();
        let first = Client::connect(&plan.target, &plan.options).await?;
        let mut sessions = Self {
            clients: vec![Arc::new(first)],
            list: List::default(),
            took: Duration::ZERO,
        };
        if let Err(error) = sessions.fill(plan).await {
            sessions.close().await;
            return Err(error);
        }
        sessions.took = began.elapsed();
        Ok(sessions)
    }

    async fn fill(&mut self, plan: &Plan) -> Result<(), LoadError> {
        let first = Arc::clone(self.client(0));
        self.list = first.list_tools().await?;
        let wanted = wanted(plan, first.era());
        while self.clients.len() < wanted {
            let next = Client::connect(&plan.target, &plan.options).await?;
            self.clients.push(Arc::new(next));
        }
        let connections = plan.load.connections.div_ceil(wanted).max(1);
        for client in &self.clients {
            client.warm(connections).await?;
        }
        Ok(())
    }

    /// One of the clients, in turn.
    pub(super) fn client(&self, number: usize) -> &Arc<Client> {
        // There is always the first.
        &self.clients[number % self.clients.len()]
    }

    /// Ends all of them, all at once.
    pub(super) async fn close(&self) {
        let mut closing = tokio::task::JoinSet::new();
        for client in &self.clients {
            let client = Arc::clone(client);
            closing.spawn(async move { client.close().await });
        }
        closing.join_all().await;
    }
}

/// How many sessions suit a plan: a legacy server has one for each user, a modern one has none.
fn wanted(plan: &Plan, era: Era) -> usize {
    let users = match plan.load.executor {
        Executor::Vus { vus, .. } => vus,
        Executor::Rate { .. } => 1,
    };
    let usual = match (&plan.target, plan.load.stdio, era) {
        (Target::Stdio(_), Processes::Inflight, _) => return 1,
        (Target::Stdio(_), Processes::Processes, _) | (Target::Http(_), _, Era::Legacy) => users,
        (Target::Http(_), _, Era::Modern) => 1,
    };
    plan.load.sessions.unwrap_or(usual)
}
