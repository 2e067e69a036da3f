//! One classifier with its operator's limits: splits texts into chunks, looks them up in the cache, asks the
//! classifier within its time limit, and pauses it when it keeps failing. A classifier that hangs, dies or
//! lies costs no more than that time. The panel decides what its verdict leads to.

use std::sync::Arc;
use std::time::Duration;

use countersign_inspect::Text;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::breaker::Breaker;
use crate::cache::{self, Cache, Key};
use crate::chunk::{self, Split};
use crate::classifier::{Classifier, Limits};
use crate::counts::Counts;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::settings::Options;
use crate::verdict::{Chunk, Origin, Question, Verdict};

#[derive(Debug)]
pub(crate) struct Screener {
    pub(crate) options: Options,
    pub(crate) counts: Counts,
    limits: Limits,
    connection: Arc<Connection>,
    cache: Cache,
}

/// The parts that running requests share.
#[derive(Debug)]
struct Connection {
    classifier: Arc<dyn Classifier>,
    breaker: Breaker,
    places: Semaphore,
    timeout: Duration,
}

impl Screener {
    pub(crate) fn new(classifier: Arc<dyn Classifier>, options: Options) -> Self {
        let mut limits = classifier.limits();
        let wanted = options.chunk_chars.unwrap_or(limits.chunk_chars);
        // A batch may be one chunk, so what fits into a batch is the most a chunk can have.
        limits.chunk_chars = wanted.clamp(1, limits.batch_chars);
        Self {
            limits,
            cache: Cache::new(options.cache_entries, options.cache_ttl),
            counts: Counts::default(),
            connection: Arc::new(Connection {
                breaker: Breaker::new(options.breaker_failures, options.breaker_pause),
                places: Semaphore::new(options.max_concurrent.max(1)),
                timeout: options.timeout,
                classifier,
            }),
            options,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.connection.classifier.name()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.connection.breaker.is_open()
    }

    /// Has the texts screened by `deadline`.
    pub(crate) async fn screen(
        &self,
        origin: &Origin,
        texts: &[Text<'_>],
        deadline: Instant,
    ) -> Outcome {
        let started = Instant::now();
        let split = chunk::split(
            texts.iter().map(|text| &*text.text),
            self.limits.chunk_chars,
            self.options.max_chunks.max(1),
        );
        let mut round = VerdictCollector::new(&split);
        let open = self.recall(origin, &split.chunks, &mut round);
        self.ask(origin, open, deadline, &mut round).await;
        let outcome = self.outcome(&round, &split, texts, started.elapsed());
        self.counts.add(&outcome);
        outcome
    }

    /// What is remembered, and what is left to ask.
    fn recall<'c>(
        &self,
        origin: &Origin,
        chunks: &'c [Chunk],
        round: &mut VerdictCollector,
    ) -> Vec<(&'c Chunk, Key)> {
        let classifier = &self.connection.classifier;
        let origin = classifier.knows_origin().then_some(origin);
        let mut open = Vec::new();
        for chunk in chunks {
            let key = cache::key(classifier.identity(), origin, &chunk.text);
            match self.cache.get(&key) {
                Some(verdict) => {
                    round.remembered += 1;
                    round.settle(chunk.id, verdict);
                }
                None => open.push((chunk, key)),
            }
        }
        open
    }

    async fn ask(
        &self,
        origin: &Origin,
        open: Vec<(&Chunk, Key)>,
        deadline: Instant,
        round: &mut VerdictCollector,
    ) {
        let mut questions = JoinSet::new();
        for batch in self.batches(open) {
            let (chunks, keys): (Vec<Chunk>, Vec<Key>) = batch
                .into_iter()
                .map(|(chunk, key)| (chunk.clone(), key))
                .unzip();
            let question = Question {
                origin: origin.clone(),
                chunks,
            };
            let connection = Arc::clone(&self.connection);
            questions.spawn(async move {
                let answer = connection.ask(&question).await;
                (question, keys, answer)
            });
        }
        while !questions.is_empty() {
            match timeout_at(deadline, questions.join_next()).await {
                Ok(Some(Ok((question, keys, Ok(verdicts))))) => {
                    for ((chunk, key), verdict) in question.chunks.iter().zip(keys).zip(verdicts) {
                        self.cache.put(key, verdict.clone());
                        round.settle(chunk.id, verdict);
                    }
                }
                Ok(Some(Ok((_, _, Err(error))))) => round.fail(error),
                Ok(Some(Err(_))) => round.fail(Error::Internal),
                Ok(None) => break,
                Err(_) => {
                    round.fail(Error::TimedOut);
                    // Dropping the set ends what is under way.
                    break;
                }
            }
        }
    }

    fn batches<'c>(&self, open: Vec<(&'c Chunk, Key)>) -> Vec<Vec<(&'c Chunk, Key)>> {
        let mut batches: Vec<Vec<(&Chunk, Key)>> = Vec::new();
        let mut room = 0;
        for (chunk, key) in open {
            let length = chunk::units(&chunk.text);
            match batches.last_mut() {
                Some(batch) if batch.len() < self.limits.batch_chunks && length <= room => {
                    batch.push((chunk, key));
                    room -= length;
                }
                _ => {
                    batches.push(vec![(chunk, key)]);
                    room = self.limits.batch_chars.saturating_sub(length);
                }
            }
        }
        batches
    }

    fn outcome(
        &self,
        round: &VerdictCollector,
        split: &Split,
        texts: &[Text<'_>],
        elapsed: Duration,
    ) -> Outcome {
        let chunks = round.verdicts.iter().flatten().count();
        let screened = if chunks == split.chunks.len() {
            split.covered
        } else {
            let settled = split.chunks.iter().zip(&round.verdicts);
            let settled = settled.filter(|(_, verdict)| verdict.is_some());
            let length: usize = settled.map(|(chunk, _)| chunk::units(&chunk.text)).sum();
            // Overlaps are counted once at most.
            length.min(split.covered)
        };
        let uncovered = (split.covered < split.total).then_some(Error::Uncovered);
        let worst = round.verdicts.iter().enumerate();
        let worst = worst.filter_map(|(index, verdict)| Some((index, verdict.as_ref()?)));
        // Of equals, the first.
        let worst = worst.rev().max_by_key(|(_, verdict)| verdict.action);
        let text = worst.and_then(|(index, _)| texts.get(*split.texts.get(index)?));
        Outcome {
            name: self.name().to_owned(),
            verdict: worst.map_or_else(Verdict::default, |(_, verdict)| verdict.clone()),
            pointer: text.map(|text| text.pointer.clone()),
            error: round.error.or(uncovered),
            chunks,
            remembered: round.remembered,
            screened_chars: screened,
            total_chars: split.total,
            elapsed,
        }
    }
}

impl Connection {
    /// Sends one request. The caller limits how long it may wait for a free place.
    async fn ask(&self, question: &Question) -> Result<Vec<Verdict>, Error> {
        let _place = self.places.acquire().await.map_err(|_| Error::Internal)?;
        let attempt = self.breaker.attempt().ok_or(Error::Paused)?;
        let answer = timeout(self.timeout, self.classifier.screen(question)).await;
        let verdicts = answer.map_err(|_| Error::TimedOut)??;
        if verdicts.len() != question.chunks.len() {
            return Err(Error::Incomplete);
        }
        attempt.succeeded();
        Ok(verdicts)
    }
}

/// One result's verdicts as they come in.
struct VerdictCollector {
    verdicts: Vec<Option<Verdict>>,
    remembered: usize,
    error: Option<Error>,
}

impl VerdictCollector {
    fn new(split: &Split) -> Self {
        Self {
            verdicts: vec![None; split.chunks.len()],
            remembered: 0,
            error: None,
        }
    }

    fn settle(&mut self, chunk: usize, verdict: Verdict) {
        if let Some(place) = self.verdicts.get_mut(chunk) {
            *place = Some(verdict);
        }
    }

    /// The first error is the one that tells.
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
