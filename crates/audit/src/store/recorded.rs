//! `Recorded<T>`: a value whose records have been handed to the store. The evidence behind "no reply before its record".
//!
//! Only `Store::commit` makes one, so whatever accepts a `Recorded` cannot be reached around the log. It refuses to be built,
//! cloned or changed from outside, except to put a refusal in the value's place.

use countersign_inspect::word_enum;

use crate::record::Mode;

/// How far the records of a call have got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Committed: they survive the death of the process (and, under `sync`, the loss of power).
    Committed,
    /// In the bounded queue of `durability = "async"`. If the queue was full they were dropped, and counted.
    Queued,
    /// The store could not take them, or not in time. They are lost, counted and reported, unless they wait for a
    /// PostgreSQL that is away: those are still written when it comes back.
    StoreDown,
}

word_enum! {
    /// What to do with a value whose records could not be written.
    #[derive(Default)]
    pub enum OnStoreError("on_store_error") {
        /// Refuse in strict mode, go on otherwise.
        #[default]
        Auto = "auto",
        /// Refuse.
        Refuse = "refuse",
        /// Go on.
        Continue = "continue",
    }
}

impl OnStoreError {
    /// Does a call in this mode fail without its records?
    pub fn refuses(self, mode: Mode) -> bool {
        match self {
            Self::Auto => mode == Mode::Strict,
            Self::Refuse => true,
            Self::Continue => false,
        }
    }
}

/// A value whose records have been handed to the store.
#[derive(Debug)]
#[must_use = "a recorded value is what may be sent"]
pub struct Recorded<T> {
    value: T,
    evidence: Evidence,
}

impl<T> Recorded<T> {
    pub(super) fn new(value: T, evidence: Evidence) -> Self {
        Self { value, evidence }
    }

    /// How far its records have got.
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// The value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The value, at the end of the path.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Puts `refusal` in the value's place if its records are lost and the setting says that such a call fails.
    pub fn or_refuse(
        self,
        setting: OnStoreError,
        mode: Mode,
        refusal: impl FnOnce(T) -> T,
    ) -> Self {
        if self.evidence == Evidence::StoreDown && setting.refuses(mode) {
            return Self {
                value: refusal(self.value),
                evidence: self.evidence,
            };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_store_that_is_down_replaces_the_value() {
        let answer = |evidence, setting, mode| {
            Recorded::new("reply", evidence)
                .or_refuse(setting, mode, |_| "refused")
                .into_value()
        };
        assert_eq!(
            answer(Evidence::StoreDown, OnStoreError::Auto, Mode::Strict),
            "refused"
        );
        assert_eq!(
            answer(Evidence::StoreDown, OnStoreError::Auto, Mode::Warn),
            "reply"
        );
        assert_eq!(
            answer(Evidence::StoreDown, OnStoreError::Refuse, Mode::Off),
            "refused"
        );
        assert_eq!(
            answer(Evidence::StoreDown, OnStoreError::Continue, Mode::Strict),
            "reply"
        );
        assert_eq!(
            answer(Evidence::Committed, OnStoreError::Refuse, Mode::Strict),
            "reply"
        );
        assert_eq!(
            answer(Evidence::Queued, OnStoreError::Refuse, Mode::Strict),
            "reply"
        );
        assert!("stop".parse::<OnStoreError>().is_err());
        assert_eq!("auto".parse(), Ok(OnStoreError::Auto));
    }
}
