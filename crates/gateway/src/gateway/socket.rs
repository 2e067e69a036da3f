//! The sockets that a gateway listens on: TCP with or without TLS, and Unix sockets. All of them are open before anything
//! else starts.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use countersign_config::ListenAddress;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use super::BACKLOG;
#[cfg(target_os = "linux")]
use super::connect_filter;
use super::tls::Tls;
use super::unix_socket::{self, SocketFile};

/// A socket that accepts connections.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpListener, Option<Arc<Tls>>),
    Unix(
        UnixListener,
        #[expect(dead_code, reason = "removes the socket when it is dropped")] SocketFile,
    ),
}

/// A connection that was accepted.
#[derive(Debug)]
pub(super) enum Accepted {
    Plain(TcpStream),
    Encrypted(TcpStream, Arc<Tls>),
    Unix(UnixStream),
}

impl Socket {
    /// Listens at an address, with TLS if it is one of the network. Returns where that is: port 0 is any that is free.
    pub(super) async fn open(
        address: &ListenAddress,
        tls: Option<&Arc<Tls>>,
    ) -> io::Result<(Self, ListenAddress)> {
        match address {
            ListenAddress::Tcp(address) => {
                let listener = open_tcp(*address)?;
                let bound = ListenAddress::Tcp(listener.local_addr()?);
                Ok((Self::Tcp(listener, tls.cloned()), bound))
            }
            ListenAddress::Unix(path) => {
                let (listener, file) = unix_socket::open(path).await?;
                Ok((Self::Unix(listener, file), address.clone()))
            }
        }
    }

    /// The next connection.
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener, tls) => {
                let (stream, _) = listener.accept().await?;
                // Without it small replies may wait for an acknowledgement; the connection works all the same.
                drop(stream.set_nodelay(true));
                Ok(match tls {
                    Some(tls) => Accepted::Encrypted(stream, Arc::clone(tls)),
                    None => Accepted::Plain(stream),
                })
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok(Accepted::Unix(stream))
            }
        }
    }

    /// Lets no further client connect, where the system can do that, while connections that clients already have can still
    /// be accepted. Closing the socket instead would reset those, and a proxy cannot know whether the gateway has carried
    /// out a request that was reset.
    pub(super) fn stop_connecting(&self) {
        #[cfg(target_os = "linux")]
        if let Self::Tcp(listener, _) = self
            && let Err(error) = connect_filter::attach(listener)
        {
            tracing::debug!(%error, "connections may be reset while the socket closes");
        }
    }
}

fn open_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows this option would let two programs listen on one port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn the_last_clients_are_accepted_and_later_ones_refused() {
        let anywhere = ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let (socket, bound) = Socket::open(&anywhere, None).await.expect("a socket");
        let address = bound.tcp().expect("an address of the network");
        let _early = TcpStream::connect(address).await.expect("a connection");
        socket.stop_connecting();
        let mut late = std::pin::pin!(TcpStream::connect(address));
        // Without the filter the kernel connects it at once.
        let connected = timeout(Duration::from_millis(50), late.as_mut()).await;
        assert!(connected.is_err(), "{connected:?}");
        assert!(matches!(socket.accept().await, Ok(Accepted::Plain(_))));
        drop(socket);
        let refused = late.await.expect_err("no connection");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
