//! How long to wait before trying again: longer each time, up to a limit, and never in step with
//! others who failed at the same moment.

use std::time::Duration;

use crate::random::fraction;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// The pause after this many failures in a row.
pub(crate) fn growing(failures: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let whole = doubled.min(LONGEST);
    whole / 2 + whole.mul_f64(fraction() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        for failures in [0, 1, 2, 5, 10, 40, u32::MAX] {
            let nominal = FIRST.as_millis() << failures.saturating_sub(1).min(16);
            let nominal = nominal.min(LONGEST.as_millis());
            let pause = growing(failures).as_millis();
            assert!(
                pause >= nominal / 2 - 1 && pause <= nominal,
                "{failures}: {pause}"
            );
        }
    }
}
