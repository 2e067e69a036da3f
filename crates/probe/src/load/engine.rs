//! What starts and calls have in common: the clients, the choice of scenario, one walk through a
//! scenario, and the counting. It makes no start by itself; the executors do.

mod check;
mod choice;
mod tally;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::figures::Figures;
use super::sample::{CallTimes, Sample};
use super::sessions::Sessions;
use super::validator::{ValidationRules, Validator};
use super::{LoadError, lock, outcome};
use crate::client::{Client, Exchange, Reply};
use crate::judge::{Judge, Violation};
use crate::plan::{Call, Plan, Scenario, TakenValues};
use crate::policy::Date;
use crate::random::Random;

pub(super) use choice::Choice;
pub(super) use tally::Tally;

/// Answers handed over at once.
const BATCH: usize = 256;
/// A start this much after its time is late.
const LATE: Duration = Duration::from_millis(1);

/// A run under way.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) plan: Plan,
    pub(super) sessions: Sessions,
    pub(super) slots: Arc<Semaphore>,
    /// Who wants to send waits here, if the plan says how many may.
    lanes: Option<Semaphore>,
    pub(super) validator: Validator,
    pub(super) tally: Tally,
    pub(super) notes: Mutex<Vec<String>>,
    figures: Mutex<Figures>,
    outbox: Mutex<Vec<Sample>>,
    origin: OnceLock<Instant>,
    /// By scenario and call, which tool.
    tools: Vec<Vec<usize>>,
    rows: Vec<AtomicUsize>,
    turn: AtomicUsize,
    shown: Mutex<(Instant, u64)>,
}

impl Engine {
    /// Gets everything ready; the sessions come back if that fails.
    pub(super) fn new(
        plan: &Plan,
        sessions: Sessions,
        today: Date,
    ) -> Result<Self, (Sessions, LoadError)> {
        let (names, tools) = numbered(plan);
        let first = sessions.client(0);
        let (judge, declared) = judge(&sessions, &names);
        let figures = Figures::new(names.len(), plan.duration());
        let rules = ValidationRules {
            judge,
            validation: plan.validation.clone(),
            today,
            server: first.identity().name.clone(),
            tools: names,
            warm_up: plan.load.warm_up,
            stretch: figures.timeline.width,
        };
        let validator = match Validator::start(rules) {
            Ok(validator) => validator,
            Err(error) => return Err((sessions, LoadError::Thread(error))),
        };
        let engine = Self {
            lanes: plan.load.concurrency.map(Semaphore::new),
            slots: Arc::new(Semaphore::new(plan.load.max_in_flight)),
            sessions,
            validator,
            tally: Tally::default(),
            notes: Mutex::default(),
            figures: Mutex::new(figures),
            outbox: Mutex::default(),
            origin: OnceLock::new(),
            tools,
            rows: plan.scenarios.iter().map(|_| AtomicUsize::new(0)).collect(),
            turn: AtomicUsize::new(0),
            shown: Mutex::new((Instant::now(), 0)),
            plan: plan.clone(),
        };
        match engine.check(declared) {
            Ok(()) => Ok(engine),
            Err(error) => Err((engine.sessions, error)),
        }
    }

    pub(super) fn note(&self, note: String) {
        lock(&self.notes).push(note);
    }

    /// Fixes the moment that everything is counted from.
    pub(super) fn begin(&self, origin: Instant) -> Instant {
        *self.origin.get_or_init(|| origin)
    }

    pub(super) fn origin(&self) -> Instant {
        *self.origin.get_or_init(Instant::now)
    }

