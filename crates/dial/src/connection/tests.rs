use rustix::net::sockopt::{socket_keepalive, tcp_keepcnt, tcp_keepidle, tcp_keepintvl};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::explain;
use crate::reach::Reach;

/// Made for these tests; they guard nothing.
const AUTHORITY: &[u8] = include_bytes!("ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("server.pem");
const KEY: &[u8] = include_bytes!("server.key.pem");

fn roots(trusted: &[&[u8]]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for pem in trusted {
        let certificate = CertificateDer::from_pem_slice(pem).expect("a certificate");
        roots.add(certificate).expect("a root");
    }
    trusting(roots)
}

/// A server over TLS that answers every connection with two letters; its port.
async fn serve(ip: &str) -> u16 {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a pair");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((ip, 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 1024];
            drop(stream.read(&mut request).await);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            drop(stream.write_all(answer).await);
        }
    });
    port
}

fn origin(host: &str, port: u16) -> Origin {
    let tls = true;
    let host = host.to_owned();
    Origin { tls, host, port }
}

#[tokio::test]
async fn a_server_with_a_certificate_we_trust_is_spoken_to() {
    let port = serve("127.0.0.1").await;
    for host in ["localhost", "127.0.0.1"] {
        let trust = || roots(&[AUTHORITY]);
        let mut connection = connect(&origin(host, port), |_| true, trust)
            .await
            .expect(host);
        let response = connection.send(Request::new(Full::default())).await;
        assert_eq!(response.expect("an answer").status(), 200);
    }
}

#[tokio::test]
async fn nobody_else_is_and_the_error_says_why() {
    for (ip, trusted, why) in [
        (
            "127.0.0.1",
            &[][..],
            "its certificate is not from an authority that is trusted here",
        ),
        (
            "127.0.0.2",
            &[AUTHORITY][..],
            "its certificate is for another name",
        ),
    ] {
        let port = serve(ip).await;
        let refused = connect(&origin(ip, port), |_| true, || roots(trusted)).await;
        let error = refused.expect_err(why);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{why}: {error}");
        let expected = format!("no TLS connection to {ip}:{port}: {why}");
        assert_eq!(explain(&error), expected);
    }
}

#[tokio::test]
async fn a_peer_that_is_gone_is_noticed_within_a_minute() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let stream = TcpStream::connect(address).await.expect("a connection");
    keep_alive(&stream).expect("options");
    assert_eq!(socket_keepalive(&stream), Ok(true));
    let after = tcp_keepidle(&stream).expect("a time");
    let every = tcp_keepintvl(&stream).expect("a time");
    let tries = tcp_keepcnt(&stream).expect("a number");
    assert_eq!(after + every * tries, Duration::from_mins(1));
}

#[tokio::test]
async fn the_step_and_the_host_are_named() {
    let plain = |host: &str, port| Origin {
        tls: false,
        ..origin(host, port)
    };
    let nowhere = dial(&plain("nothing.invalid", 80), |_| true, CONNECT, None).await;
    let said = explain(&nowhere.expect_err("no such name"));
    let start = "the name nothing.invalid cannot be resolved: ";
    assert!(
        said.starts_with(start) && said.len() > start.len(),
        "{said}"
    );
    let closed = dial(&plain("127.0.0.1", 1), |_| true, CONNECT, None).await;
    let said = explain(&closed.expect_err("a closed port"));
    assert!(
        said.starts_with("no TCP connection to 127.0.0.1:1: Connection refused"),
        "{said}"
    );
}

#[tokio::test]
async fn only_addresses_that_the_filter_lets_pass_are_connected_to() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("an option");
    let port = listener.local_addr().expect("an address").port();
    for host in ["127.0.0.1", "localhost"] {
        let here = Origin {
            tls: false,
            ..origin(host, port)
        };
        let refused = dial(&here, |address| !address.is_loopback(), CONNECT, None).await;
        let error = refused.expect_err(host);
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let expected = format!("the addresses of {host} may not be connected to");
        assert_eq!(explain(&error), expected);
        let nothing = listener.accept().expect_err("no connection");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        dial(&here, |address| address.is_ipv4(), CONNECT, None)
            .await
            .expect("a connection");
        listener.accept().expect("a connection");
    }
}

#[tokio::test]
async fn a_pinned_certificate_is_trusted_whatever_its_name_and_no_other_is() {
    let port = serve("127.0.0.2").await;
    let there = origin("127.0.0.2", port);
    let pinned = PinnedCertificate::from_pem(CERTIFICATE).expect("a certificate");
    let connection = dial(&there, |_| true, CONNECT, Some(&pinned)).await;
    let response = connection
        .expect("trusted")
        .send(Request::new(Full::default()))
        .await;
    assert_eq!(response.expect("an answer").status(), 200);
    let other = PinnedCertificate::from_pem(AUTHORITY).expect("a certificate");
    let refused = dial(&there, |_| true, CONNECT, Some(&other)).await;
    let said = explain(&refused.expect_err("another certificate"));
    assert!(
        said.ends_with("its certificate is not the one that is expected"),
        "{said}"
    );
    assert!(PinnedCertificate::from_pem(KEY).is_none());
}

/// A name whose resolver gives an allowed address first and another one later, as an attacker's name server can.
#[tokio::test]
async fn a_name_that_is_rebound_leads_nowhere_but_to_allowed_addresses() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let allowed = listener.local_addr().expect("an address");
    let inside = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    inside.set_nonblocking(true).expect("an option");
    let port = inside.local_addr().expect("an address").port();
    let origin = origin("rebound.example", 443);
    let connect = async |answer: &[SocketAddr], filter: AddressFilter| {
        let answer = answer.iter().copied();
        connect_to_allowed(&origin, async { Ok(answer) }, filter).await
    };
    let reach = Reach::PRIVATE.filter(false);
    connect(&[allowed], reach)
        .await
        .expect("an allowed address");
    let link_local: SocketAddr = ([169, 254, 169, 254], port).into();
    let mapped: SocketAddr = (
        "::ffff:169.254.169.254"
            .parse::<IpAddr>()
            .expect("an address"),
        port,
    )
        .into();
    for rebound in [link_local, mapped] {
        let refused = connect(&[rebound], reach).await.expect_err("refused");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        // Of several addresses only the allowed ones are tried.
        let stream = connect(&[rebound, allowed], reach)
            .await
            .expect("the other");
        assert_eq!(stream.peer_addr().expect("a peer"), allowed);
    }
    // Where only public addresses are allowed, a name that turns to loopback is refused.
    let loopback: SocketAddr = ([127, 0, 0, 1], port).into();
    let refused = connect(&[loopback], Reach::PUBLIC.filter(true)).await;
    let refused = refused.expect_err("refused");
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    let waiting = inside.accept().map(drop).expect_err("no connection");
    assert_eq!(waiting.kind(), io::ErrorKind::WouldBlock);
}
