"""A conversation with a server without any library and without the gateway: what it says, byte for byte.

The server is asked in the way the gateway asks: as a modern one first, as a legacy one if it is none, and by `wrap` before a
legacy client as a legacy one only.
"""

import http.client
import json
import queue
import subprocess
import threading
import urllib.parse

from . import spans
from .http import events, messages

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
PATIENCE = 30


class Refused(Exception):
    """The server answered with an error."""


class Stdio:
    """One child over its pipes."""

    def __init__(self, command):
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._child.stdout:
            self._lines.put(line.decode("utf-8").rstrip("\n"))

    def send(self, message, _headers):
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        self._child.stdin.flush()
        while "id" in message:
            answer = self._lines.get(timeout=PATIENCE)
            if answer_to(answer, message["id"]):
                return answer

    def close(self):
        self._child.stdin.close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Http:
    """Streamable HTTP."""

    def __init__(self, url):
        self._url = urllib.parse.urlsplit(url)
        self._session = None

    def send(self, message, headers):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        connection = http.client.HTTPConnection(self._url.netloc, timeout=PATIENCE)
        connection.request("POST", self._url.path, json.dumps(message), headers)
        response = connection.getresponse()
        self._session = response.getheader("Mcp-Session-Id") or self._session
        answers = (text for text in _said(response) if "id" in message and answer_to(text, message["id"]))
        answer = next(answers, None)
        connection.close()
        if "id" in message and answer is None:
            raise Refused(f"HTTP {response.status}")
        return answer

    def close(self):
        if self._session:
            connection = http.client.HTTPConnection(self._url.netloc, timeout=PATIENCE)
            connection.request("DELETE", self._url.path, headers={"Mcp-Session-Id": self._session})
            connection.getresponse().read()
            connection.close()


def _said(response):
    """The messages of a response, as they come: a stream need not end with the answer."""
    kind = response.getheader("Content-Type", "")
    if not kind.startswith("text/event-stream"):
        yield from messages({"content-type": kind}, response.read())
        return
    block = b""
    while line := response.readline():
        block += line
        for _name, data in events(block):
            block = b""
            if data:
                yield data


class Sse:
    """The transport before it: one stream to listen to, one address to post to."""

    def __init__(self, url):
        self._origin = urllib.parse.urlsplit(url).netloc
        self._stream = http.client.HTTPConnection(self._origin, timeout=PATIENCE)
        self._stream.request("GET", urllib.parse.urlsplit(url).path, headers={"Accept": "text/event-stream"})
        self._response = self._stream.getresponse()
        self._address = self._event("endpoint")

    def _event(self, wanted):
        block = b""
        while True:
            block += self._response.readline()
            for name, data in events(block):
                block = b""
                if name == wanted:
                    return data

    def send(self, message, _headers):
        connection = http.client.HTTPConnection(self._origin, timeout=PATIENCE)
        connection.request("POST", self._address, json.dumps(message), {"Content-Type": "application/json"})
        connection.getresponse().read()
        connection.close()
        while "id" in message:
            answer = self._event("message")
            if answer_to(answer, message["id"]):
                return answer

    def close(self):
        self._stream.close()


def answer_to(text, number):
    said = spans.members(text)
    return said.get("id") == json.dumps(number) and ("result" in said or "error" in said)


class Direct:
    """What a server said: its tools by name, and the results of the calls, as they were written."""

    def __init__(self, transport, calls, capabilities=None, legacy=False):
        self._transport = transport
        self._capabilities = capabilities or {}
        self._last = 0
        self._modern = False
        self._greet(legacy)
        listed = spans.members(self._ask("tools/list", {}))
        if "nextCursor" in listed:
            raise Refused("a list of several pages")
        self.version = MODERN if self._modern else LEGACY
        self.tools = {json.loads(spans.members(tool)["name"]): tool for tool in spans.elements(listed["tools"])}
        self.results = [self._ask("tools/call", {"name": call.tool, "arguments": call.arguments}) for call in calls]
        transport.close()

    def _greet(self, legacy):
        self._modern = not legacy
        try:
            if self._modern and MODERN in json.loads(spans.members(self._ask("server/discover", {}))["supportedVersions"]):
                return
        except Refused:
            pass
        self._modern = False
        who = {"protocolVersion": LEGACY, "capabilities": self._capabilities, "clientInfo": {"name": "direct", "version": "0"}}
        self._ask("initialize", who)
        self._transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"MCP-Protocol-Version": LEGACY})

    def _ask(self, method, params):
        self._last += 1
        headers = {} if method == "initialize" else {"MCP-Protocol-Version": LEGACY}
        if self._modern:
            params = {**params, "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "direct", "version": "0"},
            }}
            headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        answer = spans.members(self._transport.send(message, headers))
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]
