//! The issuers of tokens at work: their keys, what they say about opaque tokens, and the tokens that were verified. What
//! holds for an issuer comes with each request, from its snapshot; a changed issuer starts with an empty memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use countersign_dial::lock;
use countersign_oauth::{
    Client, HttpClient, Introspector, KeySource, KeyStatus, OAuthError, ServerMetadata,
};
use countersign_token::{Caller, Refusal, Token, VerifiedTokens};

use crate::token_rules::{IntrospectionRules, IssuerRules, TokenRules};

/// How many tokens of each kind are remembered per issuer.
const REMEMBERED: usize = 10_000;
/// How long a question about an opaque token may take, the wait for its turn included.
const QUESTION: Duration = Duration::from_secs(6);
/// The shortest time between two looks for an introspection endpoint that was not found.
const ATTEMPT: Duration = Duration::from_secs(30);
/// Keys of ours are not sent to an issuer, not even wrong or revoked ones.
const OWN_KEYS: [&str; 2] = ["cs_", "csa_"];

/// All issuers, by their names.
#[derive(Debug, Default)]
pub struct Issuers {
    by_name: Mutex<HashMap<String, Arc<Issuer>>>,
    refusals: [AtomicU64; Refusal::ALL.len()],
}

/// One issuer.
#[derive(Debug)]
pub(crate) struct Issuer {
    rules: Arc<IssuerRules>,
    keys: KeySource,
    introspector: tokio::sync::Mutex<EndpointState>,
    signed: VerifiedTokens,
    opaque: VerifiedTokens,
    /// How many failed fetches of keys have been told.
    told_failures: AtomicU64,
}

#[derive(Debug, Default)]
struct EndpointState {
    found: Option<Arc<Introspector>>,
    attempted: Option<Instant>,
}

/// Why a token opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// It is not accepted.
    Invalid(Refusal),
    /// Its issuer is out of reach, so that it can be neither accepted nor refused.
    Unreachable,
}

impl From<Refusal> for TokenRefusal {
    fn from(refusal: Refusal) -> Self {
        Self::Invalid(refusal)
    }
}

impl Issuers {
    /// Verifies a token for a resource.
    pub async fn verify(
        &self,
        rules: &TokenRules,
        token: &str,
        resource: &str,
    ) -> Result<Arc<Caller>, TokenRefusal> {
        let verified = if is_signed(token) {
            self.verify_signed(rules, token, resource).await
        } else {
            self.ask(rules, token, resource).await
        };
        if let Err(TokenRefusal::Invalid(refusal)) = verified {
            self.count(refusal);
        }
        verified
    }

    async fn verify_signed(
        &self,
        rules: &TokenRules,
        text: &str,
        resource: &str,
    ) -> Result<Arc<Caller>, TokenRefusal> {
        for issuer in &rules.issuers {
            if let Some(caller) = self.get(issuer).remembered(text, resource) {
                return Ok(caller);
            }
        }
        let token = Token::parse(text)?;
        let is_it = |issuer: &&Arc<IssuerRules>| issuer.issuer.url == token.issuer();
        let issuer = rules.issuers.iter().find(is_it).ok_or(Refusal::Issuer)?;
        self.get(issuer).verify(&token, text, resource).await
    }

    /// Asks the issuers that explain opaque tokens, until one of them knows this one.
    async fn ask(
        &self,
        rules: &TokenRules,
        token: &str,
        resource: &str,
    ) -> Result<Arc<Caller>, TokenRefusal> {
        if token.len() > Token::MAX_BYTES {
            return Err(Refusal::TooLarge.into());
        }
        let is_own = OWN_KEYS.iter().any(|prefix| token.starts_with(prefix));
        let asked = |issuer: &&Arc<IssuerRules>| issuer.introspection.is_some() && !is_own;
        let mut refusal = TokenRefusal::Invalid(Refusal::Malformed);
        for issuer in rules.issuers.iter().filter(asked) {
            match self.get(issuer).ask(token, resource).await {
                Ok(caller) => return Ok(caller),
                Err(_) if refusal == TokenRefusal::Unreachable => {}
                Err(refused) => refusal = refused,
            }
        }
        Err(refusal)
    }

    /// The issuer with these rules. If the rules are new, so is the issuer; its keys stay if their source does.
    fn get(&self, rules: &Arc<IssuerRules>) -> Arc<Issuer> {
        let mut issuers = lock(&self.by_name);
        let known = issuers.get(&rules.issuer.name);
        match known {
            Some(known) if Arc::ptr_eq(&known.rules, rules) || known.rules == *rules => {
                return Arc::clone(known);
            }
            _ => {}
        }
        let keys = known.filter(|known| known.has_source_of(rules));
        let keys = keys.map(|known| known.keys.clone());
        let issuer = Arc::new(Issuer::new(rules, keys));
        issuers.insert(rules.issuer.name.clone(), Arc::clone(&issuer));
        issuer
    }

    /// Fetches the keys of every issuer that are missing or old, each in a task of its own, and tells of failures.
    pub fn refresh(&self, rules: &TokenRules) {
        for rules in &rules.issuers {
            let issuer = self.get(rules);
            tokio::spawn(async move {
                let fetched = issuer.keys.keys(Instant::now()).await;
                issuer.tell(fetched.is_ok());
            });
        }
    }

    /// How the fetching of an issuer's keys goes.
    pub fn status(&self, rules: &Arc<IssuerRules>) -> KeyStatus {
        self.get(rules).keys.status()
    }

