"""Checks receipts of Countersign's activity log. Written from the texts of C2SP (signed-note, tlog-checkpoint, tlog-proof,
tlog-cosignature) and RFC 6962 and from docs/concepts/proof.md, not from Countersign's source.

    verify.py RECEIPT KEY…      exits 0 if the log holds the record, 1 if the receipt does not show it

A KEY is NAME+HASH+BASE64: of the log (type 0x01) or of a witness (0x04).
"""

import base64
import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Refused(Exception):
    pass


def check(holds, why):
    if not holds:
        raise Refused(why)


def sha256(data):
    return hashlib.sha256(data).digest()


def unbase64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused("not base64") from error
    # Several texts decode to the same bytes; only one of them is what was written.
    check(base64.b64encode(data).decode() == text, "not canonical base64")
    return data


def digest(text):
    data = unbase64(text)
    check(len(data) == 32, "not a SHA-256 hash")
    return data


def decimal(text):
    check(text.isascii() and text.isdigit() and str(int(text)) == text, "not a number")
    return int(text)


def unhex(text, length):
    check(len(text) == 2 * length and all(c in "0123456789abcdef" for c in text), "not a hash")
    return bytes.fromhex(text)


class Key:
    """A verifier key: NAME+HASH+BASE64."""

    def __init__(self, text):
        self.name, hash_text, data = text.split("+", 2)
        data = unbase64(data)
        self.kind, key = data[0], data[1:]
        check(self.kind in (1, 4) and len(key) == 32, "not an Ed25519 key")
        self.id = sha256(self.name.encode() + b"\n" + data)[:4]
        check(self.id.hex() == hash_text, "the key does not fit its hash")
        self.key = Ed25519PublicKey.from_public_bytes(key)

    def holds(self, signature, message):
        try:
            self.key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def verify(self, text, signature):
        if self.kind == 1:
            return self.holds(signature, text)
        time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
        return self.holds(signature, b"cosignature/v1\ntime %d\n" % time + text)


def open_note(note, keys):
    """The text of a signed note, and which of the keys have signed it."""
    check(not any(c < " " and c != "\n" for c in note), "control characters in the note")
    end = note.rfind("\n\n")
    check(end >= 0 and note.endswith("\n"), "not a signed note")
    text, lines = note[: end + 1], note[end + 2 : -1].split("\n")
    check(len(lines) <= 64, "too many signatures")
    signed = set()
    for line in lines:
        parts = line.split(" ")
        check(len(parts) == 3 and parts[0] == "\u2014", "not a signature line")
        data = unbase64(parts[2])
        check(len(data) > 4, "a signature is too short")
        for key in keys:
            if key.name == parts[1] and key.id == data[:4]:
                check(key.verify(text.encode(), data[4:]), "a signature of a known key does not hold")
                signed.add(key)
    return text, signed


def root_from_path(leaf, index, size, path):
    """RFC 6962, section 2.1.1, read backwards: what the leaf and its path lead to."""
    check(index < size, "the index is beyond the tree")
    fn, sn, node = index, size - 1, leaf
    for sibling in path:
        check(sn > 0, "the path is too long")
        if fn & 1 or fn == sn:
            node = sha256(b"\x01" + sibling + node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = sha256(b"\x01" + node + sibling)
        fn, sn = fn >> 1, sn >> 1
    check(sn == 0, "the path is too short")
    return node


def object_without_duplicates(pairs):
    check(len({name for name, _ in pairs}) == len(pairs), "a member twice")
    return dict(pairs)


def parse_json(text, members):
    try:
        value = json.loads(text, object_pairs_hook=object_without_duplicates)
    except ValueError as error:
        raise Refused("not JSON") from error
    check(isinstance(value, dict) and set(value) == members, "other members than expected")
    return value


def string(value):
    # JSON can write halves of characters, which are no text.
    check(isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value), "not a string")
    return value


def number(value):
    check(isinstance(value, int) and not isinstance(value, bool) and value >= 0, "not a number")
    return value


def verify(receipt, keys):
    """The record that the receipt shows to be in the log, as the log stores it."""
    parts = receipt.split("\n\n", 1)
    check(len(parts) == 2, "no checkpoint")
    lines = parts[0].split("\n")
    check(lines[0] == "c2sp.org/tlog-proof@v1", "another format")
    check(len(lines) >= 3 and lines[1].startswith("extra ") and lines[2].startswith("index "), "a line is missing")
    try:
        extra = unbase64(lines[1].removeprefix("extra ")).decode()
    except UnicodeDecodeError as error:
        raise Refused("the extra data is not UTF-8") from error
    index = decimal(lines[2].removeprefix("index "))
    path = [digest(line) for line in lines[3:]]

    text, signed = open_note(parts[1], keys)
    head = text[:-1].split("\n")
    check(len(head) >= 3 and all(head), "not a checkpoint")
    origin, size, root = head[0], decimal(head[1]), digest(head[2])
    check(any(key.kind == 1 and key.name == origin for key in signed), "not signed by the log")
    for key in keys:
        check(key.kind == 1 or key in signed, f"not signed by the witness {key.name}")

    extra = parse_json(extra, {"record", "prev", "n", "batch_path", "leaf"})
    leaf = string(extra["leaf"])
    check(root_from_path(sha256(b"\x00" + leaf.encode()), index, size, path) == root, "the path does not lead to the root")

    batch = parse_json(leaf, {"chain_id", "first", "n", "hash", "root", "at", "key", "signature"})
    record_hash = sha256(unhex(string(extra["prev"]), 32) + string(extra["record"]).encode())
    first, last, n = number(batch["first"]), number(batch["n"]), number(extra["n"])
    check(first <= n <= last, "the record is not one of the batch")
    check(isinstance(extra["batch_path"], list), "not a path")
    batch_path = [unhex(string(hash_text), 32) for hash_text in extra["batch_path"]]
    reached = root_from_path(sha256(b"\x00" + record_hash), n - first, last - first + 1, batch_path)
    check(reached == unhex(batch["root"], 32), "the record does not lead to the root of its batch")

    message = "countersign audit batch 1\n{chain_id}\n{first}\n{n}\n{hash}\n{root}\n{at}\n".format(**batch)
    chain_key = Ed25519PublicKey.from_public_bytes(unhex(batch["key"], 32))
    try:
        chain_key.verify(unhex(batch["signature"], 64), message.encode())
    except InvalidSignature as error:
        raise Refused("the signature of the batch does not hold") from error
    return extra["record"], origin, size


def main():
    try:
        with open(sys.argv[1], encoding="utf-8", newline="") as file:
            receipt = file.read()
        record, origin, size = verify(receipt, [Key(text) for text in sys.argv[2:]])
    except (Refused, UnicodeDecodeError) as error:
        print(f"refused: {error}")
        return 1
    print(f"valid: {json.loads(record)['id']} in {origin} at size {size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
