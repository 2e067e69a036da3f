//! Where a gateway listens: addresses of the network, and Unix sockets. Each is a string; the file may have one or an array.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use countersign_tape::Kind;
use serde::ser::{Serialize, Serializer};

use super::problem::Problem;
use super::reader::Reader;
use super::setting::plain;

/// How the path of a Unix socket begins.
const UNIX: &str = "unix:";

/// One place to listen at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListenAddress {
    /// An address and port.
    Tcp(SocketAddr),
    /// The path of a Unix socket. A relative one is within the data directory.
    Unix(PathBuf),
}

/// All places to listen at; at least one, and none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen(Vec<ListenAddress>);

impl ListenAddress {
    /// The address and port, if it is one.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// The same, with the path of a socket that begins at the data directory.
    #[must_use]
    pub fn within(&self, data_dir: &Path) -> Self {
        match self {
            Self::Tcp(address) => Self::Tcp(*address),
            Self::Unix(path) => Self::Unix(data_dir.join(path)),
        }
    }
}

impl Listen {
    /// These places; nothing if there is none, or one is there twice.
    pub fn new(addresses: Vec<ListenAddress>) -> Option<Self> {
        let distinct: BTreeSet<_> = addresses.iter().collect();
        let is_usable = !addresses.is_empty() && distinct.len() == addresses.len();
        is_usable.then_some(Self(addresses))
    }

    /// Each place, in the order of the file.
    pub fn addresses(&self) -> &[ListenAddress] {
        &self.0
    }

    /// The addresses that can be reached over the network, this machine's own included.
    pub fn tcp(&self) -> impl Iterator<Item = SocketAddr> {
        self.0.iter().filter_map(ListenAddress::tcp)
    }

    /// The first address that other machines can reach.
    pub fn exposed(&self) -> Option<SocketAddr> {
        self.tcp().find(|address| !address.ip().is_loopback())
    }

    /// Places with commas between them, as `COUNTERSIGN_LISTEN` has them.
    pub fn parse_list(text: &str) -> Result<Self, Problem> {
        let addresses = text.split(',').map(|address| parse_listen(address.trim()));
        Self::new(addresses.collect::<Result<_, _>>()?).ok_or_else(twice)
    }
}

impl From<ListenAddress> for Listen {
    fn from(address: ListenAddress) -> Self {
        Self(vec![address])
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        ListenAddress::Tcp(address).into()
    }
}

impl From<([u8; 4], u16)> for Listen {
    fn from(address: ([u8; 4], u16)) -> Self {
        SocketAddr::from(address).into()
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        parse_listen(text)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        self.0.iter().try_for_each(|address| {
            write!(f, "{separator}{address}")?;
            separator = ", ";
            Ok(())
        })
    }
}

/// One place is a string, as it was before there could be several.
impl Serialize for Listen {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            [one] => to.collect_str(one),
            several => to.collect_seq(several.iter().map(ToString::to_string)),
        }
    }
}

plain! {
    Listen: read_listen, Listen::clone;
}

fn read_listen(reader: &mut Reader<'_, '_>, node: u32) -> Option<Listen> {
    if reader.tape().node(node).kind() == Kind::String {
        let address = parse_listen(&reader.text(node));
        return reader.usable(node, address).map(Listen::from);
    }
    let nodes: Vec<_> = reader.tape().children(node).collect();
    if nodes.is_empty() {
        let hint = "leave out the key for 127.0.0.1:8080, or name an address";
        reader.refuse(node, "the gateway has to listen somewhere", hint);
        return None;
    }
    let read = nodes.into_iter().map(|node| {
        let address = parse_listen(&reader.text(node));
        reader.usable(node, address)
    });
    // Every mistake is told, not only the first.
    let read: Vec<_> = read.collect();
    let addresses = read.into_iter().collect::<Option<_>>()?;
    reader.usable(node, Listen::new(addresses).ok_or_else(twice))
}

fn twice() -> Problem {
    Problem::new("an address is there twice", "remove one of the two")
}

/// A place to listen at, as `listen` in the file, `COUNTERSIGN_LISTEN` and `--listen` are read. As in Go, a port alone means
/// every interface, which is IPv4 here, and `localhost` is a name.
pub fn parse_listen(text: &str) -> Result<ListenAddress, Problem> {
    if let Some(path) = text.strip_prefix(UNIX) {
        return parse_socket(path);
    }
    let port = |text: &str| text.strip_prefix(':')?.parse::<u16>().ok();
    if let Some(port) = port(text) {
        return Ok(ListenAddress::Tcp((Ipv4Addr::UNSPECIFIED, port).into()));
    }
    if let Some(port) = text.strip_prefix("localhost").and_then(port) {
        return Ok(ListenAddress::Tcp((Ipv4Addr::LOCALHOST, port).into()));
    }
    text.parse().map(ListenAddress::Tcp).map_err(|_| {
        let port = text.rsplit(':').next().and_then(|port| port.parse().ok());
        let port: u16 = port.unwrap_or(8080);
        Problem::new("not an address and port", format!("write \"127.0.0.1:{port}\" for this machine only, or \"0.0.0.0:{port}\" for every interface"))
    })
}

fn parse_socket(path: &str) -> Result<ListenAddress, Problem> {
    let hint = "write \"unix:gateway.sock\" for a socket in the data directory, or \"unix:/run/countersign/gateway.sock\"";
    if path.is_empty() || path.starts_with('~') || path.contains('\0') || path.ends_with('/') {
        return Err(Problem::new("not the path of a Unix socket", hint));
    }
    Ok(ListenAddress::Unix(PathBuf::from(path)))
}
