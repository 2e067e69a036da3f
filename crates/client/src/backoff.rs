//! How long to wait before trying again: longer after each failure, up to a limit, with a random part so that clients
//! that failed at the same moment do not come back at the same moment.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// The pause after this many failures in a row.
pub fn delay(failures: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let whole = doubled.min(LONGEST);
    whole / 2 + whole.mul_f64(random_fraction() / 2.0)
}

/// A number between 0 and 1; a half if the system gives no randomness.
fn random_fraction() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        for failures in [0, 1, 2, 5, 10, 40, u32::MAX] {
            let nominal = FIRST.as_millis() << failures.saturating_sub(1).min(16);
            let nominal = nominal.min(LONGEST.as_millis());
            let pause = delay(failures).as_millis();
            assert!(
                pause >= nominal / 2 - 1 && pause <= nominal,
                "{failures}: {pause}"
            );
        }
    }
}
