//! Answers held to their contracts, on a thread of their own. The queue before it is bounded in
//! number and in bytes; what does not fit is counted and goes unjudged. No call ever waits for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use super::figures::Timeline;
use super::outcome;
use super::sample::Sample;
use crate::judge::{Judge, Violation};
use crate::plan::Expect;
use crate::policy::{Applied, CallOutcome, Date, SchemaPolicy, Site, Validation};
use crate::report::{Happened, Violations};

/// Batches that may wait.
const QUEUE: usize = 64;
/// Bytes of answers that may wait.
const MOST_BYTES: usize = 64 << 20;

/// Larger results are not remembered.
const REMEMBERED: usize = 64 << 10;

/// What answers are held to.
#[derive(Debug)]
pub(super) struct Law {
    pub(super) judge: Judge,
    pub(super) validation: Validation,
    pub(super) today: Date,
    /// The server, as it names itself.
    pub(super) server: String,
    /// The plan's tools.
    pub(super) tools: Vec<String>,
    pub(super) warm_up: Duration,
    /// How long a stretch of the timeline is.
    pub(super) stretch: Duration,
}

/// What is known about outcomes and violations so far.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    pub(super) tools: Vec<Outcomes>,
    pub(super) violations: Violations,
    /// By stretch of the timeline.
    pub(super) unexpected: Vec<u64>,
    pub(super) unvalidated: u64,
}

/// How the calls of one tool ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    pub(super) counts: HashMap<CallOutcome, u64>,
    pub(super) unexpected: u64,
}

impl Outcomes {
    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: &Self) {
        self.unexpected += other.unexpected;
        for (outcome, count) in &other.counts {
            *self.counts.entry(*outcome).or_default() += count;
        }
    }
}

