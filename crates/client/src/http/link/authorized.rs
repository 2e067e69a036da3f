//! Requests to a server that needs a token. A refused token is exchanged once, and the request made once more: a refused
//! request was not carried out.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::Reply;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Response, StatusCode};

use super::Link;
use crate::authorizer::{Authorizer, NoAuthorization, TokenRefusal};
use crate::error::Error;

impl Link {
    /// The same with tokens from there.
    pub(crate) fn with_authorizer(self, authorizer: Option<Arc<dyn Authorizer>>) -> Self {
        Self { authorizer, ..self }
    }

    /// Sends a request with a token.
    pub(super) async fn send_authorized(
        &self,
        authorizer: &dyn Authorizer,
        (method, headers, body): (Method, HeaderMap, Bytes),
        mut connected: impl FnMut(),
    ) -> Result<Response<Reply>, Error> {
        let authorized = authorizer.authorize().await;
        let token = authorized.map_err(|why| self.unauthorized(why))?;
        let first = with_token(&headers, &token);
        let response = self
            .transmit(method.clone(), first, body.clone(), &mut connected)
            .await?;
        let Some(refusal) = token_refusal(&response, token, false) else {
            return Ok(response);
        };
        let next = authorizer.refused(refusal).await;
        let Some(token) = next.map_err(|why| self.unauthorized(why))? else {
            return Ok(response);
        };
        response.into_body().done_after_rest();
        let second = with_token(&headers, &token);
        let response = self.transmit(method, second, body, connected).await?;
        if let Some(refusal) = token_refusal(&response, token, true) {
            let told = authorizer.refused(refusal).await;
            told.map_err(|why| self.unauthorized(why))?;
        }
        Ok(response)
    }

    /// Waits for a token before the greeting, whose steps have their own time limits.
    pub(crate) async fn await_token(&self) -> Result<(), Error> {
        let Some(authorizer) = &self.authorizer else {
            return Ok(());
        };
        let authorized = authorizer.authorize().await;
        authorized.map(drop).map_err(Error::Unauthorized)
    }

    /// The server is not callable without a token, so its supervisor has to know.
    fn unauthorized(&self, why: NoAuthorization) -> Error {
        if matches!(why, NoAuthorization::NeedsLogin(_)) && !self.has_own_token {
            self.lost.notify_one();
        }
        Error::Unauthorized(why)
    }
}

/// How a response refuses the token, if it does.
fn token_refusal(
    response: &Response<Reply>,
    sent: HeaderValue,
    is_retry: bool,
) -> Option<TokenRefusal> {
    let status = response.status();
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    is_refused.then(|| TokenRefusal {
        sent,
        status,
        challenge: response.headers().get(WWW_AUTHENTICATE).cloned(),
        is_retry,
    })
}

fn with_token(headers: &HeaderMap, token: &HeaderValue) -> HeaderMap {
    let mut headers = headers.clone();
    headers.insert(AUTHORIZATION, token.clone());
    headers
}
