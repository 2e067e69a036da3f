//! `LogHead`: the size and the root of a store's tree under the name of the store, signed: a checkpoint in the form of
//! <https://c2sp.org/tlog-checkpoint>. What is published outside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use super::note::{Note, NoteError, SignatureLine};
use crate::chain::{Signer, TrustedKeys};
use crate::digest::Digest;

/// Text that is not a log head signed by a trusted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogHeadError {
    /// It is not a signed note, or a signature of a trusted key does not hold.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The text of the note is not that of a checkpoint.
    #[error("not a log checkpoint: origin, size and root are expected")]
    Form,
    /// No trusted key signed it.
    #[error("the log checkpoint is not signed by a trusted key")]
    Untrusted,
}

/// The state of a tree: how many leaves it has, and its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    /// The name of the log.
    pub origin: String,
    /// How many leaves it has.
    pub size: u64,
    /// The RFC 6962 root over them.
    pub root: Digest,
}

impl LogHead {
    /// Signs it under the name of the log, once by each key.
    pub(crate) fn sign<'s>(&self, signers: impl IntoIterator<Item = &'s Signer>) -> Note {
        let text = self.text();
        let sign = |signer| SignatureLine::sign(signer, &self.origin, &text);
        Note {
            signatures: signers.into_iter().map(sign).collect(),
            text,
        }
    }

    /// Reads the text of a note. Says nothing about its signatures.
    pub fn from_text(text: &str) -> Result<Self, LogHeadError> {
        let mut lines = text
            .strip_suffix('\n')
            .ok_or(LogHeadError::Form)?
            .split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(LogHeadError::Form);
        };
        let parsed = size.parse::<u64>().ok().filter(|n| n.to_string() == size);
        let root = STANDARD.decode(root).ok();
        let root = root.as_deref().and_then(Digest::from_slice);
        match (parsed, root) {
            // Extension lines are allowed, and must not be empty.
            (Some(size), Some(root)) if !origin.is_empty() && lines.all(|l| !l.is_empty()) => {
                Ok(Self {
                    origin: origin.to_owned(),
                    size,
                    root,
                })
            }
            _ => Err(LogHeadError::Form),
        }
    }

    /// Reads a note that a trusted key has signed under the name of the log.
    pub fn from_note(note: &Note, trusted: &TrustedKeys) -> Result<Self, LogHeadError> {
        let head = Self::from_text(&note.text)?;
        let mut is_trusted = false;
        for key in trusted.keys() {
            is_trusted |= note.is_signed_by(&head.origin, key)?;
        }
        if is_trusted {
            Ok(head)
        } else {
            Err(LogHeadError::Untrusted)
        }
    }

    fn text(&self) -> String {
        let root = STANDARD.encode(self.root.as_bytes());
        format!("{}\n{}\n{root}\n", self.origin, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::VerifierKey;
    use super::*;

    /// The example of <https://c2sp.org/tlog-checkpoint>, with the cosignature of <https://c2sp.org/tlog-cosignature>.
    const SOFA: &str = "example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
";

    #[test]
    fn the_example_of_the_format_is_read() {
        let note = Note::parse(SOFA).expect("a note");
        assert_eq!(note.to_string(), SOFA);
        let head = LogHead::from_text(&note.text).expect("a checkpoint");
        assert_eq!(head.origin, "example.com/behind-the-sofa");
        assert_eq!(head.size, 20_852_163);
        assert_eq!(head.text(), note.text);
        let nobody = LogHead::from_note(&note, &TrustedKeys::default());
        assert_eq!(nobody, Err(LogHeadError::Untrusted));
        assert_eq!(
            note.signatures[1].signature[..8],
            1_679_315_147_u64.to_be_bytes()
        );
    }

    /// The example's signature is the one that the checksum database of Go published for this size and root, under its
    /// own name: key and signature of a log that others run.
    #[test]
    fn a_head_of_the_go_checksum_database_verifies() {
        let text = SOFA
            .replace("example.com/behind-the-sofa\n", "go.sum database tree\n")
            .replace("— example.com/behind-the-sofa", "— sum.golang.org");
        let note = Note::parse(&text).expect("a note");
        let key = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        let key: VerifierKey = key.parse().expect("a key");
        assert_eq!(key.has_signed(&note), Ok(true));
        let other = Note::parse(&text.replace("20852163", "20852164")).expect("a note");
        assert!(key.has_signed(&other).is_err());
    }

    #[test]
    fn a_head_is_signed_by_every_key_and_trusted_for_one_of_them() {
        let [old, new] =
            ["0a", "0b"].map(|byte| Signer::from_text(&byte.repeat(32)).expect("a key"));
        let head = LogHead {
            origin: "example.com/log".to_owned(),
            size: 7,
            root: Digest::sha256(b"root"),
        };
        let note = head.sign([&new, &old]);
        let note = Note::parse(&note.to_string()).expect("a note");
        for key in [&old, &new] {
            let trusted = TrustedKeys::new([key.public()]);
            assert_eq!(LogHead::from_note(&note, &trusted), Ok(head.clone()));
        }
        let renamed = note
            .to_string()
            .replacen("example.com/log\n", "example.com/other\n", 1);
        let renamed = Note::parse(&renamed).expect("a note");
        let trusted = TrustedKeys::new([old.public()]);
        assert_eq!(
            LogHead::from_note(&renamed, &trusted),
            Err(LogHeadError::Untrusted)
        );
    }

    #[test]
    fn other_texts_are_no_heads() {
        let root = STANDARD.encode([7; 32]);
        for text in [
            String::new(),
            "o\n1\n".to_owned(),
            format!("o\n1\n{root}"),
            format!("\n1\n{root}\n"),
            format!("o\n01\n{root}\n"),
            format!("o\n+1\n{root}\n"),
            format!("o\n-1\n{root}\n"),
            format!("o\n99999999999999999999\n{root}\n"),
            format!("o\n1\n{root}\n\n"),
            "o\n1\nAAAA\n".to_owned(),
        ] {
            assert_eq!(
                LogHead::from_text(&text),
                Err(LogHeadError::Form),
                "{text:?}"
            );
        }
        assert!(LogHead::from_text(&format!("o\n0\n{root}\nextension\n")).is_ok());
    }
}
