//! Signature Version 4 of AWS, which object stores of other vendors understand as well, for one kind of request: one with
//! a body in memory and a handful of headers. Nothing is streamed, no query is signed, and keys are given, never looked
//! for. That much is two pages, held to the published examples; the ready-made signer brings some seventy crates into the
//! tree.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

/// What S3 is called. It wants the digest of the body in a header, and its paths are signed as they are sent.
const S3: &str = "s3";

/// The keys that requests are signed with, and the service they are for.
#[derive(Clone)]
pub struct Signer {
    /// The id of the key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: String,
    /// What temporary keys come with.
    pub session_token: Option<String>,
    /// The region of the service.
    pub region: String,
    /// The name of the service: `bedrock`, or `s3` for an object store of any vendor.
    pub service: &'static str,
}

/// A request that is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct Unsigned<'a> {
    /// The method.
    pub method: &'a str,
    /// The path as it is sent: made of parts that [`encode_segment`] gives, and without a query.
    pub path: &'a str,
    /// The `Host` header.
    pub host: &'a str,
    /// Further headers to sign, with names in lower case. The caller sends them.
    pub headers: &'a [(&'static str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

/// Shows no key.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({} in {})", self.service, self.region)
    }
}

impl Signer {
    /// The headers that sign a request now; they are to be sent with it.
    ///
    /// # Errors
    /// If a key has characters that a header cannot have.
    pub fn sign(&self, request: &Unsigned<'_>) -> Result<HeaderMap, InvalidHeaderValue> {
        self.sign_at(request, Timestamp::now())
    }

    fn sign_at(
        &self,
        request: &Unsigned<'_>,
        moment: Timestamp,
    ) -> Result<HeaderMap, InvalidHeaderValue> {
        let (time, digest) = (amz_date(moment), hex_digest(request.body));
        let mut added = vec![("x-amz-date", time.as_str())];
        if self.service == S3 {
            added.push(("x-amz-content-sha256", &digest));
        }
        if let Some(token) = &self.session_token {
            added.push(("x-amz-security-token", token));
        }
        let mut signed = added.clone();
        signed.push(("host", request.host));
        signed.extend(request.headers);
        signed.sort_unstable();
        let authorization = self.authorization(request, &signed, &time, &digest);
        added.push(("authorization", &authorization));
        let mut headers = HeaderMap::new();
        for (name, value) in added {
            let mut value = HeaderValue::from_str(value)?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    /// The `Authorization` of a request. `headers` are those to sign, in the order of their names.
    fn authorization(
        &self,
        request: &Unsigned<'_>,
        headers: &[(&str, &str)],
        time: &str,
        body_digest: &str,
    ) -> String {
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let path = canonical_path(self.service, request.path);
        let mut canonical = format!("{}\n{path}\n\n", request.method);
        for (name, value) in headers {
            canonical.extend([name, ":", value.trim(), "\n"]);
        }
        canonical.extend(["\n", &names, "\n", body_digest]);
        let date = date(time);
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let digest = hex_digest(canonical.as_bytes());
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let signature = Hex(mac(&self.key(date), text.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            self.access_key_id
        )
    }

    fn key(&self, date: &str) -> [u8; 32] {
        let secret = format!("AWS4{}", self.secret_access_key);
        let first = mac(secret.as_bytes(), date.as_bytes());
        let parts = [self.region.as_str(), self.service, "aws4_request"];
        let next = |key: [u8; 32], part: &str| mac(&key, part.as_bytes());
        parts.into_iter().fold(first, next)
    }
}

/// A moment as AWS writes it: `20150830T123600Z`.
fn amz_date(moment: Timestamp) -> String {
    moment.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The day of a moment that AWS wrote.
fn date(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

/// What is encoded in a part of a path: everything but letters, digits and `- . _ ~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A part of a path, with `%XX` for what AWS wants encoded.
pub fn encode_segment(segment: &str) -> String {
    utf8_percent_encode(segment, ENCODED).to_string()
}

/// The path as it is signed. A path that is sent encoded is signed encoded once more, slashes excepted, but not for S3.
fn canonical_path(service: &str, path: &str) -> String {
    if service == S3 {
        return path.to_owned();
    }
    let segments: Vec<String> = path.split('/').map(encode_segment).collect();
    segments.join("/")
}

struct Hex([u8; 32]);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn hex_digest(bytes: &[u8]) -> String {
    Hex(Sha256::digest(bytes).into()).to_string()
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
            secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: None,
            region: "us-east-1".into(),
            service,
        }
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    #[test]
    fn moments_are_written_as_aws_does() {
        for (moment, text) in [
            (1_440_938_160, "20150830T123600Z"),
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (4_107_542_399, "21000228T235959Z"),
        ] {
            assert_eq!(amz_date(second(moment)), text);
        }
    }

    /// The example of key derivation in the documentation of AWS.
    #[test]
    fn the_published_key_is_derived() {
        let key = Hex(signer("iam").key("20150830")).to_string();
        assert_eq!(
            key,
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
        );
    }

    /// `post-vanilla` of the test suite AWS publishes.
    #[test]
    fn the_published_request_is_signed() {
        let request = Unsigned {
            method: "POST",
            path: "/",
            host: "example.amazonaws.com",
            headers: &[],
            body: b"",
        };
        let signer = signer("service");
        let headers = signer.sign_at(&request, second(1_440_938_160));
        let headers = headers.expect("plain characters");
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }

    /// `PUT Object` of the examples in the documentation of Amazon S3.
    #[test]
    fn the_published_object_is_signed() {
        let signer = Signer {
            access_key_id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            ..signer("s3")
        };
        let path = format!("/{}", encode_segment("test$file.text"));
        let request = Unsigned {
            method: "PUT",
            path: &path,
            host: "examplebucket.s3.amazonaws.com",
            headers: &[
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ],
            body: b"Welcome to Amazon S3.",
        };
        let headers = signer.sign_at(&request, second(1_369_353_600));
        let headers = headers.expect("plain characters");
        assert_eq!(
            headers["x-amz-content-sha256"],
            "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
        );
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, \
             Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
        assert!(!format!("{signer:?} {headers:?}").contains("AKIAIOSFODNN7EXAMPLE"));
    }

    #[test]
    fn a_path_is_encoded_once_more_but_not_for_s3() {
        assert_eq!(encode_segment("arn:aws/x"), "arn%3Aaws%2Fx");
        let path = "/a/arn%3Aaws/b";
        assert_eq!(canonical_path("bedrock", path), "/a/arn%253Aaws/b");
        assert_eq!(canonical_path("s3", path), path);
    }

    #[test]
    fn keys_that_no_header_can_have_are_refused() {
        let mut signer = signer("s3");
        signer.session_token = Some("two\nlines".into());
        let request = Unsigned {
            method: "PUT",
            path: "/",
            host: "a.example",
            headers: &[],
            body: b"",
        };
        assert!(signer.sign(&request).is_err());
    }
}
