"""A classifier of one's own in forty lines: a webhook that Countersign asks about the text of tool results.

    python3 screen.py [PORT]

It needs nothing but Python. Put your own judgement into `verdict`; answer every chunk by its id, or the answer counts as
an error. The key, if WEBHOOK_KEY is set, keeps others on the machine from asking.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORDERS = re.compile(
    r"\b(ignore|disregard|forget)\b.{0,40}\b(instructions|rules|prompt)\b|\brun any command\b",
    re.IGNORECASE | re.DOTALL,
)
KEY = os.environ.get("WEBHOOK_KEY")


def verdict(text):
    if ORDERS.search(text):
        return {"action": "block", "score": 1.0, "label": "orders"}
    return {"action": "allow"}


class Screen(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if KEY and self.headers.get("Authorization") != f"Bearer {KEY}":
            return self.answer(401, {"error": "wrong key"})
        chunks = json.loads(body)["chunks"]
        self.answer(200, {"verdicts": [{"id": chunk["id"], **verdict(chunk["text"])} for chunk in chunks]})

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """What tools return is nobody's log."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9099
    server = ThreadingHTTPServer(("127.0.0.1", port), Screen)
    print(f"screening at http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
