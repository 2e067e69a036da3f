//! A call to a server where each caller has a token of its own: by a connection that no other caller uses, or, where the
//! server keeps no sessions, with the token in the one request. Without a token nothing is sent.

use std::sync::Arc;

use countersign_client::{Error, NoAuthorization, NoteSink};
use countersign_inspect::{Era, RawReply, Refusal};
use countersign_wire::Subject;
use tokio::time::Instant;

use crate::path::client::Client;
use crate::path::isolation::{connection_for_call, private_server};
use crate::path::route::Route;
use crate::services::{CallerGrant, Services};

/// Why a server gave no reply.
pub(super) enum Unanswered {
    Refused(Refusal),
    /// The caller has no token for the server, or one without scopes that the call needs.
    NeedsLogin,
}

impl From<Refusal> for Unanswered {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

/// A call with a token that belongs to its caller.
pub(super) struct CallerRoute<'a> {
    pub(super) services: &'a Arc<Services>,
    pub(super) route: &'a Route,
    pub(super) client: &'a Client,
    pub(super) grant: &'a CallerGrant,
}

impl CallerRoute<'_> {
    pub(super) async fn call(
        &self,
        subject: &Subject<'_>,
        params: impl Fn(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<RawReply, Unanswered> {
        let (settings, shared) = (&self.route.settings, &self.route.upstream);
        let token = shared.with_call_timeout(Instant::now(), notes, self.grant.ready());
        token.await?.map_err(|why| missing_token(&why))?;
        let private = private_server(self.services, settings, shared, self.client).await?;
        let private = match private {
            None => connection_for_call(self.services, settings, shared, self.grant).await?,
            own => own,
        };
        let reply = if let Some(private) = &private {
            private.upstream.call(subject, params, notes).await
        } else {
            let authorizer = self.grant.authorizer();
            shared
                .call_with_token(Some(&authorizer), subject, params, notes)
                .await
        };
        reply.map_err(|error| match error {
            Error::Unauthorized(why) => missing_token(&why),
            error => error.into(),
        })
    }
}

fn missing_token(why: &NoAuthorization) -> Unanswered {
    match why {
        NoAuthorization::NeedsLogin(_) | NoAuthorization::LacksScopes(_) => Unanswered::NeedsLogin,
        NoAuthorization::Unavailable(_) => Refusal::Unreachable.into(),
    }
}
