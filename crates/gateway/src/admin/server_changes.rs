//! Changes of the servers while the gateway runs: each is a change of the configuration file that is applied at once, except
//! for a restart, which leaves the file alone. Needs the admin key, as every request that changes something.

use countersign_config::ServerChange;
use hyper::body::Incoming;

use super::ApiResult;
use super::config::{answer, read_text};
use crate::config_change::{ConfigRefusal, ReloadRequest};
use crate::services::Services;
use crate::state::Caller;

/// Adds the server in the body: an object with its `name` and its other keys, as the file has them.
pub(super) async fn add(services: &Services, caller: &Caller, body: Incoming) -> ApiResult {
    let text = read_text(services, body, "the server").await?;
    match ServerChange::add(&text) {
        Ok(change) => request(services, caller, ReloadRequest::Server(change)).await,
        Err(error) => answer(Err(ConfigRefusal::Config(error))),
    }
}

/// Removes a server with all its settings.
pub(super) async fn remove(services: &Services, caller: &Caller, name: &str) -> ApiResult {
    let change = ServerChange::Remove(name.to_owned());
    request(services, caller, ReloadRequest::Server(change)).await
}

/// Uses a server from now on.
pub(super) async fn enable(services: &Services, caller: &Caller, name: &str) -> ApiResult {
    let change = ServerChange::Enable(name.to_owned());
    request(services, caller, ReloadRequest::Server(change)).await
}

/// Keeps a server in the file and uses it no more.
pub(super) async fn disable(services: &Services, caller: &Caller, name: &str) -> ApiResult {
    let change = ServerChange::Disable(name.to_owned());
    request(services, caller, ReloadRequest::Server(change)).await
}

/// Starts a server anew.
pub(super) async fn restart(services: &Services, caller: &Caller, name: &str) -> ApiResult {
    request(services, caller, ReloadRequest::Restart(name.to_owned())).await
}

async fn request(services: &Services, caller: &Caller, request: ReloadRequest) -> ApiResult {
    let by = Some(caller.name.to_string());
    answer(services.reloads.request_by(request, by).await)
}
