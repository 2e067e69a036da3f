//! Where a gateway listens, and its TLS.

use std::fs;

use insta::assert_snapshot;

use super::{accepted, refused, warnings};
use crate::{ClientAuth, Environment, Listen, exposure_warning, load};

const TLS: &str = r#""tls": {"cert_file": "tls.crt", "key_file": "/etc/tls.key"}"#;

#[test]
fn one_place_is_a_string_and_several_are_an_array() {
    let one = accepted(r#"{"listen": ["127.0.0.1:1"]}"#);
    assert!(one.show().contains(r#""listen": "127.0.0.1:1""#));
    let several = accepted(
        r#"{"listen": ["127.0.0.1:1", "unix:a.sock", "unix:/run/b.sock"], "data_dir": "/d"}"#,
    );
    assert_eq!(
        several.listen.to_string(),
        "127.0.0.1:1, unix:a.sock, unix:/run/b.sock"
    );
    let places = several.listen.addresses().iter();
    let places: Vec<_> = places
        .map(|place| place.within(&several.data_dir).to_string())
        .collect();
    assert_eq!(
        places,
        ["127.0.0.1:1", "unix:/d/a.sock", "unix:/run/b.sock"]
    );
    assert!(several.show().contains("\"unix:a.sock\",\n"));
    let listed = Listen::parse_list("127.0.0.1:1, unix:a.sock,unix:/run/b.sock");
    assert_eq!(listed, Ok(several.listen));
}

#[test]
fn places_that_cannot_be_are_refused() {
    assert_snapshot!(refused(r#"{"listen": ["x", "unix:", "unix:~/a", "127.0.0.1:1"]}"#), @r#"
    1:13: /listen/0: not an address and port
    hint: write "127.0.0.1:8080" for this machine only, or "0.0.0.0:8080" for every interface
    1:18: /listen/1: not the path of a Unix socket
    hint: write "unix:gateway.sock" for a socket in the data directory, or "unix:/run/countersign/gateway.sock"
    1:27: /listen/2: not the path of a Unix socket
    hint: write "unix:gateway.sock" for a socket in the data directory, or "unix:/run/countersign/gateway.sock"
    "#);
    assert_snapshot!(refused(r#"{"listen": []}"#), @r"
    1:12: /listen: the gateway has to listen somewhere
    hint: leave out the key for 127.0.0.1:8080, or name an address
    ");
    assert_snapshot!(refused(r#"{"listen": [":1", "0.0.0.0:1"]}"#), @r"
    1:12: /listen: an address is there twice
    hint: remove one of the two
    ");
}

#[test]
fn without_a_key_every_place_has_to_be_on_this_machine() {
    let open = |listen: &str| format!(r#"{{"require_mcp_auth": false, "listen": {listen}}}"#);
    accepted(&open(r#"["unix:a.sock", "[::1]:1"]"#));
    assert!(refused(&open(r#"["unix:a.sock", ":1"]"#)).contains("0.0.0.0:1 would be open"));
}

#[test]
fn a_place_that_others_can_reach_is_warned_about_unless_it_has_tls() {
    let listen = r#""listen": ["127.0.0.1:1", "10.0.0.1:2"]"#;
    let plain = accepted(&format!("{{{listen}}}"));
    let warning = exposure_warning(&plain).expect("a warning");
    assert!(warning.message.contains("10.0.0.1:2"), "{warning}");
    let encrypted = accepted(&format!("{{{listen}, {TLS}}}"));
    assert!(exposure_warning(&encrypted).is_none());
    assert!(exposure_warning(&accepted(r#"{"listen": "unix:a.sock"}"#)).is_none());
}

#[test]
fn files_begin_at_the_folder_of_the_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.json");
    fs::write(&file, format!("{{{TLS}}}")).expect("written");
    let (config, _) = load(&file, &Environment::empty()).expect("accepted");
    let certificate = folder.path().join("tls.crt");
    let pair = config.tls.pair().expect("a pair");
    assert_eq!(pair, (certificate.as_path(), "/etc/tls.key".as_ref()));
    assert_eq!(config.tls.client_auth, ClientAuth::Off);
}

#[test]
fn half_a_set_up_is_refused() {
    for (tls, problem) in [
        (r#"{"cert_file": "a"}"#, "a certificate without its key"),
        (r#"{"key_file": "a"}"#, "a key without its certificate"),
        (
            r#"{"client_auth": "optional", "client_ca_file": "a"}"#,
            "clients can show certificates over TLS only",
        ),
        (
            r#"{"cert_file": "a", "key_file": "b", "client_auth": "required"}"#,
            "no authority is named",
        ),
    ] {
        let said = refused(&format!(r#"{{"tls": {tls}}}"#));
        assert!(said.contains(problem), "{tls}: {said}");
    }
    let unused = r#"{"tls": {"cert_file": "a", "key_file": "b", "client_ca_file": "c"}}"#;
    assert!(warnings(unused).contains("client_auth is off"));
}

#[test]
fn the_tls_block_of_mcpproxy_is_told_about() {
    let said =
        warnings(r#"{"tls": {"enabled": true, "require_client_cert": false, "hsts": true}}"#);
    assert_snapshot!(said, @r#"
    not implemented in this version and ignored: hsts, require_client_cert
    1:10: /tls/enabled: "enabled" is not implemented in this version and is ignored: TLS is on where tls.cert_file and tls.key_file are set
    "#);
}
