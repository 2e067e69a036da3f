//! Signature Version 4 of AWS for one kind of request: a POST with a body in memory and a handful of headers. Nothing is
//! streamed, no query is signed, and keys are given, never looked for. That much is two pages, held to the published
//! examples; the ready-made signer brings some seventy crates into the tree.

use countersign_inspect::encode_hex;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::settings::Secret;

/// The keys that requests are signed with, and the service they are for.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: Secret,
    pub(crate) region: String,
    pub(crate) service: &'static str,
}

impl Signer {
    /// The `Authorization` of a POST. `path` is as it is sent; `headers` are those to sign, in lower case and in the
    /// order of their names, among them `host` and `x-amz-date`.
    pub(crate) fn authorization(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        stamp: &Stamp,
        body: &[u8],
    ) -> String {
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let mut canonical = format!("POST\n{}\n\n", encoded_path(path));
        for (name, value) in headers {
            canonical.extend([name, ":", value.trim(), "\n"]);
        }
        canonical.extend(["\n", &names, "\n", &encode_hex(&Sha256::digest(body))]);
        let Self {
            region, service, ..
        } = self;
        let scope = format!("{}/{region}/{service}/aws4_request", stamp.date());
        let digest = encode_hex(&Sha256::digest(canonical.as_bytes()));
        let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{digest}", stamp.as_str());
        let signature = encode_hex(&mac(&self.key(stamp), text.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            self.access_key_id
        )
    }

    fn key(&self, stamp: &Stamp) -> [u8; 32] {
        let secret = format!("AWS4{}", self.secret_access_key.expose());
        let parts = [stamp.date(), &self.region, self.service, "aws4_request"];
        let mut key = secret.into_bytes();
        let mut last = [0; 32];
        for part in parts {
            last = mac(&key, part.as_bytes());
            key = last.to_vec();
        }
        last
    }
}

/// A moment as AWS writes it: `20150830T123600Z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(String);

impl Stamp {
    pub(crate) fn now() -> Self {
        Self::new(Timestamp::now())
    }

    fn new(moment: Timestamp) -> Self {
        Self(moment.strftime("%Y%m%dT%H%M%SZ").to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn date(&self) -> &str {
        self.0.split('T').next().unwrap_or_default()
    }
}

/// What is encoded in a part of a path: everything but letters, digits and `- . _ ~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A part of a path, with `%XX` for what AWS wants encoded.
pub(crate) fn encoded(part: &str) -> String {
    utf8_percent_encode(part, ENCODED).to_string()
}

/// A path that is sent encoded is signed encoded once more, slashes excepted.
fn encoded_path(path: &str) -> String {
    let parts: Vec<String> = path.split('/').map(encoded).collect();
    parts.join("/")
}

fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac =
        <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(service: &'static str) -> Signer {
        Signer {
            access_key_id: "AKIDEXAMPLE".into(),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1".into(),
            service,
        }
    }

    fn stamp() -> Stamp {
        stamp_at(1_440_938_160)
    }

    fn stamp_at(second: i64) -> Stamp {
        Stamp::new(Timestamp::from_second(second).expect("in range"))
    }

    #[test]
    fn moments_are_written_as_aws_does() {
        assert_eq!(stamp().as_str(), "20150830T123600Z");
        assert_eq!(stamp_at(0).as_str(), "19700101T000000Z");
        assert_eq!(stamp_at(951_782_400).as_str(), "20000229T000000Z");
        assert_eq!(stamp_at(4_107_542_399).as_str(), "21000228T235959Z");
    }

    /// The example of key derivation in the documentation of AWS.
    #[test]
    fn the_published_key_is_derived() {
        let key = encode_hex(&signer("iam").key(&stamp()));
        assert_eq!(
            key,
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
        );
    }

    /// `post-vanilla` of the test suite AWS publishes.
    #[test]
    fn the_published_request_is_signed() {
        let headers = [
            ("host", "example.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
        ];
        let authorization = signer("service").authorization("/", &headers, &stamp(), b"");
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }

    #[test]
    fn a_path_is_encoded_once_more() {
        assert_eq!(encoded("arn:aws/x"), "arn%3Aaws%2Fx");
        assert_eq!(encoded_path("/a/arn%3Aaws/b"), "/a/arn%253Aaws/b");
    }
}
