//! Assertions on numbers and strings.

use countersign_tape::Kind;

use super::Lowering;
use crate::compile::index::position;
use crate::format::Format;
use crate::keyword::Keyword;
use crate::number::{Decimal, Divisor};
use crate::program::{Bound, NONE, NumberPlan, StringPlan};
use crate::unenforceable::Unenforceable;

impl Lowering<'_, '_> {
    pub(super) fn number_plan(&mut self) -> Result<u32, Unenforceable> {
        let mut plan = NumberPlan::default();
        for keyword in [
            Keyword::Minimum,
            Keyword::ExclusiveMinimum,
            Keyword::Maximum,
            Keyword::ExclusiveMaximum,
        ] {
            if let Some(value) = self.part(keyword) {
                plan.bounds.push(self.bound(keyword, value)?);
            }
        }
        if let Some(value) = self.part(Keyword::MultipleOf) {
            self.expect(value, Kind::Number, "must be a number")?;
            let divisor = Divisor::new(self.tape().raw(value)).map_err(|_| {
                self.invalid(
                    value,
                    "multipleOf must be above zero, with at most 18 significant digits",
                )
            })?;
            plan.multiple_of = Some(divisor);
        }
        plan.finish();
        if plan.bounds.is_empty() && plan.multiple_of.is_none() {
            return Ok(NONE);
        }
        self.program.numbers.push(plan);
        Ok(position(self.program.numbers.len() - 1))
    }

    fn bound(&self, keyword: Keyword, value: u32) -> Result<Bound, Unenforceable> {
        self.expect(value, Kind::Number, "must be a number")?;
        let value = Decimal::parse(self.tape().raw(value))
            .map_err(|_| self.invalid(value, "exponent is beyond ±1000000"))?;
        let small = value.as_number().as_small();
        Ok(Bound {
            keyword,
            value,
            small,
        })
    }

    pub(super) fn string_plan(&mut self) -> Result<u32, Unenforceable> {
        let plan = StringPlan {
            min_length: self.count(Keyword::MinLength, 0)?,
            max_length: self.count(Keyword::MaxLength, u64::MAX)?,
            pattern: match self.part(Keyword::Pattern) {
                None => NONE,
                Some(value) => {
                    self.expect(value, Kind::String, "pattern must be a string")?;
                    let text = self.tape().string(value).into_owned();
                    self.pattern(value, &text)?
                }
            },
            format: self.format()?,
        };
        if plan.min_length == 0
            && plan.max_length == u64::MAX
            && plan.pattern == NONE
            && plan.format.is_none()
        {
            return Ok(NONE);
        }
        self.program.strings.push(plan);
        Ok(position(self.program.strings.len() - 1))
    }

    fn format(&self) -> Result<Option<Format>, Unenforceable> {
        let Some(value) = self.part(Keyword::Format) else {
            return Ok(None);
        };
        self.expect(value, Kind::String, "format must be a string")?;
        Ok(Format::from_name(&self.tape().string(value)))
    }
}
