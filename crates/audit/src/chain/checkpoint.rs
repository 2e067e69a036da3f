//! `Checkpoint`: a signed statement about a chain. Either "its head is here" or "retention removed everything up to here".
//!
//! Written to the store and, as a line of JSON, to `checkpoints.log`; ship that file elsewhere and even the loss of the whole
//! store is noticed. Says also how many records could not be written so far: a gap no hash can show.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use countersign_inspect::{decode_hex, encode_hex, word_enum};
use serde::{Deserialize, Serialize};

use crate::chain::key::{Signer, TrustedKeys};
use crate::private::private_file;
use crate::record::Head;
use crate::time::Timestamp;

const LOG_FILE: &str = "checkpoints.log";
/// Longer lines in the log were not written by a gateway.
const MAX_LINE: u64 = 4096;

word_enum! {
    /// What a checkpoint states.
    pub enum CheckpointKind {
        /// The chain reaches at least to here.
        Head = "head",
        /// Everything up to and including here was removed by retention.
        Floor = "floor",
    }
}

/// A signed place in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What is stated.
    pub kind: CheckpointKind,
    /// The place.
    #[serde(flatten)]
    pub head: Head,
    /// When it was signed.
    pub at: Timestamp,
    /// Records of this chain that could not be written, or were dropped, up to then.
    pub lost: u64,
    /// The public key, in hexadecimal.
    pub key: String,
    /// The signature, in hexadecimal.
    pub signature: String,
}

impl Checkpoint {
    pub(crate) fn sign(signer: &Signer, kind: CheckpointKind, head: Head, lost: u64) -> Self {
        let at = Timestamp::now();
        let key = signer.public().to_string();
        let signature = encode_hex(&signer.sign(&message(kind, &head, at, lost)));
        Self {
            kind,
            head,
            at,
            lost,
            key,
            signature,
        }
    }

    /// Signed by a trusted key, and unchanged since?
    pub fn is_genuine(&self, trusted: &TrustedKeys) -> bool {
        let message = message(self.kind, &self.head, self.at, self.lost);
        match (trusted.find(&self.key), decode_hex::<64>(&self.signature)) {
            (Some(key), Some(signature)) => key.verifies(&message, &signature),
            _ => false,
        }
    }
}

/// The bytes that are signed. The first line keeps a signature from meaning anything elsewhere.
fn message(kind: CheckpointKind, head: &Head, at: Timestamp, lost: u64) -> Vec<u8> {
    let Head { chain_id, n, hash } = head;
    format!("countersign audit checkpoint 1\n{kind}\n{chain_id}\n{n}\n{hash}\n{at}\n{lost}\n")
        .into_bytes()
}

/// Appends one line. One write call, so that processes sharing the file do not interleave.
pub(crate) fn append_to_log(dir: &Path, checkpoint: &Checkpoint, sync: bool) -> io::Result<()> {
    let mut line = serde_json::to_vec(checkpoint)?;
    line.push(b'\n');
    let mut file = private_file().open(log_path(dir))?;
    file.write_all(&line)?;
    if sync { file.sync_data() } else { Ok(()) }
}

/// Where the log of a data directory is.
pub(crate) fn log_path(dir: &Path) -> PathBuf {
    dir.join(LOG_FILE)
}

/// Hands every checkpoint of a log to `each`, with its line number; `None` for a line that is none.
/// A last line without its end is what a crash leaves, and is passed over.
pub(crate) fn read_log(
    path: &Path,
    mut each: impl FnMut(u64, Option<Checkpoint>),
) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = io::Read::take(&mut file, MAX_LINE);
        limited.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") && (line.len() as u64) < MAX_LINE {
            break;
        }
        each(number, serde_json::from_slice(&line).ok());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::id::Ids;

    fn checkpoint(signer: &Signer) -> Checkpoint {
        let head = Head {
            chain_id: Ids::new().next().id,
            n: 41,
            hash: Digest::sha256(b"x"),
        };
        Checkpoint::sign(signer, CheckpointKind::Head, head, 3)
    }

    #[test]
    fn any_change_breaks_the_signature() {
        let signer = Signer::from_text(&"ab".repeat(32)).expect("key");
        let trusted = TrustedKeys::new([signer.public()]);
        let good = checkpoint(&signer);
        assert!(good.is_genuine(&trusted));
        assert!(!good.is_genuine(&TrustedKeys::default()));
        let changes: [fn(&mut Checkpoint); 6] = [
            |c| c.kind = CheckpointKind::Floor,
            |c| c.head.n += 1,
            |c| c.head.hash = Digest::sha256(b"y"),
            |c| c.lost = 0,
            |c| c.at = Timestamp::from_millis(1),
            |c| c.signature.replace_range(0..2, "zz"),
        ];
        for change in changes {
            let mut bad = good.clone();
            change(&mut bad);
            assert!(!bad.is_genuine(&trusted), "{bad:?}");
        }
    }

    #[test]
    fn the_log_reads_back_and_survives_a_torn_last_line() {
        let dir = tempfile::tempdir().expect("temp dir");
        let signer = Signer::from_text(&"ab".repeat(32)).expect("key");
        let written = [checkpoint(&signer), checkpoint(&signer)];
        for checkpoint in &written {
            append_to_log(dir.path(), checkpoint, true).expect("written");
        }
        let path = dir.path().join(LOG_FILE);
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("open");
        file.write_all(b"{\"kind\":\"he").expect("torn");
        let mut read = Vec::new();
        read_log(&path, |number, checkpoint| {
            read.push((number, checkpoint));
        })
        .expect("read");
        let [first, second] = written;
        assert_eq!(read, [(1, Some(first)), (2, Some(second))]);
        file.write_all(b"\nrubbish\n").expect("rubbish");
        let mut bad = 0;
        read_log(&path, |_, checkpoint| {
            bad += usize::from(checkpoint.is_none());
        })
        .expect("read");
        assert_eq!(bad, 2);
    }
}
