//! Addresses of metadata documents, and how addresses relate to each other.

use countersign_dial::Origin;
use hyper::Uri;

/// An address with a well-known name between host and path (RFC 8414 section 3.1, RFC 9728 section 3.1). Without a path,
/// it is the address at the root of the host.
pub(crate) fn with_well_known(url: &str, name: &str, keeps_path: bool) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let path = match uri.path() {
        path if keeps_path => path.strip_suffix('/').unwrap_or(path),
        _ => "",
    };
    Some(format!("{scheme}://{authority}/.well-known/{name}{path}"))
}

/// Whether a resource is at the address or above it: the same origin, and a path that the address's path continues.
pub(crate) fn is_covered_by(url: &str, resource: &str) -> bool {
    let parse = |text: &str| {
        let uri: Uri = text.parse().ok()?;
        let origin = Origin::from_uri(&uri)?;
        // A path with dot segments could mean a path above itself.
        let has_dots = uri
            .path()
            .split('/')
            .any(|part| part == ".." || part == ".");
        (!has_dots && !text.contains('#')).then(|| (origin, uri.path().to_owned()))
    };
    let (Some((origin, path)), Some((resource_origin, resource_path))) =
        (parse(url), parse(resource))
    else {
        return false;
    };
    let same_host = origin.host.eq_ignore_ascii_case(&resource_origin.host);
    let same_origin =
        same_host && origin.port == resource_origin.port && origin.tls == resource_origin.tls;
    let above = resource_path.strip_suffix('/').unwrap_or(&resource_path);
    let rest = path.strip_prefix(above);
    same_origin && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_well_known_name_stands_before_the_path() {
        for (url, keeps_path, expected) in [
            ("https://a.example", true, "https://a.example/.well-known/x"),
            (
                "https://a.example/",
                true,
                "https://a.example/.well-known/x",
            ),
            (
                "https://a.example:8/t/1/",
                true,
                "https://a.example:8/.well-known/x/t/1",
            ),
            (
                "https://a.example/t",
                false,
                "https://a.example/.well-known/x",
            ),
        ] {
            let found = with_well_known(url, "x", keeps_path);
            assert_eq!(found.as_deref(), Some(expected), "{url}");
        }
        assert_eq!(with_well_known("/path", "x", true), None);
    }

    #[test]
    fn a_resource_covers_what_is_below_it() {
        let url = "https://a.example/mcp/s/x";
        for (resource, expected) in [
            ("https://a.example/mcp/s/x", true),
            ("https://A.example/mcp", true),
            ("https://a.example", true),
            ("https://a.example:443/", true),
            ("https://a.example/mc", false),
            ("https://a.example/mcp/s/x/y", false),
            ("https://a.example:8443/mcp", false),
            ("http://a.example/mcp", false),
            ("https://b.example/mcp", false),
            ("https://a.example.b.example/mcp", false),
            ("https://a.example/mcp/../mcp", false),
            ("mcp", false),
        ] {
            assert_eq!(is_covered_by(url, resource), expected, "{resource}");
        }
    }
}
