//! `Anchor`: a place outside the store where signed log heads are published. One string of the file each.

mod object_store;

use std::path::PathBuf;

use countersign_audit::VerifierKey;

pub use object_store::ObjectStore;

use super::environment::Environment;
use super::mask::shown_url;
use super::problem::Problem;
use super::reader::Reader;
use super::rules;
use super::secret::Secret;

const HINT: &str = "write \"file:PATH\", \"stdout\", \"post:URL\", \"put:URL\", \"s3:REGION URL\" or \"witness:NAME+HASH+KEY URL\"";

/// Where signed log heads are published.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// The place.
    pub target: AnchorTarget,
    /// As the file has it.
    text: Secret,
}

/// A place for signed log heads.
#[derive(Clone, Debug)]
pub enum AnchorTarget {
    /// Standard output.
    Stdout,
    /// A file that each is appended to.
    File(PathBuf),
    /// An address that each is sent to with POST. `{size}` stands for the size of the log.
    Post(String),
    /// An address that each is stored at with PUT. `{size}` stands for the size of the log.
    Put(String),
    /// A bucket that each is stored in with a signed PUT.
    ObjectStore(Box<ObjectStore>),
    /// A witness, which checks that the log only grew, and signs.
    Witness {
        /// The submission prefix of the witness.
        url: String,
        /// Its key.
        key: Box<VerifierKey>,
    },
}

impl Anchor {
    /// An anchor as the file writes it.
    fn parse(text: Secret, environment: &Environment<'_>) -> Result<Self, Problem> {
        let target = match text.expose().split_once(':') {
            None if text.expose() == "stdout" => AnchorTarget::Stdout,
            Some(("file", path)) if !path.is_empty() => AnchorTarget::File(PathBuf::from(path)),
            Some(("post", url)) => AnchorTarget::Post(checked(url)?),
            Some(("put", url)) => AnchorTarget::Put(checked(url)?),
            Some(("s3", rest)) => {
                AnchorTarget::ObjectStore(Box::new(ObjectStore::parse(rest, environment)?))
            }
            Some(("witness", rest)) => parse_witness(rest)?,
            _ => return Err(Problem::new("not a place for log heads", HINT)),
        };
        Ok(Self { target, text })
    }

    /// Without what may be secret.
    pub fn shown(&self) -> String {
        match &self.target {
            AnchorTarget::Stdout => "stdout".to_owned(),
            AnchorTarget::File(path) => format!("file:{}", path.display()),
            AnchorTarget::Post(url) => format!("post:{}", shown_url(url)),
            AnchorTarget::Put(url) => format!("put:{}", shown_url(url)),
            AnchorTarget::ObjectStore(store) => {
                format!("s3:{} [redacted] {}", store.region, shown_url(&store.url))
            }
            AnchorTarget::Witness { url, key } => format!("witness:{key} {}", shown_url(url)),
        }
    }
}

/// Both sides come from the operator.
impl PartialEq for Anchor {
    fn eq(&self, other: &Self) -> bool {
        self.text.expose() == other.text.expose()
    }
}

fn parse_witness(text: &str) -> Result<AnchorTarget, Problem> {
    let parts = text.split_once(' ');
    let (key, url) =
        parts.ok_or_else(|| Problem::new("a witness has a key and an address", HINT))?;
    let key: VerifierKey = key
        .parse()
        .map_err(|_| Problem::new("not the key of a witness", HINT))?;
    if !key.is_witness() {
        return Err(Problem::new(
            "the key is that of a log, not of a witness",
            HINT,
        ));
    }
    let url = checked(url)?.trim_end_matches('/').to_owned();
    let key = Box::new(key);
    Ok(AnchorTarget::Witness { url, key })
}

fn checked(url: &str) -> Result<String, Problem> {
    rules::check_url(&url.replace("{size}", "1"))?;
    Ok(url.to_owned())
}

