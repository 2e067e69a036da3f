//! The examples of the C2SP texts and of Go's package `note`.

use super::*;

/// The example of <https://c2sp.org/signed-note>. Its key is not published.
const QUASIMODO: &str = "Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
";
/// The example of Go's `golang.org/x/mod/sumdb/note`, with its verifier key.
const NEUMANN: &str = "If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
";
const NEUMANN_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

#[test]
fn the_examples_parse_and_are_written_again_byte_by_byte() {
    for text in [QUASIMODO, NEUMANN] {
        let note = Note::parse(text).expect("a note");
        assert_eq!(note.signatures.len(), 1);
        assert_eq!(note.to_string(), text);
    }
    let note = Note::parse(QUASIMODO).expect("a note");
    assert!(note.text.contains("\n\n"), "the text may have empty lines");
    assert_eq!(note.signatures[0].name, "quasimodo.example/salvatore");
    assert_eq!(note.signatures[0].key_id, [0x36, 0x7b, 0xa0, 0x4b]);
}

#[test]
fn a_published_signature_holds_and_no_other_text_has_it() {
    let key: VerifierKey = NEUMANN_KEY.parse().expect("a key");
    assert_eq!(key.to_string(), NEUMANN_KEY);
    let note = Note::parse(NEUMANN).expect("a note");
    assert_eq!(key.has_signed(&note), Ok(true));
    let other = Note::parse(&NEUMANN.replace("answer", "Answer")).expect("a note");
    assert!(
        key.has_signed(&other).is_err(),
        "a known key that fails spoils the note"
    );
    let renamed = Note::parse(&NEUMANN.replace("— Peter", "— Poter")).expect("a note");
    assert_eq!(
        key.has_signed(&renamed),
        Ok(false),
        "an unknown name is ignored"
    );
    assert_eq!(
        key.has_signed(&Note::parse(QUASIMODO).expect("a note")),
        Ok(false)
    );
}

#[test]
fn a_cosignature_covers_the_text_and_its_time() {
    let signer = Signer::from_text(&"7f".repeat(32)).expect("a key");
    let mut witness = VerifierKey::new("witness.example/w1", signer.public());
    witness.is_witness = true;
    assert_eq!(witness.to_string().parse(), Ok(witness.clone()));
    let text =
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    let time = 1_679_315_147_u64;
    let signature = signer.sign(format!("cosignature/v1\ntime {time}\n{text}").as_bytes());
    let line = SignatureLine {
        name: witness.name.clone(),
        key_id: key_id(&witness.name, COSIGNATURE, &witness.key),
        signature: [&time.to_be_bytes()[..], &signature].concat(),
    };
    let note = Note {
        text: text.to_owned(),
        signatures: vec![line],
    };
    assert_eq!(
        note.cosigned_at(&witness.name, &witness.key),
        Ok(Some(time))
    );
    assert_eq!(witness.has_signed(&note), Ok(true));
    assert_eq!(note.is_signed_by(&witness.name, &witness.key), Ok(false));
    let mut later = note;
    later.signatures[0].signature[7] ^= 1;
    assert!(witness.has_signed(&later).is_err());
}

#[test]
fn what_is_not_a_note_is_refused() {
    for text in [
        "",
        "text\n",
        "text\n\n",
        "text\n\nno dash\n",
        "text\n\n— name\n",
        "text\n\n— name !!!\n",
        "text\n\n— name AAAA\n",
        "text\n\n— na+me AAAAAAAA\n",
        "text\n\n— name AAAAAAAA",
        "te\u{7}xt\n\n— name AAAAAAAA\n",
        "te\r\n\n— name AAAAAAAA\n",
    ] {
        assert!(Note::parse(text).is_err(), "{text:?}");
    }
    let line = "— name AAAAAAAA\n";
    let signed = |count: usize| format!("text\n\n{}", line.repeat(count));
    assert!(Note::parse(&signed(16)).is_ok());
    assert!(Note::parse(&signed(MAX_SIGNATURES + 1)).is_err());
    assert!(Note::parse(&format!("{}\n\n{line}", "x".repeat(MAX_NOTE))).is_err());
    for key in [
        "",
        "a+b",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ] {
        assert!(key.parse::<VerifierKey>().is_err(), "{key}");
    }
}
