//! How a command reaches a gateway: by plain HTTP, by TLS, or by a Unix socket.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use countersign_config::{Config, ListenAddress};

const HTTPS: &str = "https://";
const UNIX: &str = "unix:";
const CONNECT: Duration = Duration::from_secs(2);

/// Where a gateway can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GatewayAddress {
    Http(SocketAddr),
    Https(SocketAddr),
    Unix(PathBuf),
}

impl GatewayAddress {
    /// The best way to a gateway that listens in these places; nothing if there is none. A Unix socket comes first: it needs
    /// no certificate on either side.
    pub(crate) fn choose(places: &[ListenAddress], tls: bool) -> Option<Self> {
        let socket = places.iter().find_map(|place| match place {
            ListenAddress::Unix(path) => Some(Self::Unix(path.clone())),
            ListenAddress::Tcp(_) => None,
        });
        let by_network = || {
            let address = places.iter().find_map(ListenAddress::tcp).map(reachable);
            address.map(if tls { Self::Https } else { Self::Http })
        };
        socket.or_else(by_network)
    }

    /// Where a gateway with this configuration would be asked.
    pub(crate) fn from_config(config: &Config) -> Option<Self> {
        let places = config.listen.addresses().iter();
        let places: Vec<_> = places.map(|place| place.within(&config.data_dir)).collect();
        Self::choose(&places, config.tls.is_enabled())
    }

    /// Whether a process accepts connections there.
    pub(crate) fn answers(&self) -> bool {
        match self {
            Self::Http(address) | Self::Https(address) => {
                TcpStream::connect_timeout(address, CONNECT).is_ok()
            }
            Self::Unix(path) => UnixStream::connect(path).is_ok(),
        }
    }

    /// The address as requests name it.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Http(address) => format!("http://{address}/"),
            Self::Https(address) => format!("{HTTPS}{address}/"),
            Self::Unix(_) => "http://localhost/".to_owned(),
        }
    }
}

impl fmt::Display for GatewayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(address) => address.fmt(f),
            Self::Https(address) => write!(f, "{HTTPS}{address}"),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for GatewayAddress {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix(UNIX) {
            return Ok(Self::Unix(path.into()));
        }
        match text.strip_prefix(HTTPS) {
            Some(address) => address.parse().map(Self::Https),
            None => text.parse().map(Self::Http),
        }
    }
}

/// An address to connect to, for one to listen on.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_address_is_reached_by_loopback() {
        let reach = |text: &str| reachable(text.parse().expect("an address")).to_string();
        assert_eq!(reach("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(reach("[::]:80"), "[::1]:80");
        assert_eq!(reach("10.0.0.1:80"), "10.0.0.1:80");
    }

    #[test]
    fn a_socket_is_asked_before_an_address_and_each_is_read_as_it_is_written() {
        let places: Vec<ListenAddress> = ["0.0.0.0:80", "unix:/a.sock"]
            .iter()
            .map(|text| text.parse().expect("a place"))
            .collect();
        for (places, tls, expected) in [
            (&places[..], true, "unix:/a.sock"),
            (&places[..1], true, "https://127.0.0.1:80"),
            (&places[..1], false, "127.0.0.1:80"),
        ] {
            let chosen = GatewayAddress::choose(places, tls).expect("a way");
            assert_eq!(chosen.to_string(), expected);
            assert_eq!(expected.parse(), Ok(chosen));
        }
    }
}
