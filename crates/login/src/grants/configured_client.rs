//! The client that the configuration of a server names: how the gateway proves who it is at the authorization server.

use std::io::Read;
use std::path::Path;

use countersign_config::{OAuth, SigningAlgorithm as Configured, TokenAuthMethod};
use countersign_oauth::{
    Client, ClientAuthentication, ClientKey, OAuthError, Secret, ServerMetadata, SigningAlgorithm,
};

/// No file with a key is larger.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// The client that the configuration names, if it does, at the authorization server of this metadata.
pub(super) async fn configured_client(
    oauth: &OAuth,
    metadata: &ServerMetadata,
) -> Result<Option<Client>, OAuthError> {
    let Some(id) = oauth.client_id.as_deref() else {
        return Ok(None);
    };
    if oauth.has_private_key() {
        return Ok(Some(Client::with_key(id, client_key(oauth).await?)));
    }
    let Some(secret) = &oauth.client_secret else {
        return Ok(Some(Client::public(id)));
    };
    let secret = Secret::new(secret.expose());
    let with = |authentication| Client {
        id: id.to_owned(),
        authentication,
    };
    Ok(Some(match oauth.token_endpoint_auth_method {
        TokenAuthMethod::Basic => with(ClientAuthentication::Basic(secret)),
        TokenAuthMethod::Post => with(ClientAuthentication::Post(secret)),
        // A secret cannot sign; the configuration refuses that.
        TokenAuthMethod::Auto | TokenAuthMethod::PrivateKeyJwt => {
            Client::with_secret(id, secret, metadata)
        }
    }))
}

/// The key, read anew: the file may have another one by now.
async fn client_key(oauth: &OAuth) -> Result<ClientKey, OAuthError> {
    let pem = match (&oauth.private_key, &oauth.private_key_file) {
        (Some(key), _) => key.expose().to_owned(),
        (None, Some(path)) => {
            let path = path.clone();
            let read = tokio::task::spawn_blocking(move || read(&path)).await;
            read.ok().flatten().ok_or(OAuthError::PrivateKey)?
        }
        (None, None) => return Err(OAuthError::PrivateKey),
    };
    let algorithm = match oauth.signing_algorithm {
        Configured::Auto => None,
        named => SigningAlgorithm::from_name(named.as_str()),
    };
    ClientKey::from_pem(&pem, algorithm, oauth.key_id.as_deref())
}

fn read(path: &Path) -> Option<String> {
    let read = || {
        let mut text = String::new();
        let mut file = std::fs::File::open(path)?.take(MAX_KEY_BYTES);
        file.read_to_string(&mut text).map(|_| text)
    };
    let read = read();
    let report = |error: &std::io::Error| {
        tracing::error!(file = %path.display(), %error, "the private key of a client cannot be read");
    };
    read.inspect_err(report).ok()
}
