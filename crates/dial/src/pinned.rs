//! Trust in one certificate that is known beforehand, because it is in a file of this machine.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
};

/// A certificate that a server is known to have. A server that has it, and its private key, is trusted, even if it is
/// self-signed, expired, or for another name.
#[derive(Clone)]
pub struct PinnedCertificate(Arc<ClientConfig>);

impl PinnedCertificate {
    /// The first certificate of a text in PEM; nothing if there is none.
    pub fn from_pem(pem: &[u8]) -> Option<Self> {
        let certificate = CertificateDer::from_pem_slice(pem).ok()?;
        let provider = Arc::new(ring::default_provider());
        let verifier = PinVerifier {
            certificate,
            provider: Arc::clone(&provider),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .ok()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Some(Self(Arc::new(config)))
    }

    pub(crate) fn trust(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

impl fmt::Debug for PinnedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedCertificate").finish_non_exhaustive()
    }
}

/// Accepts one certificate. Signatures are verified as usual, so the server has to have its key.
#[derive(Debug)]
struct PinVerifier {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if *end_entity == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            let problem = CertificateError::ApplicationVerificationFailure;
            Err(Error::InvalidCertificate(problem))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
