//! All configured classifiers. Asks those that may see a result, concurrently and within one time budget, and
//! turns their verdicts into findings. Nothing is sent for a result that has no free text or is blocked
//! already.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_inspect::config::Posture;
use countersign_inspect::{
    ClassifierFinding, Decision, Examined, Finding, Screening, Severity, SkipReason, Stage, Text,
};
use tokio::time::Instant;

use crate::classifier::Classifier;
use crate::counts::Stats;
use crate::error::SetupError;
use crate::kinds;
use crate::outcome::Outcome;
use crate::screener::Screener;
use crate::settings::{Kind, OnError, OnInjection, Options, Settings};
use crate::verdict::{Action, Origin};

/// How long all classifiers together may take over one result, unless something else is said.
pub const BUDGET: Duration = Duration::from_millis(1500);

/// Classifiers, ready to be asked.
#[derive(Debug)]
pub struct Panel {
    budget: Duration,
    screeners: Vec<Screener>,
    no_free_text: AtomicU64,
    already_blocked: AtomicU64,
}

/// The panel's findings about one result.
#[derive(Debug)]
pub struct PanelResult {
    /// For [`Examined::conclude`].
    pub screening: Screening,
    /// Each classifier's outcome, for logs.
    pub outcomes: Vec<Outcome>,
}

impl Panel {
    /// A panel without members.
    pub fn new(budget: Duration) -> Self {
        Self {
            budget,
            screeners: Vec::new(),
            no_free_text: AtomicU64::new(0),
            already_blocked: AtomicU64::new(0),
        }
    }

