//! Changes of the servers while the gateway runs: each is a change of the configuration file that is applied at once, except
//! for a restart, which leaves the file alone. Needs the admin key, as every request that changes something.

use countersign_config::ServerChange;
use hyper::body::Incoming;

use super::ApiResult;
use super::config::{answer, read_text};
use crate::config_change::{ConfigRefusal, ReloadRequest};
use crate::services::Services;

/// Adds the server in the body: an object with its `name` and its other keys, as the file has them.
pub(super) async fn add(services: &Services, body: Incoming) -> ApiResult {
    let text = read_text(services, body, "the server").await?;
    match ServerChange::add(&text) {
        Ok(change) => request(services, ReloadRequest::Server(change)).await,
        Err(error) => answer(Err(ConfigRefusal::Config(error))),
    }
}

/// Removes a server with all its settings.
pub(super) async fn remove(services: &Services, name: &str) -> ApiResult {
    let change = ServerChange::Remove(name.to_owned());
    request(services, ReloadRequest::Server(change)).await
}

/// Uses a server from now on.
pub(super) async fn enable(services: &Services, name: &str) -> ApiResult {
    let change = ServerChange::Enable(name.to_owned());
    request(services, ReloadRequest::Server(change)).await
}

/// Keeps a server in the file and uses it no more.
pub(super) async fn disable(services: &Services, name: &str) -> ApiResult {
    let change = ServerChange::Disable(name.to_owned());
    request(services, ReloadRequest::Server(change)).await
}

/// Starts a server anew.
pub(super) async fn restart(services: &Services, name: &str) -> ApiResult {
    request(services, ReloadRequest::Restart(name.to_owned())).await
}

async fn request(services: &Services, request: ReloadRequest) -> ApiResult {
    answer(services.reloads.request(request).await)
}
