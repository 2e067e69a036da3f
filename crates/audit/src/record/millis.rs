//! `Millis`: how long something took, to the microsecond, written as milliseconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration, written as milliseconds with three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(Duration);

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros())
            .unwrap_or(u64::MAX)
            .min(1 << 52);
        Self(Duration::from_micros(micros))
    }
}

impl Millis {
    /// Milliseconds, to the microsecond.
    pub fn as_f64(self) -> f64 {
        self.0.as_secs_f64() * 1000.0
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let micros = u64::try_from(self.0.as_micros()).unwrap_or(u64::MAX);
        if micros.is_multiple_of(1000) {
            return serializer.serialize_u64(micros / 1000);
        }
        #[expect(clippy::cast_precision_loss, reason = "held under 2^52 when made")]
        serializer.serialize_f64(micros as f64 / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = f64::deserialize(deserializer)?;
        let rounded =
            Duration::try_from_secs_f64((millis * 1000.0).round() / 1e6).unwrap_or_default();
        Ok(Self::from(rounded + Duration::from_nanos(500)))
    }
}
