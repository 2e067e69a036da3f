"""A gateway that can be stopped, killed and started again on the same port."""

import http.client
import json
import re
import signal
import time

from driver.gateway import PATIENCE, free_port

KEYS = {
    "api_key": "cs_a-key-for-both-gateways",
    "admin_key": "csa_another-key-for-both",
    "session_key": "a session key that both gateways have",
}
SIGNING_KEY = "00112233445566778899aabbccddeeff" * 2
HEADERS = {"X-API-Key": KEYS["api_key"], "Content-Type": "application/json"}


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)


def request(port, method, path, message=None, headers=None):
    """The status, the headers and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        body = None if message is None else json.dumps(message)
        connection.request(method, path, body, {**HEADERS, **(headers or {})})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def call(identifier, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


class Gateway:
    def __init__(self, name, processes, tools, folder, database, upstream):
        self.name, self.port = name, free_port()
        self._processes, self._tools = processes, tools
        self.config, self.data = folder / f"{name}.json", folder / f"{name}-data"
        self.config.touch(0o600)
        self.config.write_text(json.dumps({
            "listen": f"127.0.0.1:{self.port}", "data_dir": str(self.data), "storage": {"url": database.url}, **KEYS,
            "activity": {"signing_key": SIGNING_KEY}, "mcpServers": {"shared": {"url": upstream, "era": "legacy"}},
        }))
        self.start()

    def start(self):
        command = [self._tools.countersign, "serve", "--config", str(self.config)]
        self._process = self._processes.start(f"{self.name}-{time.monotonic_ns()}", command)
        wait_until(self.is_ready, f"{self.name} is ready")

    def is_ready(self):
        try:
            return request(self.port, "GET", "/readyz")[0] == 200
        except OSError:
            return False

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(PATIENCE)
        if code != 0:
            raise RuntimeError(f"{self.name} ended with {code}")

    def kill(self):
        self._process.kill()
        self._process.wait()

    def calls(self):
        """How many calls this process has answered."""
        text = request(self.port, "GET", "/metrics")[2].decode()
        return sum(int(count) for count in re.findall(r"^countersign_calls_total\{.*\} (\d+)$", text, re.M))

    def total(self, query):
        status, _, body = request(self.port, "GET", f"/api/v1/activity?total=true&limit=1&{query}")
        if status != 200:
            raise RuntimeError(f"{self.name} answers {status}: {body[:200]!r}")
        return json.loads(body)["total"]

    def exported(self):
        body = request(self.port, "GET", "/api/v1/activity/export?format=jsonl&type=tool_call")[2]
        return [json.loads(line) for line in body.splitlines() if line]