pub(crate) fn read_anchors(reader: &mut Reader<'_, '_>, node: u32) -> Vec<Anchor> {
    let elements: Vec<u32> = reader.tape().children(node).collect();
    let mut anchors = Vec::with_capacity(elements.len());
    for element in elements {
        if let Some(text) = reader.secret(element) {
            let anchor = Anchor::parse(text, reader.environment);
            anchors.extend(reader.usable(element, anchor));
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_store_has_the_keys_of_the_file_or_of_the_environment() {
        let keys = |text: &str, environment: &Environment<'_>| {
            let anchor = Anchor::parse(Secret::new(text), environment).ok()?;
            assert!(!format!("{anchor:?}").contains("s3cret"), "{anchor:?}");
            let AnchorTarget::ObjectStore(store) = anchor.target else {
                return None;
            };
            let token = store.session_token.as_ref().map(Secret::expose);
            let key = store.secret_access_key.expose();
            Some(format!("{} {key} {token:?}", store.access_key_id))
        };
        let url = "https://a.example/b";
        let value = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("id".to_owned()),
            _ => Some(format!("s3cret-{name}")),
        };
        let all = Environment::new(value, None);
        let none = Environment::new(|_| None, None);
        let given = keys(&format!("s3:auto id s3cret t {url}"), &none);
        assert_eq!(given.as_deref(), Some("id s3cret Some(\"t\")"));
        let found = keys(&format!("s3:auto {url}"), &all).expect("keys");
        assert_eq!(
            found,
            "id s3cret-AWS_SECRET_ACCESS_KEY Some(\"s3cret-AWS_SESSION_TOKEN\")"
        );
        assert_eq!(keys(&format!("s3:auto {url}"), &none), None);
    }

    #[test]
    fn places_are_read_and_shown_without_secrets() {
        let witness = "witness.example/w+";
        for (text, shown) in [
            ("stdout", Ok("stdout")),
            ("file:/mnt/worm/heads", Ok("file:/mnt/worm/heads")),
            (
                "post:https://a.example/hook?token=s",
                Ok("post:https://a.example/hook?[redacted]"),
            ),
            (
                "put:https://a.example/b/{size}.note",
                Ok("put:https://a.example/b/{size}.note"),
            ),
            (
                "s3:eu-west-1 https://b.s3.eu-west-1.amazonaws.com/heads/{size}.note",
                Ok(
                    "s3:eu-west-1 [redacted] https://b.s3.eu-west-1.amazonaws.com/heads/{size}.note",
                ),
            ),
            (
                "s3:auto AKID s/e+c http://127.0.0.1:9000/b/{size}",
                Ok("s3:auto [redacted] http://127.0.0.1:9000/b/{size}"),
            ),
            ("s3:auto", Err("an object store has a region")),
            ("s3:Auto https://a.example/b", Err("not a region")),
            ("s3: https://a.example/b", Err("not a region")),
            (
                "s3:auto AKID https://a.example/b",
                Err("a key has an id and a secret"),
            ),
            (
                "s3:auto AKID  https://a.example/b",
                Err("an empty or unusable key"),
            ),
            (
                "s3:auto a b c d https://a.example/b",
                Err("a key has an id and a secret"),
            ),
            (
                "s3:auto https://a.example",
                Err("not the address of an object"),
            ),
            (
                "s3:auto https://a.example/b?x",
                Err("not the address of an object"),
            ),
            (
                "s3:auto https://a.example/%ff",
                Err("not the address of an object"),
            ),
            ("", Err("not a place for log heads")),
            ("file:", Err("not a place for log heads")),
            ("https://a.example", Err("not a place for log heads")),
            (
                "post:ftp://a.example",
                Err("not an http:// or https:// address"),
            ),
            (
                "witness:https://a.example",
                Err("a witness has a key and an address"),
            ),
            (
                &format!("witness:{witness} https://a.example"),
                Err("not the key of a witness"),
            ),
        ] {
            let environment = Environment::new(|name| Some(format!("value-of-{name}")), None);
            let anchor = Anchor::parse(Secret::new(text), &environment);
            match shown {
                Ok(shown) => assert_eq!(
                    anchor.map(|anchor| anchor.shown()).ok().as_deref(),
                    Some(shown)
                ),
                Err(why) => {
                    let problem = anchor.map(|anchor| anchor.shown()).expect_err(text);
                    assert!(format!("{problem:?}").contains(why), "{text}: {problem:?}");
                }
            }
        }
    }
}
