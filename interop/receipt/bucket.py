"""A bucket that takes only objects with a good signature, written from the documentation of Amazon S3 ("Authenticating
Requests: Using the Authorization Header")."""

import base64
import datetime
import hashlib
import hmac
import http.server
import re
import threading
import urllib.parse

KEY_ID, SECRET, TOKEN, REGION = "AKIDINTEROP", "se/cr+et=of-the-store", "to/ken+==", "eu-central-2"
FORM = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})")


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def refusal(method, path, headers, body):
    """Why the request is refused; nothing if it is not."""
    form = FORM.fullmatch(headers.get("authorization", ""))
    if not form:
        return "no signature"
    credential, names, signature = form.groups()
    key_id, date, *scope = credential.split("/")
    if (key_id, scope) != (KEY_ID, [REGION, "s3", "aws4_request"]):
        return "another key or scope"
    time = headers["x-amz-date"]
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(time + "+0000", "%Y%m%dT%H%M%SZ%z")
    if abs(age.total_seconds()) > 15 * 60 or not time.startswith(date):
        return "not of now"
    if headers["x-amz-security-token"] != TOKEN:
        return "another session"
    signed = names.split(";")
    must = {"host", *(name for name in headers if name.startswith("x-amz-"))}
    if signed != sorted(signed) or not must <= set(signed):
        return f"not signed: {must - set(signed)}"
    digest = hashlib.sha256(body)
    if headers["x-amz-content-sha256"] != digest.hexdigest():
        return "another body"
    if headers["x-amz-checksum-sha256"] != base64.b64encode(digest.digest()).decode():
        return "another checksum"
    uri = urllib.parse.quote(urllib.parse.unquote(path), safe="/-._~")
    lines = [f"{name}:{headers[name].strip()}" for name in signed]
    canonical = "\n".join([method, uri, "", *lines, "", names, digest.hexdigest()])
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", time, "/".join([date, *scope]), hashed])
    key = f"AWS4{SECRET}".encode()
    for part in (date, *scope):
        key = sign(key, part)
    return None if hmac.compare_digest(sign(key, text).hex(), signature) else "a wrong signature"


class Bucket:
    def __init__(self):
        self.objects, self.refused = {}, []

    def start(self):
        bucket = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                if why := refusal("PUT", self.path, headers, body):
                    bucket.refused.append(why)
                else:
                    bucket.objects[urllib.parse.unquote(self.path)] = body.decode()
                self.send_response(403 if why else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"