    fn count(&self, refusal: Refusal) {
        let counters = Refusal::ALL.iter().zip(&self.refusals);
        for (_, counter) in counters.filter(|(reason, _)| **reason == refusal) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many tokens were refused, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counters = Refusal::ALL.iter().zip(&self.refusals);
        counters.map(|(reason, count)| (reason.word(), count.load(Ordering::Relaxed)))
    }
}

/// Whether a token has the three parts of a signed one.
fn is_signed(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl Issuer {
    fn new(rules: &Arc<IssuerRules>, keys: Option<KeySource>) -> Self {
        let http = HttpClient::new(rules.reach);
        let keys = keys.unwrap_or_else(|| KeySource::new(http, &rules.issuer.url));
        Self {
            rules: Arc::clone(rules),
            keys,
            introspector: tokio::sync::Mutex::default(),
            signed: VerifiedTokens::new(REMEMBERED, VerifiedTokens::SIGNED_AGE),
            opaque: VerifiedTokens::new(REMEMBERED, VerifiedTokens::OPAQUE_AGE),
            told_failures: AtomicU64::new(0),
        }
    }

    fn has_source_of(&self, rules: &IssuerRules) -> bool {
        self.rules.issuer.url == rules.issuer.url && self.rules.reach == rules.reach
    }

    fn remembered(&self, token: &str, resource: &str) -> Option<Arc<Caller>> {
        let revision = self.keys.revision();
        self.signed.get(token, resource, revision, now())
    }

    async fn verify(
        &self,
        token: &Token<'_>,
        text: &str,
        resource: &str,
    ) -> Result<Arc<Caller>, TokenRefusal> {
        let (issuer, now) = (&self.rules.issuer, now());
        let keys = self.keys.keys(Instant::now()).await;
        let mut keys = keys.map_err(|_| TokenRefusal::Unreachable)?;
        let mut verified = issuer.verify(token, &keys.keys, resource, now);
        if verified == Err(Refusal::UnknownKey) {
            let newer = self.keys.keys_for_unknown_id(Instant::now()).await;
            keys = newer.map_err(|_| TokenRefusal::Unreachable)?;
            verified = issuer.verify(token, &keys.keys, resource, now);
        }
        let caller = Arc::new(verified?);
        self.signed
            .insert(text, resource, keys.revision, now, &caller);
        Ok(caller)
    }

    async fn ask(&self, token: &str, resource: &str) -> Result<Arc<Caller>, TokenRefusal> {
        let now = now();
        if let Some(caller) = self.opaque.get(token, resource, 0, now) {
            return Ok(caller);
        }
        let question = async {
            let introspector = self.introspector().await?;
            introspector
                .ask(token, &self.rules.issuer, resource, now)
                .await
        };
        let answer = tokio::time::timeout(QUESTION, question).await;
        let answer = answer.unwrap_or(Err(OAuthError::TimedOut));
        let caller = Arc::new(answer.map_err(|error| self.note(&error))??);
        self.opaque.insert(token, resource, 0, now, &caller);
        Ok(caller)
    }

    fn note(&self, error: &OAuthError) -> TokenRefusal {
        let issuer = &*self.rules.issuer.name;
        tracing::info!(issuer, %error, "an issuer was asked about a token and gave no answer");
        TokenRefusal::Unreachable
    }

    /// Where opaque tokens are asked about. An endpoint that is not configured is looked for in the metadata.
    async fn introspector(&self) -> Result<Arc<Introspector>, OAuthError> {
        let what = "introspection_endpoint";
        let rules = self.rules.introspection.as_ref();
        let rules = rules.ok_or(OAuthError::NoEndpoint { what })?;
        let mut state = self.introspector.lock().await;
        if let Some(found) = &state.found {
            return Ok(Arc::clone(found));
        }
        let now = Instant::now();
        let is_due = |at: Instant| now.saturating_duration_since(at) >= ATTEMPT;
        if !state.attempted.is_none_or(is_due) {
            return Err(OAuthError::NoEndpoint { what });
        }
        state.attempted = Some(now);
        let found = Arc::new(self.find_introspector(rules).await?);
        state.found = Some(Arc::clone(&found));
        Ok(found)
    }

    async fn find_introspector(
        &self,
        rules: &IntrospectionRules,
    ) -> Result<Introspector, OAuthError> {
        let http = HttpClient::new(self.rules.reach);
        if let Some(endpoint) = &rules.endpoint {
            return Introspector::new(http, endpoint, rules.client());
        }
        let what = "introspection_endpoint";
        let server = ServerMetadata::discover(http, &self.rules.issuer.url).await?;
        let endpoint = server.introspection_endpoint.as_deref();
        let endpoint = endpoint.ok_or(OAuthError::NoEndpoint { what })?;
        let client = match &rules.secret {
            Some(secret) => Client::with_secret(&rules.client_id, secret.clone(), &server),
            None => rules.client(),
        };
        Introspector::new(http, endpoint, client)
    }

    /// Logs failures of fetches that have not been logged. `has_keys`: whether older keys are still used.
    fn tell(&self, has_keys: bool) {
        let status = self.keys.status();
        let told = self.told_failures.swap(status.failures, Ordering::Relaxed);
        let Some(error) = status.failure.filter(|_| told < status.failures) else {
            return;
        };
        let (issuer, error) = (&*self.rules.issuer.name, countersign_dial::explain(&*error));
        tracing::warn!(
            issuer,
            error,
            has_keys,
            "cannot fetch the keys of an issuer"
        );
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}