/// The thread, and the way to it.
#[derive(Debug)]
pub(super) struct Validator {
    law: Arc<Law>,
    verdicts: Arc<Mutex<Verdicts>>,
    queued: Arc<AtomicUsize>,
    sender: Mutex<Option<SyncSender<Vec<Sample>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Validator {
    pub(super) fn start(law: Law) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let law = Arc::new(law);
        let verdicts = Arc::new(Mutex::new(Verdicts {
            tools: vec![Outcomes::default(); law.tools.len()],
            ..Verdicts::default()
        }));
        let queued = Arc::new(AtomicUsize::new(0));
        let (its_law, its_verdicts) = (Arc::clone(&law), Arc::clone(&verdicts));
        let its_queue = Arc::clone(&queued);
        let thread = std::thread::Builder::new()
            .name("validation".to_owned())
            .spawn(move || work(&receiver, &its_law, &its_verdicts, &its_queue))?;
        Ok(Self {
            law,
            verdicts,
            queued,
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Hands answers over, or counts them unjudged if there is no room.
    pub(super) fn offer(&self, batch: Vec<Sample>) {
        let weight: usize = batch.iter().map(Sample::weight).sum();
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = &*sender else {
            return;
        };
        let waiting = self.queued.fetch_add(weight, Ordering::Relaxed);
        let refused = if waiting + weight > MOST_BYTES {
            Some(batch)
        } else {
            match sender.try_send(batch) {
                Ok(()) => None,
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => Some(batch),
            }
        };
        if let Some(batch) = refused {
            self.queued.fetch_sub(weight, Ordering::Relaxed);
            self.shed(&batch);
        }
    }

    /// Counts outcomes as far as they can be told without judging.
    fn shed(&self, batch: &[Sample]) {
        let mut verdicts = self.verdicts();
        for sample in batch {
            let outcome = match &sample.answer {
                Err(fault) => outcome::of_fault(*fault),
                Ok(message) => {
                    verdicts.unvalidated += 1;
                    let plain = outcome::of_answer(message);
                    outcome::refused(plain, message, sample.expect)
                }
            };
            verdicts.count(&self.law, sample, outcome);
        }
    }

    pub(super) fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn law(&self) -> &Law {
        &self.law
    }

    /// Waits until everything that was handed over has been judged.
    pub(super) async fn finish(&self) {
        drop(
            self.sender
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // What it counted stays counted, however it ended.
            drop(tokio::task::spawn_blocking(move || drop(thread.join())).await);
        }
    }
}

impl Verdicts {
    fn count(&mut self, law: &Law, sample: &Sample, outcome: CallOutcome) {
        let expected = outcome::is_expected(outcome, sample.expect);
        if !expected {
            let stretch = Timeline::stretch(law.stretch, sample.times.ended);
            // A stretch far beyond the run is nobody's.
            if stretch < 1 << 20 {
                if self.unexpected.len() <= stretch {
                    self.unexpected.resize(stretch + 1, 0);
                }
                self.unexpected[stretch] += 1;
            }
        }
        if sample.times.intended < law.warm_up {
            return;
        }
        if let Some(tool) = self.tools.get_mut(sample.tool) {
            *tool.counts.entry(outcome).or_default() += 1;
            tool.unexpected += u64::from(!expected);
        }
    }
}

fn work(
    receiver: &Receiver<Vec<Sample>>,
    law: &Law,
    verdicts: &Mutex<Verdicts>,
    queued: &AtomicUsize,
) {
    let mut memory = Memory::default();
    while let Ok(batch) = receiver.recv() {
        let judged = batch.iter().map(|sample| memory.judge(law, sample));
        let judged: Vec<Arc<Judged>> = judged.collect();
        let now = now_ms();
        let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        for (sample, judged) in batch.iter().zip(&judged) {
            verdicts.count(law, sample, judged.outcome);
            if sample.times.intended >= law.warm_up {
                for (violation, applied) in &judged.violations {
                    law.record(
                        &mut verdicts.violations,
                        sample.tool,
                        violation,
                        applied,
                        now,
                    );
                }
            }
        }
        drop(verdicts);
        let weight: usize = batch.iter().map(Sample::weight).sum();
        queued.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// The last judgement of each tool. A verdict depends on the result's bytes and nothing else, and
/// many servers say the same again and again: saying so costs a comparison.
#[derive(Default)]
struct Memory {
    last: HashMap<usize, (Bytes, Expect, Arc<Judged>)>,
}

impl Memory {
    fn judge(&mut self, law: &Law, sample: &Sample) -> Arc<Judged> {
        let small = sample.result.as_ref().filter(|one| one.len() <= REMEMBERED);
        // Arguments that vary are judged too, so nothing is the same then.
        let (Some(result), None) = (small, &sample.arguments) else {
            return Arc::new(law.judge(sample));
        };
        if let Some((known, expect, judged)) = self.last.get(&sample.tool)
            && known == result
            && *expect == sample.expect
        {
            return Arc::clone(judged);
        }
        let judged = Arc::new(law.judge(sample));
        let entry = (result.clone(), sample.expect, Arc::clone(&judged));
        self.last.insert(sample.tool, entry);
        judged
    }
}

/// A call, judged.
struct Judged {
    outcome: CallOutcome,
    violations: Vec<(Violation, Applied)>,
}

impl Law {
    fn tool(&self, number: usize) -> &str {
        self.tools.get(number).map_or("", String::as_str)
    }

    fn judge(&self, sample: &Sample) -> Judged {
        let tool = self.tool(sample.tool);
        let mut judged = match &sample.answer {
            Err(fault) => Judged {
                outcome: outcome::of_fault(*fault),
                violations: Vec::new(),
            },
            Ok(message) => {
                let judgement = self.judge.reply(tool, message.clone());
                let (outcome, applied) = judgement.outcome(tool, &self.validation, self.today);
                Judged {
                    outcome: outcome::refused(outcome, message, sample.expect),
                    violations: judgement.violations.into_iter().zip(applied).collect(),
                }
            }
        };
        if judged.outcome == CallOutcome::Denied {
            // Not the server's answer, so nothing of the server's contract is broken by it.
            judged.violations.clear();
            if sample.expect != Expect::Deny {
                judged.add(self, tool, Violation::at(Site::Denied));
            }
        }
        if let Some(arguments) = &sample.arguments {
            let findings = self.judge.arguments(tool, arguments);
            if !findings.is_empty() {
                let site = Site::Authored;
                judged.add(self, tool, Violation { site, findings });
            }
        }
        judged
    }

    /// Writes a violation down.
    pub(super) fn record(
        &self,
        violations: &mut Violations,
        tool: usize,
        violation: &Violation,
        applied: &Applied,
        now_ms: u64,
    ) {
        let name = self.tool(tool);
        let digest = self
            .judge
            .output_digest(name)
            .map(|digest| digest.to_string());
        violations.add(&Happened {
            server: &self.server,
            tool: name,
            site: self.validation.refined(violation.site, &violation.findings),
            findings: &violation.findings,
            applied,
            schema: digest.as_deref(),
            now_ms,
        });
    }

    /// What is done about a violation.
    pub(super) fn apply(&self, tool: &str, violation: &Violation) -> Applied {
        let Violation { site, findings } = violation;
        self.validation.apply(tool, *site, findings, self.today)
    }
}

impl Judged {
    fn add(&mut self, law: &Law, tool: &str, violation: Violation) {
        let applied = law.apply(tool, &violation);
        if applied.policy == SchemaPolicy::Fail {
            self.outcome = CallOutcome::violation(violation.site);
        }
        self.violations.push((violation, applied));
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests;
