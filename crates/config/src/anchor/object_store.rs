//! `ObjectStore`: a bucket with the interface of Amazon S3, which wants requests to be signed. Written as
//! `s3:REGION [KEY_ID SECRET_KEY [SESSION_TOKEN]] URL`; keys that are not given are those of the environment.

use percent_encoding::percent_decode_str;

use super::checked;
use crate::environment::Environment;
use crate::problem::Problem;
use crate::secret::Secret;

const HINT: &str = "write \"s3:REGION URL\" or \"s3:REGION ${env:KEY_ID} ${env:SECRET_KEY} URL\" with the URL of an object";

/// A bucket, and the keys that requests to it are signed with.
#[derive(Clone, Debug)]
pub struct ObjectStore {
    /// The address of an object. `{size}` stands for the size of the log.
    pub url: String,
    /// The region of the bucket.
    pub region: String,
    /// The id of the key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: Secret,
    /// What temporary keys come with.
    pub session_token: Option<Secret>,
}

impl ObjectStore {
    /// Reads what follows `s3:`.
    pub(super) fn parse(text: &str, environment: &Environment<'_>) -> Result<Self, Problem> {
        let words: Vec<&str> = text.split(' ').collect();
        let (region, keys, url) = match &*words {
            [region, keys @ .., url] => (*region, keys, *url),
            _ => {
                return Err(Problem::new(
                    "an object store has a region and an address",
                    HINT,
                ));
            }
        };
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if region.is_empty() || !region.bytes().all(is_plain) {
            return Err(Problem::new("not a region", HINT));
        }
        let url = object_url(url)?;
        let is_key = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic());
        if !keys.iter().all(is_key) {
            return Err(Problem::new("an empty or unusable key", HINT));
        }
        let (id, key, token) = match keys {
            [] => environment_keys(environment)?,
            [id, key, token @ ..] if token.len() <= 1 => {
                let token = token.first().map(|token| Secret::new(*token));
                ((*id).to_owned(), Secret::new(*key), token)
            }
            _ => return Err(Problem::new("a key has an id and a secret", HINT)),
        };
        Ok(Self {
            url,
            region: region.to_owned(),
            access_key_id: id,
            secret_access_key: key,
            session_token: token,
        })
    }
}

/// The address of one object: a path is needed, and a query would have to be signed.
fn object_url(url: &str) -> Result<String, Problem> {
    let url = checked(url)?;
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let (_, path) = rest.split_once('/').unwrap_or_default();
    let is_text = percent_decode_str(path).decode_utf8().is_ok();
    if path.is_empty() || path.contains('?') || rest.starts_with('?') || !is_text {
        let message = "not the address of an object: it needs a path and no query";
        return Err(Problem::new(message, HINT));
    }
    Ok(url)
}

fn environment_keys(
    environment: &Environment<'_>,
) -> Result<(String, Secret, Option<Secret>), Problem> {
    let variable = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let (id, key) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    let (Some(id), Some(key)) = (variable(id), variable(key)) else {
        let hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write \"s3:REGION ${env:KEY_ID} ${env:SECRET_KEY} URL\"";
        return Err(Problem::new("no key for the object store", hint));
    };
    let token = variable("AWS_SESSION_TOKEN").map(Secret::new);
    Ok((id, Secret::new(key), token))
}
