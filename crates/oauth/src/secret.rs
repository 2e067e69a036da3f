//! Text that must not be shown: tokens, secrets, verifiers.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};
use serde::Deserialize;

use crate::error::OAuthError;

/// Secret text. `Debug` does not show it, and there is no `Display`.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Marks text as secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for sending or storing it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// 256 random bits as 43 characters of base64url.
    pub(crate) fn random() -> Result<Self, OAuthError> {
        use base64::Engine;
        let mut bytes = [0; 32];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| OAuthError::NoRandomness)?;
        Ok(Self(
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes),
        ))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
