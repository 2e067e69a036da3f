"""A witness, written from https://c2sp.org/tlog-witness and RFC 9162, and a place that takes log heads by POST and PUT."""

import base64
import hashlib
import http.server
import threading
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import verify

NAME = "witness.example/w1"


def is_consistent(old, old_root, size, root, path):
    """RFC 9162, section 2.1.4.2."""
    if old == size:
        return not path and old_root == root
    if old & (old - 1) == 0:
        path = [old_root, *path]
    if not path:
        return False
    fn, sn = old - 1, size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    first = second = path[0]
    for sibling in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            first = verify.sha256(b"\x01" + sibling + first)
            second = verify.sha256(b"\x01" + sibling + second)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            second = verify.sha256(b"\x01" + second + sibling)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and first == old_root and second == root


class Witness:
    def __init__(self):
        self.key = Ed25519PrivateKey.generate()
        self.log_key = None
        self.size, self.root = 0, None
        self.statuses, self.posted, self.put = [], [], {}

    def verifier_key(self):
        data = b"\x04" + self.key.public_key().public_bytes_raw()
        hash_text = verify.sha256(NAME.encode() + b"\n" + data)[:4].hex()
        return f"{NAME}+{hash_text}+{base64.b64encode(data).decode()}"

    def add_checkpoint(self, body):
        status, answer = self.answer(body)
        self.statuses.append(status)
        return status, answer

    def answer(self, body):
        head, note = body.split("\n\n", 1)
        old, *proof = head.split("\n")
        old = verify.decimal(old.removeprefix("old "))
        proof = [verify.digest(line) for line in proof]
        text, signed = verify.open_note(note, [self.log_key])
        if not signed:
            return 403, ""
        _, size, root = text[:-1].split("\n")
        size, root = verify.decimal(size), verify.digest(root)
        if old > size or len(proof) > 63:
            return 400, ""
        if old != self.size:
            return 409, f"{self.size}\n"
        if old == 0:
            holds = not proof
        else:
            holds = is_consistent(old, self.root, size, root, proof)
        if not holds:
            return 422, ""
        self.size, self.root = size, root
        now = int(time.time())
        signature = self.key.sign(b"cosignature/v1\ntime %d\n" % now + text.encode())
        key_id = bytes.fromhex(self.verifier_key().split("+")[1])
        line = base64.b64encode(key_id + now.to_bytes(8, "big") + signature).decode()
        # A line of an unknown key, which has to be ignored, comes first.
        return 200, f"\u2014 other.example AAAAAAAAAAAA\n\u2014 {NAME} {line}\n"

    def start(self):
        witness = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                if self.path == "/prefix/add-checkpoint":
                    return self.reply(*witness.add_checkpoint(body))
                witness.posted.append(body)
                return self.reply(204, "")

            def do_PUT(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                witness.put[self.path] = body
                self.reply(200, "")

            def reply(self, status, text):
                data = text.encode()
                self.send_response(status)
                if status != 204:
                    self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"
