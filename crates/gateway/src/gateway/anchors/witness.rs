//! Asks a witness for its signature, as <https://c2sp.org/tlog-witness> says: the head, and the proof that the log has only
//! grown since the last head that the witness signed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_audit::{Note, Reader, SignatureLine, SignedHead, VerifierKey};

use super::{Failure, http};

/// Sends the head and keeps the signature that comes back. Gives the size that the witness knows now.
pub(super) async fn ask(
    reader: &Reader,
    url: &str,
    key: &VerifierKey,
    head: &SignedHead,
    known: u64,
) -> Result<u64, Failure> {
    let (status, answer) = submit(reader, url, head, known).await?;
    let answer = String::from_utf8_lossy(&answer);
    let (status, answer) = match (status, answer.trim_end().parse::<u64>()) {
        // The witness tells which size it knows.
        (409, Ok(size)) if size != known && size <= head.size => {
            let (status, answer) = submit(reader, url, head, size).await?;
            (status, String::from_utf8_lossy(&answer).into_owned())
        }
        (409, Ok(size)) if size > head.size => {
            tracing::error!(
                witness = key.name,
                size,
                own = head.size,
                "a witness knows a longer log than this one: the store was rolled back"
            );
            return Err("the witness knows a longer log".into());
        }
        (status, _) => (status, answer.into_owned()),
    };
    match status {
        200 => {}
        422 => {
            tracing::error!(
                witness = key.name,
                "a witness found that the log is not the one it signed before: its history was replaced"
            );
            return Err("the log is inconsistent with what the witness signed".into());
        }
        status => return Err(format!("the witness answered {status}").into()),
    }
    let line =
        cosignature(&answer, key, head).ok_or("no signature of the witness in its answer")?;
    let (reader, size) = (reader.clone(), head.size);
    tokio::task::spawn_blocking(move || reader.add_cosignature(size, &line)).await??;
    Ok(size)
}

async fn submit(
    reader: &Reader,
    url: &str,
    head: &SignedHead,
    known: u64,
) -> Result<(u16, bytes::Bytes), Failure> {
    let (reader, size) = (reader.clone(), head.size);
    let proof = tokio::task::spawn_blocking(move || reader.consistency_proof(known, size));
    let mut body = format!("old {known}\n");
    for hash in proof.await?? {
        body.extend([STANDARD.encode(hash.as_bytes()).as_str(), "\n"]);
    }
    body.extend(["\n", head.note.as_str()]);
    http::exchange("POST", &format!("{url}/add-checkpoint"), body).await
}

/// The line of an answer that the witness's key has signed this head with. Other lines are ignored.
fn cosignature(answer: &str, key: &VerifierKey, head: &SignedHead) -> Option<SignatureLine> {
    let text = Note::parse(&head.note).ok()?.text;
    answer.lines().find_map(|line| {
        let line = SignatureLine::parse(line).ok()?;
        let note = Note {
            text: text.clone(),
            signatures: vec![line.clone()],
        };
        (key.has_signed(&note) == Ok(true)).then_some(line)
    })
}
