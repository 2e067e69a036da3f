//! Where requests may go. Addresses come from documents that servers write, so they could point into the operator's
//! network. The rule is checked for the addresses that a name resolves to, on every connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::Uri;

use crate::connection::AddressFilter;
use crate::origin::Origin;

/// Where requests may go: public addresses over https always, loopback and private ones if allowed, link-local ones and
/// metadata services of clouds never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    allows_private: bool,
}

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Public,
    /// Loopback, or an address of a private network.
    Private,
    /// Link-local, multicast, unspecified or reserved.
    Never,
}

impl Reach {
    /// Public addresses only.
    pub const PUBLIC: Self = Self {
        allows_private: false,
    };
    /// Loopback and private addresses too.
    pub const PRIVATE: Self = Self {
        allows_private: true,
    };

    /// The reach for what a configured URL leads to: a URL that names a loopback or private address, or `localhost`, allows
    /// such addresses.
    pub fn from_url(url: &str, allow_private: bool) -> Self {
        let uri: Option<Uri> = url.parse().ok();
        let origin = uri.as_ref().and_then(Origin::from_uri);
        let names_private = origin.is_some_and(|origin| match origin.host.parse() {
            Ok(address) => place(address) == Place::Private,
            Err(_) => origin.host.eq_ignore_ascii_case("localhost"),
        });
        Self {
            allows_private: allow_private || names_private,
        }
    }

    /// Whether requests over this scheme may be made at all. Plain http is for loopback and private addresses.
    pub fn allows_scheme(self, tls: bool) -> bool {
        tls || self.allows_private
    }

    /// Says for each resolved address whether it may be connected to.
    pub fn filter(self, tls: bool) -> AddressFilter {
        match (self.allows_private, tls) {
            (false, _) => |address| place(address) == Place::Public,
            (true, true) => |address| place(address) != Place::Never,
            (true, false) => |address| place(address) == Place::Private,
        }
    }
}

fn place(address: IpAddr) -> Place {
    match address {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => place_v4(inner),
            None => place_v6(address),
        },
    }
}

fn place_v4(address: Ipv4Addr) -> Place {
    // The metadata service of Alibaba Cloud is in the shared range of carriers.
    const METADATA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
    let [first, second, third, _] = address.octets();
    let is_never = address.is_link_local() || first == 0 || first >= 224 || address == METADATA;
    // Shared by carriers (RFC 6598), for protocols (RFC 6890), for benchmarks (RFC 2544).
    let is_special = (first == 100 && second & 0xc0 == 64)
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && second & 0xfe == 18);
    if is_never {
        Place::Never
    } else if address.is_loopback() || address.is_private() || is_special {
        Place::Private
    } else {
        Place::Public
    }
}

fn place_v6(address: Ipv6Addr) -> Place {
    // The metadata service of AWS is in the range of private networks.
    const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    let first = address.segments()[0];
    if address.is_loopback() {
        Place::Private
    } else if address.is_unicast_link_local()
        || address.is_multicast()
        || address.is_unspecified()
        || address == METADATA
    {
        Place::Never
    } else if address.is_unique_local() || first & 0xffc0 == 0xfec0 {
        Place::Private
    } else if first & 0xe000 == 0x2000 && !is_teredo(address) {
        Place::Public
    } else {
        // Outside the range of global addresses.
        Place::Never
    }
}

/// Teredo hides an IPv4 address in an obscured form.
fn is_teredo(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0x2001, 0, ..])
}

/// The IPv4 address that is meant by a mapped, compatible, NAT64 (RFC 6052) or 6to4 address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(join(high, low))
        }
        // `::` and `::1` have meanings of their own.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        for (text, expected) in [
            ("1.1.1.1", Place::Public),
            ("2606:4700::1111", Place::Public),
            ("64:ff9b::1.1.1.1", Place::Public),
            ("127.0.0.1", Place::Private),
            ("127.9.9.9", Place::Private),
            ("::1", Place::Private),
            ("10.0.0.1", Place::Private),
            ("172.16.0.1", Place::Private),
            ("192.168.1.1", Place::Private),
            ("100.64.0.1", Place::Private),
            ("198.19.0.1", Place::Private),
            ("fd00::1", Place::Private),
            ("::ffff:127.0.0.1", Place::Private),
            ("::ffff:10.0.0.1", Place::Private),
            ("64:ff9b::10.0.0.1", Place::Private),
            ("2002:0a00:0001::", Place::Private),
            ("169.254.169.254", Place::Never),
            ("::ffff:169.254.169.254", Place::Never),
            ("::169.254.169.254", Place::Never),
            ("64:ff9b::169.254.169.254", Place::Never),
            ("2002:a9fe:a9fe::", Place::Never),
            ("2001:0:a9fe:a9fe::", Place::Never),
            ("fe80::1", Place::Never),
            ("fd00:ec2::254", Place::Never),
            ("100.100.100.200", Place::Never),
            ("0.0.0.0", Place::Never),
            ("::", Place::Never),
            ("224.0.0.1", Place::Never),
            ("255.255.255.255", Place::Never),
            ("ff02::1", Place::Never),
        ] {
            let address = text.parse().expect("an address");
            assert_eq!(place(address), expected, "{text}");
        }
    }

    #[test]
    fn a_configured_local_url_allows_local_addresses() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/mcp", true),
            ("http://localhost:8080/mcp", true),
            ("https://[::1]/mcp", true),
            ("https://10.1.2.3/mcp", true),
            ("https://tools.example.com/mcp", false),
            ("https://1.1.1.1/mcp", false),
            ("http://169.254.169.254/", false),
            ("not a URL", false),
        ] {
            assert_eq!(
                Reach::from_url(url, false).allows_private,
                expected,
                "{url}"
            );
            assert!(Reach::from_url(url, true).allows_private);
        }
    }

    #[test]
    fn link_local_addresses_are_never_connected_to() {
        let metadata = IpAddr::from([169, 254, 169, 254]);
        for reach in [Reach::PUBLIC, Reach::PRIVATE] {
            assert!(
                [true, false]
                    .iter()
                    .all(|tls| !reach.filter(*tls)(metadata))
            );
        }
        // Plain http stays inside the private network, even where both are allowed.
        assert!(!Reach::PRIVATE.filter(false)(IpAddr::from([1, 1, 1, 1])));
        assert!(!Reach::PUBLIC.allows_scheme(false));
    }
}
