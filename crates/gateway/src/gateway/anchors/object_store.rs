//! Stores a head as an object of a bucket, with a request that is signed as Amazon S3 wants it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_config::ObjectStore;
use countersign_dial::Site;
use countersign_dial::sigv4::{Signer, Unsigned, encode_segment};
use countersign_inspect::Digest;
use hyper::Uri;
use percent_encoding::percent_decode_str;

use super::{Failure, http};

/// Stores the head at `url`.
pub(super) async fn put(store: &ObjectStore, url: &str, head: &str) -> Result<(), Failure> {
    let site = signed_site(store, url, head)?;
    let (status, _) = http::request("PUT", site, head.to_owned()).await?;
    http::succeeded(status)
}

/// The address with the headers that sign a PUT of the head.
fn signed_site(store: &ObjectStore, url: &str, head: &str) -> Result<Site, Failure> {
    let (scheme, host, path) = object_path(url)?;
    let digest = STANDARD.encode(Digest::sha256(head.as_bytes()).as_bytes());
    // Buckets with object lock take only objects with a digest.
    let headers = [
        http::TEXT,
        ("x-amz-checksum-sha256", &digest),
        ("x-amz-sdk-checksum-algorithm", "SHA256"),
    ];
    let signer = Signer {
        access_key_id: store.access_key_id.clone(),
        secret_access_key: store.secret_access_key.expose().to_owned(),
        session_token: store
            .session_token
            .as_ref()
            .map(|token| token.expose().to_owned()),
        region: store.region.clone(),
        service: "s3",
    };
    let signature = signer.sign(&Unsigned {
        method: "PUT",
        path: &path,
        host: &host,
        headers: &headers,
        body: head.as_bytes(),
    })?;
    let mut site = http::site(&format!("{scheme}://{host}{path}"), &headers)?;
    site.headers.extend(signature);
    Ok(site)
}

/// The scheme, the host with its port, and the path, each part of it encoded as it is signed.
fn object_path(url: &str) -> Result<(String, String, String), Failure> {
    let uri: Uri = url.parse()?;
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.authority()) else {
        return Err("not a complete address".into());
    };
    let mut segments = Vec::new();
    for segment in uri.path().split('/') {
        segments.push(encode_segment(&percent_decode_str(segment).decode_utf8()?));
    }
    Ok((scheme.to_owned(), host.to_string(), segments.join("/")))
}

#[cfg(test)]
mod tests {
    use super::object_path;

    #[test]
    fn paths_are_encoded_as_they_are_signed() {
        for (url, path) in [
            ("http://b.example:9000/a/7.note", "/a/7.note"),
            ("http://b.example/a+b/%7E%2f=%C3%A4", "/a%2Bb/~%2F%3D%C3%A4"),
        ] {
            assert_eq!(object_path(url).expect("an address").2, path);
        }
        assert!(object_path("http://b.example/%ff").is_err());
        assert!(object_path("/a").is_err());
    }
}
