//! Numbers within bounds. Bounds are compared as floating point, which is what a generator needs;
//! the schema engine decides whether a number truly fits.

use serde_json::Value;

use super::choice::Choice;
use super::view::View;
use crate::random::Random;

/// The numbers a schema admits, as far as its plain bounds say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// The distance between neighbours.
    pub(super) step: f64,
    pub(super) integer: bool,
}

impl Range {
    pub(super) fn from_view(view: &View<'_>) -> Self {
        let integer = view.allows("integer")
            && !view
                .types
                .as_ref()
                .is_none_or(|types| types.contains(&"number"));
        let multiple = view.bound("multipleOf").filter(|step| *step > 0.0);
        let step = match multiple {
            Some(multiple) if integer => multiple.max(1.0),
            Some(multiple) => multiple,
            None if integer => 1.0,
            None => 0.5,
        };
        let above = view.bound("exclusiveMinimum").map(|bound| bound + step);
        let below = view.bound("exclusiveMaximum").map(|bound| bound - step);
        let pick =
            |one: Option<f64>, other: Option<f64>, more: fn(f64, f64) -> f64| match (one, other) {
                (Some(one), Some(other)) => Some(more(one, other)),
                (one, other) => one.or(other),
            };
        let aligned = |value: f64, up: bool| {
            let steps = value / step;
            step * if up { steps.ceil() } else { steps.floor() }
        };
        let align = integer || multiple.is_some();
        let low = pick(view.bound("minimum"), above, f64::max);
        let high = pick(view.bound("maximum"), below, f64::min);
        Self {
            low: low.map(|low| if align { aligned(low, true) } else { low }),
            high: high.map(|high| if align { aligned(high, false) } else { high }),
            step,
            integer,
        }
    }

    pub(super) fn choose(&self, choice: Choice) -> Value {
        let number = match choice {
            Choice::Minimal(_) => self.low.map_or_else(
                || self.high.unwrap_or(0.0).min(self.step),
                |low| low.max(self.high.map_or(low, |high| self.step.min(high))),
            ),
            Choice::Maximal(_) => self.high.unwrap_or_else(|| {
                self.low
                    .map_or(self.step * 2.0, |low| low + self.step * 2.0)
            }),
            Choice::Random(seed) => self.random_number(&mut Random::new(seed)),
        };
        Self::value(number)
    }

    fn random_number(&self, random: &mut Random) -> f64 {
        let low = self
            .low
            .unwrap_or_else(|| self.high.map_or(-1000.0, |high| high - 1000.0));
        let high = self.high.unwrap_or_else(|| low.max(-1000.0) + 2000.0);
        let steps = ((high - low) / self.step).floor().clamp(0.0, 1e6);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "at most a million steps"
        )]
        let taken = random.index(steps as usize + 1) as f64;
        taken.mul_add(self.step, low)
    }

    /// A number as JSON, without a fraction where there is none.
    pub(super) fn value(number: f64) -> Value {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be a whole number that fits"
        )]
        if number.fract() == 0.0 && number.abs() < 9e15 {
            return Value::from(number as i64);
        }
        serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}
