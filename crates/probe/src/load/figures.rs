//! What the thread that makes calls counts itself: times by tool, and how they went over time.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::sample::CallTimes;
use crate::report::{Histograms, TimelinePoint, count_time, millis, number, rounded};

/// A timeline has about this many points, however long the run.
const POINTS: u32 = 600;

/// Times so far.
#[derive(Debug)]
pub(super) struct Figures {
    /// By tool, in the plan's order.
    pub(super) tools: Vec<Histograms>,
    pub(super) completed: u64,
    pub(super) warm_up: u64,
    pub(super) timeline: Timeline,
}

impl Figures {
    pub(super) fn new(tools: usize, duration: Duration) -> Self {
        Self {
            tools: std::iter::repeat_with(Histograms::default)
                .take(tools)
                .collect(),
            completed: 0,
            warm_up: 0,
            timeline: Timeline::new(duration),
        }
    }

    /// Counts a call.
    pub(super) fn add(&mut self, tool: usize, times: &CallTimes, warm_up: Duration) {
        self.timeline.add(times);
        if times.intended < warm_up {
            self.warm_up += 1;
            return;
        }
        self.completed += 1;
        if let Some(of_tool) = self.tools.get_mut(tool) {
            of_tool.add(times.response, times.service, times.first_event);
        }
    }

    /// All tools together.
    pub(super) fn all(&self) -> Histograms {
        let mut all = Histograms::default();
        for tool in &self.tools {
            all.merge(tool);
        }
        all
    }
}

/// How calls went over time, in stretches of equal length.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) width: Duration,
    done: Vec<TimelinePoint>,
    current: usize,
    open: Histogram<u64>,
}

impl Timeline {
    fn new(duration: Duration) -> Self {
        Self {
            width: (duration / POINTS).max(Duration::from_secs(1)),
            done: Vec::new(),
            current: 0,
            open: Histogram::new(2).expect("two digits are supported"),
        }
    }

    /// Which stretch a moment belongs to.
    pub(super) fn stretch(width: Duration, at: Duration) -> usize {
        usize::try_from(at.as_millis() / width.as_millis().max(1)).unwrap_or(usize::MAX)
    }

    fn add(&mut self, times: &CallTimes) {
        let stretch = Self::stretch(self.width, times.ended);
        while self.current < stretch {
            let point = self.point();
            self.done.push(point);
            self.open.reset();
            self.current += 1;
        }
        count_time(&mut self.open, times.response);
    }

    fn point(&self) -> TimelinePoint {
        TimelinePoint {
            at_s: rounded(number(self.current as u64) * self.width.as_secs_f64()),
            done: self.open.len(),
            unexpected: 0,
            p50_ms: millis(self.open.value_at_quantile(0.5)),
            p99_ms: millis(self.open.value_at_quantile(0.99)),
            max_ms: millis(self.open.max()),
        }
    }

    /// The points, with the calls of each that did not come to what was expected.
    pub(super) fn points(&self, unexpected: &[u64]) -> Vec<TimelinePoint> {
        let mut all = self.done.clone();
        if !self.open.is_empty() {
            all.push(self.point());
        }
        for (point, unexpected) in all.iter_mut().zip(unexpected) {
            point.unexpected = *unexpected;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(intended: u64, ended: u64) -> CallTimes {
        CallTimes {
            intended: Duration::from_millis(intended),
            ended: Duration::from_millis(ended),
            response: Duration::from_millis(ended - intended),
            service: Duration::from_millis(1),
            first_event: None,
        }
    }

    #[test]
    fn the_warm_up_is_seen_over_time_and_counted_nowhere_else() {
        let mut figures = Figures::new(1, Duration::from_secs(10));
        for call in [
            times(0, 100),
            times(500, 900),
            times(1000, 1100),
            times(3000, 3500),
        ] {
            figures.add(0, &call, Duration::from_secs(1));
        }
        assert_eq!((figures.completed, figures.warm_up), (2, 2));
        assert_eq!(figures.all().response.len(), 2);
        let points = figures.timeline.points(&[0, 1]);
        let done: Vec<u64> = points.iter().map(|point| point.done).collect();
        assert_eq!(done, [2, 1, 0, 1]);
        assert_eq!(points[1].unexpected, 1);
        assert!((points[3].max_ms - 500.0).abs() < 8.0);
    }
}
