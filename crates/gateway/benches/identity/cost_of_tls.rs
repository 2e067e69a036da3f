//! What TLS costs the gateway's side: a handshake, and the bytes of a call. Both ends are in memory, and only the server's
//! work is timed.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection,
};

/// Made for tests; they guard nothing.
const AUTHORITY: &[u8] = include_bytes!("../../../dial/src/connection/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("../../../dial/src/connection/server.pem");
const KEY: &[u8] = include_bytes!("../../../dial/src/connection/server.key.pem");

const HANDSHAKES: u32 = 300;
const ROUNDS: u32 = 5;
const EXCHANGES: u32 = 2_000;
const SIZES: [(&str, usize, usize); 3] = [
    ("a request and an answer of 1 KB", 400, 1_000),
    ("a request and an answer of 16 KB", 400, 16_000),
    ("a request and an answer of 230 KB", 400, 230_000),
];

/// Two ends that have a connection in memory.
struct Pair {
    client: ClientConnection,
    server: ServerConnection,
    /// CPU time of the server so far.
    server_time: Duration,
}

pub(crate) fn print() {
    let (server, client) = (server_config(), client_config());
    let handshake = (0..ROUNDS).map(|_| {
        let times = (0..HANDSHAKES).map(|_| Pair::connect(&server, &client).server_time);
        times.sum::<Duration>() / HANDSHAKES
    });
    println!("\nTLS 1.3 with an ECDSA certificate of 256 bits, CPU µs of the server\n");
    print_line("a handshake", handshake.min());
    for (name, request, answer) in SIZES {
        let each = (0..ROUNDS).map(|_| {
            let mut pair = Pair::connect(&server, &client);
            pair.server_time = Duration::ZERO;
            (0..EXCHANGES).for_each(|_| pair.exchange(request, answer));
            pair.server_time / EXCHANGES
        });
        print_line(name, each.min());
    }
}

fn print_line(name: &str, time: Option<Duration>) {
    let micros = time.unwrap_or_default().as_secs_f64() * 1e6;
    println!("{name:<44} {micros:>12.2}");
}

impl Pair {
    fn connect(server: &Arc<ServerConfig>, client: &Arc<ClientConfig>) -> Self {
        let name = "localhost".try_into().expect("a name");
        let mut pair = Self {
            client: ClientConnection::new(Arc::clone(client), name).expect("a client"),
            server: ServerConnection::new(Arc::clone(server)).expect("a server"),
            server_time: Duration::ZERO,
        };
        while pair.client.is_handshaking() || pair.server.is_handshaking() {
            pair.carry_to_server();
            pair.carry_to_client();
        }
        pair
    }

    /// Moves what the client has to say, and lets the server work on it.
    fn carry_to_server(&mut self) {
        let mut wire = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut wire).expect("written");
        }
        let begun = cpu_time();
        let mut wire = &wire[..];
        while !wire.is_empty() {
            self.server.read_tls(&mut wire).expect("read");
            self.server.process_new_packets().expect("valid");
        }
        self.server_time += cpu_time().saturating_sub(begun);
    }

    /// Lets the server write what it has to say, and moves it.
    fn carry_to_client(&mut self) {
        let mut wire = Vec::new();
        let begun = cpu_time();
        while self.server.wants_write() {
            self.server.write_tls(&mut wire).expect("written");
        }
        self.server_time += cpu_time().saturating_sub(begun);
        let mut wire = &wire[..];
        while !wire.is_empty() {
            self.client.read_tls(&mut wire).expect("read");
            self.client.process_new_packets().expect("valid");
            let mut read = [0; 16 * 1024];
            while self
                .client
                .reader()
                .read(&mut read)
                .is_ok_and(|read| read > 0)
            {}
        }
    }

    fn exchange(&mut self, request: usize, answer: usize) {
        let mut buffer = [0; 16 * 1024];
        let sent = self.client.writer().write(&vec![b'x'; request]);
        assert_eq!(sent.expect("written"), request);
        self.carry_to_server();
        let begun = cpu_time();
        let read = self.server.reader().read(&mut buffer).expect("read");
        self.server_time += cpu_time().saturating_sub(begun);
        assert_eq!(read, request);
        for part in vec![b'y'; answer].chunks(buffer.len()) {
            let begun = cpu_time();
            self.server.writer().write_all(part).expect("written");
            self.server_time += cpu_time().saturating_sub(begun);
            self.carry_to_client();
        }
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn server_config() -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    Arc::new(config.expect("a pair"))
}

fn client_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(AUTHORITY).expect("a certificate");
    roots.add(authority).expect("a root");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Each handshake is a whole one.
    config.resumption = tokio_rustls::rustls::client::Resumption::disabled();
    Arc::new(config)
}
