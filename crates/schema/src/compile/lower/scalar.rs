//! Assertions on numbers and strings.

use countersign_tape::Kind;

use super::{Lowering, append};
use crate::dialect::Dialect;
use crate::format;
use crate::keyword::Keyword;
use crate::number::{Decimal, Divisor};
use crate::program::{Bound, NONE, NumberPlan, StringPlan};
use crate::unenforceable::Unenforceable;

impl Lowering<'_, '_> {
    pub(super) fn number_plan(&mut self) -> Result<u32, Unenforceable> {
        let mut plan = NumberPlan {
            bounds: if self.rules.dialect == Dialect::Draft4 {
                self.draft_4_bounds()?
            } else {
                self.bounds()?
            },
            ..NumberPlan::default()
        };
        if let Some(value) = self.part(Keyword::MultipleOf) {
            self.expect(value, Kind::Number, "must be a number")?;
            let reason = "multipleOf must be above zero, with at most 18 significant digits";
            let divisor = Divisor::new(self.tape().raw(value));
            plan.multiple_of = Some(divisor.ok_or_else(|| self.invalid(value, reason))?);
        }
        plan.finish();
        if plan.bounds.is_empty() && plan.multiple_of.is_none() {
            return Ok(NONE);
        }
        Ok(append(&mut self.program.numbers, plan))
    }

    fn bounds(&self) -> Result<Vec<Bound>, Unenforceable> {
        let keywords = [
            Keyword::Minimum,
            Keyword::ExclusiveMinimum,
            Keyword::Maximum,
            Keyword::ExclusiveMaximum,
        ];
        let declared = keywords.map(|keyword| Some((keyword, self.part(keyword)?)));
        let bounds = declared.into_iter().flatten();
        bounds
            .map(|(keyword, value)| self.bound(keyword, value))
            .collect()
    }

    /// In draft-04 `exclusiveMinimum` and `exclusiveMaximum` are booleans that change the meaning of the bound beside
    /// them, which must be there.
    fn draft_4_bounds(&self) -> Result<Vec<Bound>, Unenforceable> {
        let mut bounds = Vec::new();
        for (inclusive, exclusive) in [
            (Keyword::Minimum, Keyword::ExclusiveMinimum),
            (Keyword::Maximum, Keyword::ExclusiveMaximum),
        ] {
            let is_exclusive = self.boolean(exclusive)?;
            let keyword = if is_exclusive { exclusive } else { inclusive };
            match (self.part(inclusive), self.part(exclusive)) {
                (Some(value), _) => bounds.push(self.bound(keyword, value)?),
                (None, Some(flag)) => {
                    return Err(self.invalid(flag, "draft-04 requires the bound beside it"));
                }
                (None, None) => {}
            }
        }
        Ok(bounds)
    }

    fn bound(&self, keyword: Keyword, value: u32) -> Result<Bound, Unenforceable> {
        self.expect(value, Kind::Number, "must be a number")?;
        let value = Decimal::parse(self.tape().raw(value))
            .ok_or_else(|| self.invalid(value, "exponent is beyond ±1000000"))?;
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
        Ok(append(&mut self.program.strings, plan))
    }

    fn format(&self) -> Result<Option<format::Check>, Unenforceable> {
        let Some(value) = self.part(Keyword::Format) else {
            return Ok(None);
        };
        self.expect(value, Kind::String, "format must be a string")?;
        let name = self.tape().string(value);
        let is_defined = self.rules.dialect.defines_format(&name);
        Ok(format::find_check(&name).filter(|_| is_defined))
    }
}
