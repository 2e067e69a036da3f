"""What is started for a run: servers that speak HTTP, the bridge for those that do not, and the gateway before them all."""

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import time

PATIENCE = 60


class Processes:
    """Children that end with the run."""

    def __init__(self, logs):
        self._logs = logs
        self._children = []

    def start(self, name, command, environment=None):
        log = open(self._logs / f"{name}.log", "wb")
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})}, start_new_session=True,
        )
        self._children.append(child)
        return child

    def stop(self):
        for child in self._children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for child in self._children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def upstreams(processes, tools, server):
    """transport -> the entry of the gateway's configuration. Every server is there over stdio and over HTTP."""
    entries = {"stdio": {"command": server.command[0], "args": server.command[1:]}}
    for transport, arguments in server.speaks.items():
        port = free_port()
        # server-everything ends with an unhandled rejection if a client leaves while it is asked for its roots.
        node = [server.command[0], "--unhandled-rejections=warn"]
        preload = [*node, "--require", tools.file("loopback.cjs"), *server.command[1:-1]]
        processes.start(f"{server.name}-{transport}", [*preload, *arguments], {"PORT": str(port)})
        path = "sse" if transport == "sse" else "mcp"
        entries[transport] = {"url": f"http://127.0.0.1:{port}/{path}"}
        if transport == "sse":
            entries[transport]["protocol"] = "sse"
    if "http" not in entries:
        port = free_port()
        bridge = [tools.node, tools.module("mcp-proxy/dist/bin/mcp-proxy.mjs"), "--host", "127.0.0.1", "--port", str(port)]
        processes.start(f"{server.name}-bridge", [*bridge, "--", *server.command])
        entries["http"] = {"url": f"http://127.0.0.1:{port}/mcp"}
    for entry in entries.values():
        if "url" in entry:
            wait_for_port(int(entry["url"].split(":")[2].split("/")[0]))
    return entries


class Gateway:
    """`countersign serve` over these servers, with a key."""

    def __init__(self, processes, tools, folder, servers, name="gateway", **settings):
        self.host, self.port = "127.0.0.1", free_port()
        self.key = secrets.token_hex(16)
        self.headers = {"X-API-Key": self.key}
        config = folder / f"{name}.json"
        config.touch(0o600)
        config.write_text(json.dumps({
            "listen": f"{self.host}:{self.port}", "api_key": self.key, "data_dir": str(folder / f"{name}-data"),
            "mcpServers": servers, **settings,
        }))
        processes.start(name, [tools.countersign, "serve", "--config", str(config)])
        wait_for_port(self.port)
        self._settle(servers)

    def _settle(self, servers):
        """Waits until every server is in the list: one that is slow to start would be missing from it."""
        missing, end = set(servers), time.monotonic() + PATIENCE
        while missing and time.monotonic() < end:
            listed = self.post("/mcp/all", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
            missing = set(servers) - {tool["name"].split("__")[0] for tool in listed}
        if missing:
            raise RuntimeError(f"not behind the gateway after {PATIENCE} s: {', '.join(sorted(missing))}")

    def post(self, path, message):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.request("POST", path, json.dumps(message), self.headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if response.status != 200:
            raise RuntimeError(f"the gateway answers {response.status}: {body[:200]!r}")
        return json.loads(body)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")
