//! Many times as a few figures: percentiles of histograms that can be merged exactly, because the
//! histogram itself goes into the report.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// The three times of calls, each as a histogram of microseconds.
#[derive(Clone, Debug)]
pub struct Histograms {
    /// From the intended start to the last byte.
    pub response: Histogram<u64>,
    /// From sending to the last byte.
    pub service: Histogram<u64>,
    /// From sending to the first event.
    pub first_event: Histogram<u64>,
}

impl Default for Histograms {
    fn default() -> Self {
        let new = || Histogram::new(3).expect("three digits are supported");
        Self {
            response: new(),
            service: new(),
            first_event: new(),
        }
    }
}

impl Histograms {
    /// Counts the times of one call.
    pub(crate) fn add(
        &mut self,
        response: Duration,
        service: Duration,
        first_event: Option<Duration>,
    ) {
        count_time(&mut self.response, response);
        count_time(&mut self.service, service);
        if let Some(first_event) = first_event {
            count_time(&mut self.first_event, first_event);
        }
    }

    /// Adds what another one holds.
    pub fn merge(&mut self, other: &Self) {
        for (to, from) in [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.first_event, &other.first_event),
        ] {
            let added = to.add(from);
            debug_assert!(added.is_ok(), "only a histogram that may not grow refuses");
        }
    }
}

/// A call of more than a day is as long as a day.
const LONGEST: u64 = 24 * 3600 * 1_000_000;

/// Counts a time, as microseconds.
pub(crate) fn count_time(histogram: &mut Histogram<u64>, time: Duration) {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    // Saturating would not let it grow.
    let recorded = histogram.record(micros.clamp(1, LONGEST));
    debug_assert!(recorded.is_ok(), "a histogram that may grow takes any time");
}

/// The figures of the three times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// From the intended start to the last byte.
    pub response: Times,
    /// From sending to the last byte.
    pub service: Times,
    /// From sending to the first event; nothing if no answer came as a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_event: Option<Times>,
}

/// Figures of many times, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The mean.
    pub mean_ms: f64,
    /// The smallest.
    pub min_ms: f64,
    /// Half of them are no longer.
    pub p50_ms: f64,
    /// 90 % are no longer.
    pub p90_ms: f64,
    /// 95 % are no longer.
    pub p95_ms: f64,
    /// 99 % are no longer.
    pub p99_ms: f64,
    /// 99.9 % are no longer.
    pub p999_ms: f64,
    /// The largest.
    pub max_ms: f64,
    /// The histogram in microseconds: `HdrHistogram` V2, base64.
    pub hdr: String,
}

impl From<&Histograms> for Figures {
    fn from(all: &Histograms) -> Self {
        Self {
            response: Times::from_histogram(&all.response),
            service: Times::from_histogram(&all.service),
            first_event: (!all.first_event.is_empty())
                .then(|| Times::from_histogram(&all.first_event)),
        }
    }
}

impl Times {
    /// The figures of a histogram of microseconds.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| millis(histogram.value_at_quantile(quantile));
        let mut blob = Vec::new();
        // Writing into memory cannot fail.
        drop(V2Serializer::new().serialize(histogram, &mut blob));
        Self {
            count: histogram.len(),
            mean_ms: rounded(histogram.mean() / 1e3),
            min_ms: millis(histogram.min()),
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: millis(histogram.max()),
            hdr: STANDARD.encode(blob),
        }
    }

    /// The histogram that the figures are of.
    pub fn histogram(&self) -> Option<Histogram<u64>> {
        let blob = STANDARD.decode(&self.hdr).ok()?;
        Deserializer::new().deserialize(&mut blob.as_slice()).ok()
    }
}

/// A number as precise as a report needs it, and short enough to be read back as it was.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// A count as a number to reckon with.
#[expect(
    clippy::cast_precision_loss,
    reason = "no run has 2^52 calls, and no call takes 2^52 microseconds"
)]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

pub(crate) fn millis(micros: u64) -> f64 {
    number(micros) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_as_the_histogram_they_are_of() {
        let mut all = Histograms::default();
        for number in 1..=1000 {
            count_time(&mut all.response, Duration::from_micros(number * 10));
        }
        let times = Figures::from(&all).response;
        assert_eq!((times.count, times.min_ms), (1000, 0.01));
        assert!((times.p50_ms - 5.0).abs() < 0.02, "{}", times.p50_ms);
        assert!((times.p99_ms - 9.9).abs() < 0.02, "{}", times.p99_ms);
        assert_eq!(times.histogram().expect("a blob"), all.response);
        assert_eq!(Figures::from(&all).first_event, None);
    }
}
