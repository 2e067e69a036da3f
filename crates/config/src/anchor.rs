//! `Anchor`: a place outside the store where signed log heads are published. One string of the file each.

use std::path::PathBuf;

use countersign_audit::VerifierKey;

use super::mask::shown_url;
use super::problem::Problem;
use super::reader::Reader;
use super::rules;
use super::secret::Secret;

const HINT: &str =
    "write \"file:PATH\", \"stdout\", \"post:URL\", \"put:URL\" or \"witness:NAME+HASH+KEY URL\"";

/// Where signed log heads are published.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// The place.
    pub target: AnchorTarget,
    /// As the file has it.
    text: Secret,
}

/// A place for signed log heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnchorTarget {
    /// Standard output.
    Stdout,
    /// A file that each is appended to.
    File(PathBuf),
    /// An address that each is sent to with POST. `{size}` stands for the size of the log.
    Post(String),
    /// An address that each is stored at with PUT. `{size}` stands for the size of the log.
    Put(String),
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
    fn parse(text: Secret) -> Result<Self, Problem> {
        let target = match text.expose().split_once(':') {
            None if text.expose() == "stdout" => AnchorTarget::Stdout,
            Some(("file", path)) if !path.is_empty() => AnchorTarget::File(PathBuf::from(path)),
            Some(("post", url)) => AnchorTarget::Post(checked(url)?),
            Some(("put", url)) => AnchorTarget::Put(checked(url)?),
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
            let anchor = Anchor::parse(text);
            anchors.extend(reader.usable(element, anchor));
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let anchor = Anchor::parse(Secret::new(text));
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
