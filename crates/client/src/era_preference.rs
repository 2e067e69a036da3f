//! In which era a server is greeted: in the one that keeps what its client can do, or in the one it is known to speak.

use countersign_inspect::Era;

/// How a server is greeted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EraPreference {
    /// In this era first, and in the other if the server does not speak this one.
    First(Era),
    /// In this era only: the configuration says so.
    Only(Era),
}

impl EraPreference {
    /// Chooses. `fixed` is the era in the configuration, `known` the one that the server spoke the last time.
    ///
    /// A server that speaks both eras can ask its client for sampling, elicitation and roots only if the client speaks
    /// the same era as the connection to the server. So the one legacy client of a server decides.
    pub(crate) fn choose(fixed: Option<Era>, has_legacy_client: bool, known: Option<Era>) -> Self {
        match fixed {
            Some(era) => Self::Only(era),
            None if has_legacy_client => Self::First(Era::Legacy),
            None => Self::First(known.unwrap_or(Era::Modern)),
        }
    }

    /// The era to begin with if the server does not survive being greeted like this.
    pub(crate) fn next(self) -> Era {
        match self {
            Self::Only(era) => era,
            Self::First(Era::Legacy) => Era::Modern,
            Self::First(Era::Modern) => Era::Legacy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_wins_then_a_legacy_client_then_what_is_known() {
        use Era::{Legacy, Modern};
        for (fixed, has_legacy_client, known, chosen) in [
            (None, false, None, EraPreference::First(Modern)),
            (None, false, Some(Legacy), EraPreference::First(Legacy)),
            (None, true, Some(Modern), EraPreference::First(Legacy)),
            (
                Some(Modern),
                true,
                Some(Legacy),
                EraPreference::Only(Modern),
            ),
            (Some(Legacy), false, None, EraPreference::Only(Legacy)),
        ] {
            assert_eq!(
                EraPreference::choose(fixed, has_legacy_client, known),
                chosen
            );
        }
        assert_eq!(EraPreference::First(Modern).next(), Legacy);
        assert_eq!(EraPreference::Only(Modern).next(), Modern);
    }
}
