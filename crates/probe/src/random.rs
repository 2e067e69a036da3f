//! Random numbers that are the same for the same seed, on every machine and with every version, which
//! is why this is not a library's generator.

/// A sequence of numbers that only its seed decides (splitmix). Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub(crate) fn number(&mut self) -> u64 {
        // A Weyl sequence, mixed until neighbours have nothing in common.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if there is none.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// An index below `end`; 0 if there is none. Chosen in another way than [`Self::below`], so that
    /// the cases of a seed stay what they are.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.number().checked_rem(end as u64).unwrap_or(0)).unwrap_or(0)
    }

    /// A number from 0 up to, but not including, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything_and_numbers_are_spread() {
        let all = |seed| {
            let mut random = Random::new(seed);
            std::iter::repeat_with(move || random.below(10)).take(10_000)
        };
        assert!(all(1).eq(all(1)) && !all(1).eq(all(2)));
        for wanted in 0..10 {
            let found = all(7).filter(|number| *number == wanted).count();
            assert!((900..1_100).contains(&found), "{wanted}: {found}");
        }
        assert_eq!(Random::new(3).below(0), 0);
    }
}
