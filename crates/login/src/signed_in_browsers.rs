//! Browsers whose user has just signed in at an issuer, for the pages of `/connect`. A browser holds a random id; who its user
//! is stays here, for ten minutes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use countersign_dial::lock;
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

use crate::browser_login::LOGIN_LIFETIME;
use crate::caller::Caller;
use crate::secrets::{random_token, secret_digest};

/// Browsers at once. The oldest makes room.
const MAX_BROWSERS: usize = 1024;
const ID_BYTES: usize = 32;

/// The browsers, by the digest of their id.
#[derive(Debug, Default)]
pub struct SignedInBrowsers(Mutex<HashMap<[u8; 32], Arc<SignedInBrowser>>>);

/// One browser.
pub struct SignedInBrowser {
    /// Its user.
    pub caller: Arc<Caller>,
    /// What every form sends back, so that no other site can send one.
    pub csrf: String,
    began: Instant,
}

impl std::fmt::Debug for SignedInBrowser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedInBrowser").finish_non_exhaustive()
    }
}

impl SignedInBrowser {
    /// Whether a form was sent by a page that this browser was shown.
    pub fn has_token(&self, given: &str) -> bool {
        self.csrf.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl SignedInBrowsers {
    /// Remembers a browser and gives its id; nothing if the system has no randomness.
    pub fn open(&self, caller: &Arc<Caller>) -> Option<String> {
        let (id, csrf) = (random_token(ID_BYTES)?, random_token(ID_BYTES)?);
        let browser = SignedInBrowser {
            caller: Arc::clone(caller),
            csrf,
            began: Instant::now(),
        };
        let mut browsers = lock(&self.0);
        browsers.retain(|_, browser| browser.began.elapsed() < LOGIN_LIFETIME);
        if browsers.len() >= MAX_BROWSERS {
            let oldest = browsers.iter().min_by_key(|(_, browser)| browser.began);
            let oldest = oldest.map(|(id, _)| *id);
            oldest.and_then(|oldest| browsers.remove(&oldest));
        }
        browsers.insert(secret_digest(id.as_bytes()), Arc::new(browser));
        Some(id)
    }

    /// The browser with this id, if its time is not over.
    pub fn find(&self, id: &str) -> Option<Arc<SignedInBrowser>> {
        let found = lock(&self.0)
            .get(&secret_digest(id.as_bytes()))
            .map(Arc::clone);
        found.filter(|browser| browser.began.elapsed() < LOGIN_LIFETIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_browser_is_forgotten_after_its_time() {
        let browsers = SignedInBrowsers::default();
        let caller = Arc::new(Caller::anonymous());
        let ids = [browsers.open(&caller), browsers.open(&caller)];
        let [one, other] = ids.map(|id| id.expect("an id"));
        let [first, second] = [&one, &other].map(|id| browsers.find(id).expect("a browser"));
        assert!(first.has_token(&first.csrf));
        assert!(!first.has_token(&second.csrf) && !first.has_token(""));
        assert!(browsers.find("").is_none());
        tokio::time::advance(LOGIN_LIFETIME).await;
        assert!(browsers.find(&one).is_none());
        browsers.open(&caller).expect("an id");
        assert_eq!(lock(&browsers.0).len(), 1, "old ones are forgotten");
    }
}
