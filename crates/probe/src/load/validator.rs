//! Answers held to their contracts, on a thread of their own. The queue before it is bounded in
//! number and in bytes; what does not fit is counted and goes unjudged. No call ever waits for it.

mod rules;
mod verdicts;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use bytes::Bytes;

use super::sample::Sample;
use super::{lock, outcome};
use crate::plan::Expect;

pub(super) use rules::ValidationRules;
pub(super) use verdicts::{Outcomes, Verdicts};

use rules::JudgedCall;

/// Batches that may wait.
const QUEUE: usize = 64;
/// Bytes of answers that may wait.
const MOST_BYTES: usize = 64 << 20;

/// Larger results are not remembered.
const REMEMBERED: usize = 64 << 10;

/// The thread, and the way to it.
#[derive(Debug)]
pub(super) struct Validator {
    rules: Arc<ValidationRules>,
    verdicts: Arc<Mutex<Verdicts>>,
    queued: Arc<AtomicUsize>,
    sender: Mutex<Option<SyncSender<Vec<Sample>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Validator {
    pub(super) fn start(rules: ValidationRules) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let rules = Arc::new(rules);
        let verdicts = Arc::new(Mutex::new(Verdicts {
            tools: vec![Outcomes::default(); rules.tools.len()],
            ..Verdicts::default()
        }));
        let queued = Arc::new(AtomicUsize::new(0));
        let (its_rules, its_verdicts) = (Arc::clone(&rules), Arc::clone(&verdicts));
        let its_queue = Arc::clone(&queued);
        let thread = std::thread::Builder::new()
            .name("validation".to_owned())
            .spawn(move || work(&receiver, &its_rules, &its_verdicts, &its_queue))?;
        Ok(Self {
            rules,
            verdicts,
            queued,
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Hands answers over, or counts them unjudged if there is no room.
    pub(super) fn offer(&self, batch: Vec<Sample>) {
        let weight: usize = batch.iter().map(Sample::weight).sum();
        let sender = lock(&self.sender);
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
            self.count_unvalidated(&batch);
        }
    }

    /// Counts the outcomes of samples that are dropped without being validated.
    fn count_unvalidated(&self, batch: &[Sample]) {
        let mut verdicts = self.verdicts();
        for sample in batch {
            verdicts.unvalidated += u64::from(sample.answer.is_ok());
            let outcome = outcome::unvalidated_outcome(&sample.answer, sample.expect);
            verdicts.count(&self.rules, sample, outcome);
        }
    }

    pub(super) fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        lock(&self.verdicts)
    }

    pub(super) fn rules(&self) -> &ValidationRules {
        &self.rules
    }

    /// Waits until everything that was handed over has been judged.
    pub(super) async fn finish(&self) {
        drop(lock(&self.sender).take());
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // What it counted stays counted, however it ended.
            drop(tokio::task::spawn_blocking(move || drop(thread.join())).await);
        }
    }
}

fn work(
    receiver: &Receiver<Vec<Sample>>,
    rules: &ValidationRules,
    verdicts: &Mutex<Verdicts>,
    queued: &AtomicUsize,
) {
    let mut memory = JudgementCache::default();
    while let Ok(batch) = receiver.recv() {
        let judged = batch.iter().map(|sample| memory.judge(rules, sample));
        let judged: Vec<Arc<JudgedCall>> = judged.collect();
        let mut verdicts = lock(verdicts);
        for (sample, judged) in batch.iter().zip(&judged) {
            verdicts.count(rules, sample, judged.outcome);
            if sample.times.intended >= rules.warm_up {
                for (violation, applied) in &judged.violations {
                    rules.record(&mut verdicts.violations, sample.tool, violation, applied);
                }
            }
        }
        drop(verdicts);
        let weight: usize = batch.iter().map(Sample::weight).sum();
        queued.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// The last judgement of each tool. A verdict depends on the result's bytes only, and many servers
/// send the same bytes again and again: comparing them is cheaper than judging them again.
#[derive(Default)]
struct JudgementCache {
    last: HashMap<usize, (Bytes, Expect, Arc<JudgedCall>)>,
}

impl JudgementCache {
    fn judge(&mut self, rules: &ValidationRules, sample: &Sample) -> Arc<JudgedCall> {
        let small = sample.result.as_ref().filter(|one| one.len() <= REMEMBERED);
        // Arguments that vary are judged too, so nothing is the same then.
        let (Some(result), None) = (small, &sample.arguments) else {
            return Arc::new(rules.judge(sample));
        };
        if let Some((known, expect, judged)) = self.last.get(&sample.tool)
            && known == result
            && *expect == sample.expect
        {
            return Arc::clone(judged);
        }
        let judged = Arc::new(rules.judge(sample));
        let entry = (result.clone(), sample.expect, Arc::clone(&judged));
        self.last.insert(sample.tool, entry);
        judged
    }
}

#[cfg(test)]
mod tests;
