//! The PEM files of TLS, and what they make of a server.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_config::{ClientAuth, Tls as TlsConfig};
use countersign_inspect::Digest;
use thiserror::Error;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::{Error as RustlsError, RootCertStore, ServerConfig};
use webpki::{EndEntityCert, KeyUsage};

/// Far more than any chain; a device must not fill memory.
const MAX_BYTES: u64 = 1 << 20;
/// HTTP/2 would need limits of its own, so it is not offered.
const PROTOCOL: &[u8] = b"http/1.1";

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file has no certificate.
    #[error("{} has no certificate in PEM", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file has no private key.
    #[error("{} has no private key in PEM", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The certificate and the key do not make a server.
    #[error("the certificate in {} cannot be used with the key in {}", certificate.display(), key.display())]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        #[source]
        source: RustlsError,
    },
    /// An authority of clients cannot be used.
    #[error("the authorities in {} cannot be used", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The certificate has ended, or has not begun.
    #[error("the certificate in {} {problem}", path.display())]
    Time {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
}

/// Reads the files of a configuration and says what is wrong with them. Blocks.
pub fn check_certificate(config: &TlsConfig) -> Result<(), TlsError> {
    let Some(files) = Files::read(config)? else {
        return Ok(());
    };
    files.server_config()?;
    files.check_time()
}

/// What the files hold.
pub(super) struct Files<'a> {
    certificate: (&'a Path, Vec<u8>),
    key: (&'a Path, Vec<u8>),
    authorities: Option<(&'a Path, Vec<u8>)>,
    client_auth: ClientAuth,
}

impl<'a> Files<'a> {
    /// Reads them; nothing if TLS is not set up.
    pub(super) fn read(config: &'a TlsConfig) -> Result<Option<Self>, TlsError> {
        let Some((certificate, key)) = config.pair() else {
            return Ok(None);
        };
        let asks = config.client_auth != ClientAuth::Off;
        let authorities = config.client_ca_file.as_deref().filter(|_| asks);
        Ok(Some(Self {
            certificate: (certificate, read(certificate)?),
            key: (key, read(key)?),
            authorities: authorities
                .map(|path| Ok((path, read(path)?)))
                .transpose()?,
            client_auth: config.client_auth,
        }))
    }

    /// Differs if any of the files does.
    pub(super) fn digest(&self) -> Digest {
        let authorities = self.authorities.as_ref().map(|(_, bytes)| bytes);
        let parts = [Some(&self.certificate.1), Some(&self.key.1), authorities];
        let mut all = Vec::new();
        for part in parts.into_iter().flatten() {
            all.extend_from_slice(&part.len().to_be_bytes());
            all.extend_from_slice(part);
        }
        Digest::sha256(&all)
    }

    /// A server with this certificate.
    pub(super) fn server_config(&self) -> Result<ServerConfig, TlsError> {
        let refused = |source| TlsError::Pair {
            certificate: self.certificate.0.to_owned(),
            key: self.key.0.to_owned(),
            source,
        };
        let provider = Arc::new(ring::default_provider());
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key.1).map_err(|_| TlsError::NoKey {
            path: self.key.0.to_owned(),
        })?;
        let verifier = self.verifier(&provider)?;
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let builder = match verifier.clone() {
            Some(verifier) => builder.with_client_cert_verifier(verifier),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(refused)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        if verifier.is_some() {
            // A resumed session would not verify the client's certificate again.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }

    /// Fails if the certificate is not valid at this time.
    pub(super) fn check_time(&self) -> Result<(), TlsError> {
        let chain = certificates(&self.certificate)?;
        let Some(Ok(certificate)) = chain.first().map(EndEntityCert::try_from) else {
            return Ok(());
        };
        // There is no authority to find, but the time is looked at before that.
        let verified = certificate.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            &[],
            &[],
            UnixTime::now(),
            KeyUsage::server_auth(),
            None,
            None,
        );
        let problem = match verified.err() {
            Some(webpki::Error::CertExpired { .. }) => "has expired",
            Some(webpki::Error::CertNotValidYet { .. }) => "is not valid yet",
            _ => return Ok(()),
        };
        let path = self.certificate.0.to_owned();
        Err(TlsError::Time { path, problem })
    }

    /// Verifies the certificates of clients; nothing if they are not asked for one.
    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsError> {
        let Some(authorities) = &self.authorities else {
            return Ok(None);
        };
        let path = authorities.0;
        let refused = |source: Box<dyn std::error::Error + Send + Sync>| {
            let path = path.to_owned();
            TlsError::Authorities { path, source }
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authorities)? {
            roots
                .add(certificate)
                .map_err(|error| refused(error.into()))?;
        }
        let provider = Arc::clone(provider);
        let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        if self.client_auth == ClientAuth::Optional {
            builder = builder.allow_unauthenticated();
        }
        let verifier = builder.build().map_err(|error| refused(error.into()))?;
        Ok(Some(verifier))
    }
}

/// The certificates of a file; at least one.
fn certificates((path, pem): &(&Path, Vec<u8>)) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(TlsError::NoCertificate {
            path: (*path).to_owned(),
        }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|source| TlsError::Read {
        path: path.to_owned(),
        source,
    })
}