    /// A start of the open loop, due at this moment of the run.
    pub(super) fn start(self: &Arc<Self>, at: Duration, random: &mut Random) {
        let choice = self.choose(random);
        let counted = u64::from(at >= self.plan.load.warm_up);
        self.tally.offered.fetch_add(counted, Ordering::Relaxed);
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            self.tally.dropped.fetch_add(counted, Ordering::Relaxed);
            return;
        };
        let intended = self.origin() + at;
        let now = Instant::now();
        if now.saturating_duration_since(intended) > LATE {
            self.tally.late.fetch_add(counted, Ordering::Relaxed);
        }
        self.tally.started.fetch_add(counted, Ordering::Relaxed);
        self.tally.last_start.store(
            micros(now.saturating_duration_since(self.origin())),
            Ordering::Relaxed,
        );
        let engine = Arc::clone(self);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let client = engine.sessions.client(turn);
            engine.walk(choice, client, intended).await;
            drop(slot);
        });
    }

    /// Makes the calls of a scenario, one after the other.
    pub(super) async fn walk(&self, choice: Choice, client: &Client, mut intended: Instant) {
        let Some(scenario) = self.plan.scenarios.get(choice.scenario) else {
            return;
        };
        let Scenario { calls, feeder, .. } = scenario;
        let row = feeder.as_ref().zip(choice.row);
        let row = row.and_then(|(feeder, row)| feeder.rows.get(row));
        let mut taken = TakenValues::new();
        for (position, call) in calls.iter().enumerate() {
            let Ok(arguments) = call.arguments.render(row, &taken) else {
                self.tally.broken_off.fetch_add(1, Ordering::Relaxed);
                return;
            };
            let tool = self.tools[choice.scenario][position];
            let templated = call.arguments.fixed().is_none();
            if templated && self.plan.validation.strict && !self.may_send(tool, &arguments) {
                return;
            }
            let lane = match &self.lanes {
                Some(lanes) => lanes.acquire().await.ok(),
                None => None,
            };
            let timeout = self.plan.load.timeout;
            let exchange = client.call(&call.tool, &arguments, timeout).await;
            drop(lane);
            take(call, &exchange, &mut taken);
            let sample = Sample {
                tool,
                expect: call.expect,
                times: CallTimes::from_exchange(&exchange, self.origin(), intended),
                result: match &exchange.reply {
                    Ok(Reply::Result(result)) => Some(result.clone()),
                    _ => None,
                },
                answer: outcome::answer(&exchange),
                arguments: templated.then_some(arguments),
            };
            self.count(sample);
            intended = Instant::now();
        }
    }

    fn count(&self, sample: Sample) {
        self.figures()
            .add(sample.tool, &sample.times, self.plan.load.warm_up);
        let mut outbox = lock(&self.outbox);
        outbox.push(sample);
        if outbox.len() >= BATCH {
            let batch = std::mem::replace(&mut *outbox, Vec::with_capacity(BATCH));
            drop(outbox);
            self.validator.offer(batch);
        }
    }

    /// Hands over what waits.
    pub(super) fn flush(&self) {
        let batch = std::mem::take(&mut *lock(&self.outbox));
        if !batch.is_empty() {
            self.validator.offer(batch);
        }
    }

    pub(super) fn figures(&self) -> MutexGuard<'_, Figures> {
        lock(&self.figures)
    }

    pub(super) fn in_flight(&self) -> usize {
        let free = self.slots.available_permits();
        self.plan.load.max_in_flight.saturating_sub(free)
    }
}

/// The plan's tools, each once, and which of them each call of each scenario is about.
fn numbered(plan: &Plan) -> (Vec<String>, Vec<Vec<usize>>) {
    let mut names: Vec<String> = Vec::new();
    let tools = plan.scenarios.iter().map(|scenario| {
        let number = |call: &Call| {
            let known = names.iter().position(|name| *name == call.tool);
            known.unwrap_or_else(|| {
                names.push(call.tool.clone());
                names.len() - 1
            })
        };
        scenario.calls.iter().map(number).collect()
    });
    let tools = tools.collect();
    (names, tools)
}

/// A judge who knows these tools, and what is wrong with their declarations.
fn judge(sessions: &Sessions, names: &[String]) -> (Judge, Vec<(String, Violation)>) {
    let mut judge = Judge::new(sessions.client(0).era());
    let mut declared = Vec::new();
    for tool in &sessions.list.tools {
        if names.contains(&tool.name) {
            // What cannot be read as a declaration is as good as not listed.
            let found = judge.declare(&tool.raw).unwrap_or_default();
            declared.extend(found.into_iter().map(|one| (tool.name.clone(), one)));
        }
    }
    (judge, declared)
}

/// Takes the values that later calls need.
fn take(call: &Call, exchange: &Exchange, taken: &mut TakenValues) {
    if let Ok(Reply::Result(result)) = &exchange.reply {
        for (name, pointer) in &call.take {
            match super::pointer::value_at(result, pointer) {
                Some(value) => taken.insert(name.clone(), value),
                None => taken.remove(name),
            };
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
