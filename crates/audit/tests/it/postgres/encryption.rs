//! Connections are encrypted, and the server's certificate is verified.

use std::error::Error;

use countersign_audit::{Options, Store};

use super::{SharedLog, wait_until};
use crate::support::fill;

/// Has the cluster make a certificate for `localhost` and a key, and use them.
fn encrypt(shared: &SharedLog) {
    let make = |name: &str| {
        format!(
            "COPY (SELECT 1) TO PROGRAM 'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
             -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
             -keyout {name}.key -out {name}.crt 2>/dev/null && chmod 600 {name}.key'"
        )
    };
    shared.cluster.sql(&make("server"));
    shared.cluster.sql(&make("other"));
    shared.cluster.sql("ALTER SYSTEM SET ssl = on");
    shared.cluster.sql("SELECT pg_reload_conf()");
    wait_until("it is encrypted", || shared.cluster.sql("SHOW ssl") == "on");
}

fn options(shared: &SharedLog, host: &str, certificate: &str) -> Options {
    let certificate = shared.cluster.data().join(certificate);
    let port = shared.cluster.port();
    let mut options = shared.options();
    options.postgres_url = Some(format!(
        "postgres://postgres@{host}:{port}/log?sslrootcert={}",
        certificate.display()
    ));
    options
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_connection_is_encrypted_and_its_server_verified_with_postgres() {
    let shared = SharedLog::new();
    let unencrypted = Store::open(&options(&shared, "localhost", "postgresql.conf"));
    assert!(unencrypted.is_err(), "no certificate to trust");
    encrypt(&shared);
    let store = Store::open(&options(&shared, "localhost", "server.crt")).expect("opens");
    fill(&store, 10);
    let plain = "count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE NOT s.ssl AND a.application_name = 'countersign'";
    assert_eq!(shared.count(plain), 0);
    drop(store);
    for (host, certificate) in [("localhost", "other.crt"), ("127.0.0.1", "server.crt")] {
        let refused = Store::open(&options(&shared, host, certificate)).expect_err("refused");
        let cause = refused.source().expect("a cause").to_string();
        assert!(
            cause.contains("certificate"),
            "{host} {certificate}: {cause}"
        );
    }
}
