"""Makes a log with a real gateway, and tries the verifier on its receipts, whole and forged. The heads of the log are
published in every way there is, to a witness among them; then the store is rolled back."""

import base64
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import bucket
import verify
import witness

COUNTERSIGN, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
ORIGIN = "example.com/interop"
SEED = "5e" * 32
TRIALS = 2000


def run(*arguments, code=0):
    done = subprocess.run([COUNTERSIGN, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (arguments, done)
    return done


def log_key():
    public = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED)).public_key().public_bytes_raw()
    data = b"\x01" + public
    hash_text = verify.sha256(ORIGIN.encode() + b"\n" + data)[:4].hex()
    return f"{ORIGIN}+{hash_text}+{base64.b64encode(data).decode()}"


class Gateway:
    def __init__(self, folder, anchors):
        self.config, self.data = folder / "config.json", folder / "data"
        activity = {"log_origin": ORIGIN, "signing_key": SEED, "anchors": anchors}
        self.config.write_text(json.dumps({"mcpServers": {}, "activity": activity}))

    def serve(self):
        """Calls each tool of the demo once, and stops in good order. Gives what it printed."""
        command = [COUNTERSIGN, "serve", "--demo", "--config", self.config, "--data-dir", self.data, "--listen", "127.0.0.1:0"]
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in gateway.stderr:
            if "Ctrl-C" in line:
                break
        gateway.send_signal(signal.SIGTERM)
        printed, errors = gateway.communicate(timeout=60)
        assert gateway.returncode == 0, (gateway.returncode, errors)
        return printed, errors

    def options(self):
        return "--config", self.config, "--data-dir", self.data

    def records(self):
        listing = run("activity", "list", "-o", "json", "-n", "1000", *self.options())
        return json.loads(listing.stdout)["activities"]

    def verify(self, *more, code=0):
        return run("activity", "verify", *self.options(), *more, code=code).stdout


def accepts(receipt, keys):
    try:
        verify.verify(receipt, keys)
    except verify.Refused:
        return False
    return True


def forgeries(receipt):
    """Receipts in which something was changed: any bit of the text, any bit of what `extra` holds, a line left out."""
    generator = random.Random(1)

    def flipped(data):
        data = bytearray(data)
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(7)
        return bytes(data)

    before, rest = receipt.split("extra ", 1)
    encoded, after = rest.split("\n", 1)
    for _ in range(TRIALS):
        yield flipped(receipt.encode()).decode(errors="replace")
        extra = flipped(base64.b64decode(encoded)).decode(errors="replace").encode()
        yield f"{before}extra {base64.b64encode(extra).decode()}\n{after}"
    lines = receipt.split("\n")
    for at in range(len(lines) - 1):
        yield "\n".join(lines[:at] + lines[at + 1 :])


def check_receipts(folder, gateway, keys):
    receipts = {}
    for record in gateway.records():
        path = folder / f"{record['id']}.tlog-proof"
        written = run("activity", "receipt", record["id"], *gateway.options(), "--output", path)
        assert log_key() in written.stderr, written
        receipts[record["id"]] = path.read_text()
        given = [argument for key in keys for argument in ("--key", key)]
        checked = run("activity", "verify-receipt", path, *given, "-o", "json")
        assert json.loads(checked.stdout)["record"]["id"] == record["id"]
        run("activity", "verify-receipt", path, "--key", "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29", code=1)
    keys = [verify.Key(key) for key in keys]
    for name, receipt in receipts.items():
        text, origin, _ = verify.verify(receipt, keys)
        assert (json.loads(text)["id"], origin) == (name, ORIGIN)
    sizes = sorted(map(len, receipts.values()))
    print(f"accepted {len(receipts)} receipts of {sizes[0]} to {sizes[-1]} bytes, cosigned by {witness.NAME}")
    return list(receipts.values())


def check_forgeries(folder, receipts, keys):
    verifier_keys = [verify.Key(key) for key in keys]
    count = 0
    for receipt in receipts[:3]:
        for forged in forgeries(receipt):
            if forged != receipt:
                assert not accepts(forged, verifier_keys), forged
                count += 1
    # Countersign's own verifier, with some of them.
    path = folder / "forged"
    for forged in list(forgeries(receipts[0]))[:40]:
        if forged != receipts[0]:
            path.write_text(forged)
            run("activity", "verify-receipt", path, "--key", keys[0], "--key", keys[1], code=1)
    other = verify.Key("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    assert not accepts(receipts[0], [other])
    print(f"refused {count} forged receipts")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
    heads, place = folder / "heads", witness.Witness()
    place.log_key = verify.Key(log_key())
    url = place.start()
    locked = bucket.Bucket()
    store = f"s3:{bucket.REGION} {bucket.KEY_ID} {bucket.SECRET} {bucket.TOKEN}"
    wrong = f"s3:{bucket.REGION} {bucket.KEY_ID} another-secret {bucket.TOKEN}"
    objects = locked.start()
    anchors = [
        f"file:{heads}", "stdout", f"post:{url}/heads", f"put:{url}/bucket/{{size}}.note",
        f"{store} {objects}/heads/of%20all+gateways/{{size}}.note", f"{wrong} {objects}/stolen/{{size}}.note",
        f"witness:{place.verifier_key()} {url}/prefix",
    ]
    gateway = Gateway(folder, anchors)
    gateway.serve()
    backup = folder / "backup"
    shutil.copytree(gateway.data, backup)
    printed, _ = gateway.serve()
    # A place that is slow gets the newest head only, so places may have different heads; each has the last one.
    for note in place.posted:
        text, signed = verify.open_note(note, [place.log_key])
        assert signed and place.put.get(f"/bucket/{text.splitlines()[1]}.note", note) == note, note
    last = place.posted[-1]
    assert last in printed and heads.read_text().endswith(f"{last}\n") and last in place.put.values(), printed
    assert last in locked.objects.values() and all(name.startswith("/heads/of all+gateways/") for name in locked.objects)
    assert set(locked.refused) == {"a wrong signature"}, locked.refused
    shown = run("config", "show", "--config", gateway.config).stdout
    assert bucket.REGION in shown and not any(key in shown for key in (bucket.KEY_ID, bucket.SECRET, bucket.TOKEN)), shown
    assert place.statuses.count(200) >= 2 and 409 in place.statuses and 422 not in place.statuses, place.statuses
    print(f"published {len(place.posted)} heads to a file, standard output, by POST, by PUT, to a bucket and to a witness")

    keys = [log_key(), place.verifier_key()]
    receipts = check_receipts(folder, gateway, keys)
    check_forgeries(folder, receipts, keys)

    assert "published log heads agree" in gateway.verify("--anchor", heads)
    assert "not known without --anchor" in gateway.verify()
    shutil.rmtree(gateway.data)
    shutil.copytree(backup, gateway.data)
    gateway.verify()
    assert "older copy" in gateway.verify("--anchor", heads, code=1)
    published = heads.read_text()
    _, errors = gateway.serve()
    assert "rolled back" in errors or "replaced" in errors, errors
    (folder / "published").write_text(published)
    gateway.verify()
    gateway.verify("--anchor", folder / "published", code=1)
    print("a store that was rolled back is found with the published heads, and by the witness, and not without")
    shutil.rmtree(folder)


main()