    /// Sets up every classifier. Reads a local model's files; connects to nothing.
    pub fn build<'s>(
        settings: impl IntoIterator<Item = &'s Settings>,
        budget: Duration,
    ) -> Result<Self, (String, SetupError)> {
        let mut panel = Self::new(budget);
        for settings in settings {
            let built = kinds::build(settings);
            let classifier = built.map_err(|error| (settings.name.clone(), error))?;
            let mut options = settings.options.clone();
            if matches!(settings.kind, Kind::Local(_)) {
                // A local model uses every core by itself; time spent waiting for a turn must not count as its time.
                options.max_concurrent = 1;
            }
            panel.add(classifier, options);
        }
        Ok(panel)
    }

    /// Adds a classifier, built in or implemented by the caller.
    pub fn add(&mut self, classifier: Arc<dyn Classifier>, options: Options) {
        self.screeners.push(Screener::new(classifier, options));
    }

    /// Screens a result with the classifiers in `allowed`; unknown names are ignored.
    pub async fn screen(
        &self,
        allowed: &[&str],
        origin: &Origin,
        examined: &Examined,
    ) -> PanelResult {
        if !self.screeners.iter().any(|it| allowed.contains(&it.name())) {
            return PanelResult::skipped(SkipReason::NotConfigured);
        }
        if examined.decision() == Decision::Blocked {
            self.already_blocked.fetch_add(1, Ordering::Relaxed);
            return PanelResult::skipped(SkipReason::AlreadyBlocked);
        }
        self.screen_texts(allowed, origin, &examined.texts()).await
    }

    /// Screens texts that are not of a result, with the classifiers in `allowed`; unknown names are ignored.
    pub async fn screen_texts(
        &self,
        allowed: &[&str],
        origin: &Origin,
        texts: &[Text<'_>],
    ) -> PanelResult {
        let named = |screener: &&Screener| allowed.contains(&screener.name());
        let screeners: Vec<&Screener> = self.screeners.iter().filter(named).collect();
        if screeners.is_empty() {
            return PanelResult::skipped(SkipReason::NotConfigured);
        }
        if texts.iter().all(|text| text.text.trim().is_empty()) {
            self.no_free_text.fetch_add(1, Ordering::Relaxed);
            return PanelResult::skipped(SkipReason::NoFreeText);
        }
        self.all(&screeners, origin, texts).await
    }

    async fn all(
        &self,
        screeners: &[&Screener],
        origin: &Origin,
        texts: &[Text<'_>],
    ) -> PanelResult {
        let deadline = Instant::now() + self.budget;
        let asked = screeners
            .iter()
            .map(|screener| screener.screen(origin, texts, deadline));
        let outcomes = side_by_side(asked).await;
        let mut screened = Vec::new();
        for (screener, outcome) in screeners.iter().zip(&outcomes) {
            screened.extend(verdict(screener, outcome));
            screened.extend(failure(screener, outcome));
        }
        PanelResult {
            screening: Screening::with_findings(screened),
            outcomes,
        }
    }

    /// One text, by one classifier; for measuring. `None`: there is no such classifier.
    pub async fn ask(&self, name: &str, text: &str) -> Option<Outcome> {
        let screener = self
            .screeners
            .iter()
            .find(|screener| screener.name() == name)?;
        let text = Text {
            pointer: String::new(),
            text: text.into(),
        };
        let deadline = Instant::now() + self.budget;
        Some(screener.screen(&Origin::default(), &[text], deadline).await)
    }

    /// Every classifier's counters.
    pub fn stats(&self) -> Vec<Stats> {
        let stats = self.screeners.iter();
        stats
            .map(|screener| screener.counts.read(screener.name(), screener.is_paused()))
            .collect()
    }

    /// How many results were sent to no classifier: without free text, and blocked already.
    pub fn skipped(&self) -> [u64; 2] {
        [&self.no_free_text, &self.already_blocked].map(|count| count.load(Ordering::Relaxed))
    }
}

impl PanelResult {
    fn skipped(why: SkipReason) -> Self {
        Self {
            screening: Screening::skipped(why),
            outcomes: Vec::new(),
        }
    }
}

/// What the operator wants done about a verdict. A flag is recorded, whatever the action.
fn verdict(screener: &Screener, outcome: &Outcome) -> Option<ClassifierFinding> {
    let (severity, action) = match (outcome.verdict.action, screener.options.action) {
        (Action::Allow, _) => return None,
        (Action::Flag, _) => (Severity::Violation, Posture::Allow),
        (Action::Block, OnInjection::Report) => (Severity::Attack, Posture::Allow),
        (Action::Block, OnInjection::Block) => (Severity::Attack, Posture::Block),
    };
    let rule = format!("classifier.{}", outcome.name);
    let finding = Finding::new(Stage::Classify, rule, severity)
        .with_instance_pointer(outcome.pointer.clone().unwrap_or_default())
        .detail(described(outcome));
    Some(ClassifierFinding { finding, action })
}

/// What the operator wants done about text without a verdict.
fn failure(screener: &Screener, outcome: &Outcome) -> Option<ClassifierFinding> {
    let error = outcome.error?;
    let action = match screener.options.on_error {
        OnError::Open => {
            screener.counts.forwarded_unscreened();
            return None;
        }
        OnError::Flag => Posture::Allow,
        OnError::Closed => Posture::Block,
    };
    let rule = format!("classifier.{}.error", outcome.name);
    let detail = format!("{error}; {}", coverage(outcome));
    let finding = Finding::new(Stage::Classify, rule, Severity::Info).detail(detail);
    Some(ClassifierFinding { finding, action })
}

fn described(outcome: &Outcome) -> String {
    let mut text = format!("verdict {}", outcome.verdict.action.as_str());
    if let Some(label) = &outcome.verdict.label {
        text.extend([", label ", label.as_str()]);
    }
    if let Some(score) = outcome.verdict.score {
        text.extend([", score ", &format!("{score:.3}")]);
    }
    format!("{text}; {}", coverage(outcome))
}

fn coverage(outcome: &Outcome) -> String {
    format!(
        "screened {} of {} characters",
        outcome.screened_chars, outcome.total_chars
    )
}

/// Drives every future to its end at the same time, in this task.
async fn side_by_side<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut under_way: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (future, output) in &mut under_way {
            if output.is_some() {
                continue;
            }
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(done) => *output = Some(done),
                std::task::Poll::Pending => pending = true,
            }
        }
        if pending {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    under_way
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}
