//! TLS for clients: the gateway's certificate, and which clients have to show one of their own.

use std::path::{Path, PathBuf};

use countersign_inspect::word_enum;

use super::foreign_keys;
use super::keys::Form;
use super::problem::{Problem, Warning};
use super::setting::{keys, plain, read_word};

keys! {
    /// TLS 1.2 and 1.3 for the addresses in `listen`; Unix sockets have none. The files are PEM, and what changes in them holds
    /// for the next connection, within a second. A relative path begins at the folder of the configuration file. See
    /// [TLS and sockets](../guides/tls.md).
    #[block("tls", &foreign_keys::TLS)]
    pub struct Tls {
        /// The gateway's certificate, followed by those between it and the authority that clients trust.
        #[key(Form::OptionalText, Restart, FileOnly)]
        cert_file: Option<PathBuf> = None;
        /// The private key of that certificate.
        #[key(Form::OptionalText, Restart, FileOnly)]
        key_file: Option<PathBuf> = None;
        /// The authorities whose client certificates are accepted.
        #[key(Form::OptionalText, Restart, FileOnly)]
        client_ca_file: Option<PathBuf> = None;
        /// `optional`: a client may show a certificate, and one that cannot be verified ends the connection. `required`: a
        /// client without one cannot connect. Who a client is follows from the names in its certificate and from `callers`.
        #[key(Form::Choice(ClientAuth::WORDS), Restart, FileOnly)]
        client_auth: ClientAuth = ClientAuth::Off;
    }
}

word_enum! {
    /// Whether clients show certificates.
    #[derive(Default)]
    pub enum ClientAuth {
        /// They are not asked.
        #[default]
        Off = "off",
        /// They may.
        Optional = "optional",
        /// They have to.
        Required = "required",
    }
}

plain! {
    ClientAuth: read_word, ClientAuth::clone;
}

impl Default for Tls {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Tls {
    /// The certificate and its key; nothing if TLS is not set up.
    pub fn pair(&self) -> Option<(&Path, &Path)> {
        self.cert_file.as_deref().zip(self.key_file.as_deref())
    }

    /// Whether the addresses in `listen` are served over TLS.
    pub fn is_enabled(&self) -> bool {
        self.pair().is_some()
    }

    /// Has relative paths begin at this folder.
    pub(crate) fn begin_at(&mut self, folder: &Path) {
        let files = [
            &mut self.cert_file,
            &mut self.key_file,
            &mut self.client_ca_file,
        ];
        for path in files.into_iter().flatten() {
            *path = folder.join(&*path);
        }
    }

    /// Half a set-up would leave the gateway without TLS, or let clients in that were meant to show a certificate.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let asks = self.client_auth != ClientAuth::Off;
        let (message, hint) = match (&self.cert_file, &self.key_file) {
            (Some(_), None) => ("a certificate without its key", "set \"key_file\" too"),
            (None, Some(_)) => ("a key without its certificate", "set \"cert_file\" too"),
            (None, None) if asks => (
                "clients can show certificates over TLS only",
                "set \"cert_file\" and \"key_file\" too",
            ),
            _ if asks && self.client_ca_file.is_none() => (
                "no authority is named whose client certificates are accepted",
                "set \"client_ca_file\" too",
            ),
            _ => return Ok(()),
        };
        Err(Problem::new(message, hint))
    }

    /// An authority that is never asked about.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let is_unused = self.client_ca_file.is_some() && self.client_auth == ClientAuth::Off;
        is_unused.then(|| {
            let message = "clients are not asked for a certificate: client_auth is off";
            Problem::new(
                message,
                "set \"client_auth\" to optional or required, or remove client_ca_file",
            )
        })
    }
}
