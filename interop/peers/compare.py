"""Puts one server behind each proxy in turn and compares what arrives with what was sent.

A raw client that negotiates 2025-11-25 asks the server itself, then through the proxy: for the list, then each tool. Some
proxies lose every tool over one whose schema they do not like, so the tools with such schemas are a server of their own.
"""

import json
import shutil
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from driver import direct, spans
from driver.direct import LEGACY, Http, Refused, Stdio
from driver.gateway import Gateway, Processes, free_port, wait_for_port
from driver.table import in_docs, into_docs

# A proxy that says nothing for this long has lost it.
direct.PATIENCE = 10
# Tools whose output schema is legal and not an object's, does not compile, or refers to another document.
ODD = {"true_schema", "false_schema", "uncompilable", "external_ref", "unknown_dialect"}
SAME, MEANS, CHANGED, NONE = "same", "rewritten", "**changed**", "**lost**"


class Client:
    """A legacy client; what cannot be had is None."""

    def __init__(self, transport):
        self._transport, self._last = transport, 0
        who = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "compare", "version": "0"}}
        self._ask("initialize", who)
        self._transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"MCP-Protocol-Version": LEGACY})

    def _ask(self, method, params):
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        headers = {} if method == "initialize" else {"MCP-Protocol-Version": LEGACY}
        answer = spans.members(self._transport.send(message, headers))
        if "result" not in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def tools(self):
        try:
            listed = spans.elements(spans.members(self._ask("tools/list", {}))["tools"])
        except (Refused, OSError, ValueError, KeyError):
            return {}
        return {json.loads(spans.members(tool)["name"]): tool for tool in listed}

    def call(self, name):
        try:
            return self._ask("tools/call", {"name": name, "arguments": {}})
        except (Refused, OSError, ValueError, KeyError):
            return None


def compare(sent, got):
    """How a text arrived: byte for byte, the same value written in another way, another value, or not."""
    if got is None:
        return NONE
    if got == sent:
        return SAME
    return MEANS if value(sent) == value(got) else CHANGED


def value(text):
    """What JSON means by it: members in any order but each one, numbers by what they are worth."""
    def members(pairs):
        return sorted(((name, repr(value)) for name, value in pairs), key=repr)

    def number(text):
        return Decimal(text).normalize()

    return json.loads(text, parse_float=number, parse_int=number, object_pairs_hook=members)


def scripts(preset, folder):
    """The preset as two servers: tools with object schemas or none, and all tools."""
    whole = spans.members(preset.read_text(encoding="utf-8"))
    tools = spans.elements(whole["tools"])
    plain = [tool for tool in tools if is_plain(json.loads(tool)["tool"]["name"])]
    for name, share in (("plain", plain), ("all", tools)):
        # What a server says differs by era; not every proxy speaks the same one to it.
        script = {**whole, "eras": '"legacy"', "tools": "[" + ",".join(share) + "]"}
        text = ",".join(f"{json.dumps(key)}:{value}" for key, value in script.items())
        (folder / f"{name}.json").write_text("{" + text + "}", encoding="utf-8")
    return folder / "plain.json", folder / "all.json"


def is_plain(name):
    """Whether every client takes the tool's schema."""
    return name not in ODD and (name == "error_structured" or not name.endswith(("_structured", "_root")))


class Proxies:
    """Each as its own documentation starts it before a server over stdio."""

    def __init__(self, work, binaries, folder, processes):
        self._work, self._binaries, self._folder, self._processes = work, binaries, folder, processes
        self._node = str(work / "node_modules/node/bin/node")

    def all(self):
        """name -> a function that starts it before a child, and gives its address and what goes with each request."""
        bin_ = self._work / "fastmcp/bin/fastmcp", self._work / "mcp-proxy/bin/mcp-proxy"
        local = ["--host", "127.0.0.1", "--port", "PORT"]
        bridge = [self._node, self._module("mcp-proxy/dist/bin/mcp-proxy.mjs"), *local, "--"]
        super_ = [self._node, "--require", str(self._work / "loopback.cjs"), self._module("supergateway/dist/index.js"),
                  "--outputTransport", "streamableHttp", "--stateful", "--port", "PORT", "--stdio"]
        exact = {"output_sanitisation": {"mode": "off"}, "output_validation": {"legacy_egress": "verbatim"}}
        return {
            "Countersign": self._gateway({}),
            "Countersign, told to change nothing": self._gateway(exact),
            f"FastMCP {self._installed('fastmcp')}": lambda child: self._started(
                [str(bin_[0]), "run", self._config(child), "--transport", "http", *local, "--no-banner"]),
            f"mcp-proxy (PyPI) {self._installed('mcp-proxy')}": lambda child: self._started(
                [str(bin_[1]), *local, "--pass-environment", "--", *child]),
            f"mcp-proxy (npm) {self._version('mcp-proxy')}": lambda child: self._started([*bridge, *child]),
            f"supergateway {self._version('supergateway')}": lambda child: self._started([*super_, " ".join(child)]),
        }

    def _gateway(self, settings):
        tools = type("Tools", (), {"countersign": str(self._binaries / "countersign")})

        def start(child):
            servers = {"x": {"command": child[0], "args": child[1:]}}
            name = f"gateway-{free_port()}"
            gateway = Gateway(self._processes, tools, self._folder, servers, name, **settings)
            return f"http://{gateway.host}:{gateway.port}/mcp/s/x", gateway.headers

        return start

    def _started(self, command):
        port = free_port()
        self._processes.start(f"peer-{port}", [part.replace("PORT", str(port)) for part in command])
        wait_for_port(port)
        return f"http://127.0.0.1:{port}/mcp", {}

    def _config(self, child):
        config = self._folder / f"fastmcp-{free_port()}.json"
        config.write_text(json.dumps({"mcpServers": {"x": {"command": child[0], "args": child[1:]}}}))
        return str(config)

    def _module(self, path):
        return str(self._work / "node_modules" / path)

    def _version(self, name):
        return json.loads(Path(self._module(name), "package.json").read_text())["version"]

    def _installed(self, name):
        site = next((self._work / name).glob("lib/*/site-packages"))
        return next(site.glob(f"{name.replace('-', '_')}-[0-9]*.dist-info")).name.split("-")[1].removesuffix(".dist")


class Keyed(Http):
    """With headers of the gateway's."""

    def __init__(self, url, headers):
        super().__init__(url)
        self._headers = headers

    def send(self, message, headers):
        return super().send(message, {**headers, **self._headers})


def main():
    work, binaries, preset, page = map(Path, sys.argv[1:5])
    folder = Path(tempfile.mkdtemp(prefix="peers-")).resolve()
    processes = Processes(folder)
    try:
        plain, every = ([str(binaries / "countersign-fixture"), "stdio", "--script", str(script)]
                        for script in scripts(preset, folder))
        own = Client(Stdio(plain))
        tools = own.tools()
        results = {name: own.call(name) for name in tools}
        there = len(Client(Stdio(every)).tools())
        columns, listed = {}, {}
        for name, start in Proxies(work, binaries, folder, processes).all().items():
            columns[name] = column(Client(Keyed(*start(plain))), tools, results)
            listed[name] = len(Client(Keyed(*start(every))).tools())
        text = "\n".join(table(columns, tools, listed, there))
        print(text)
        if sys.argv[5:] == ["--update"]:
            into_docs(page, text)
        elif in_docs(page) != text:
            print("the table in docs/reference/peers.md is another one")
    finally:
        processes.stop()
        shutil.rmtree(folder, ignore_errors=True)


def column(client, tools, results):
    """tool -> how it is listed, and how its result arrives."""
    listed = client.tools()
    return {tool: (compare(text, listed.get(tool)), compare(results[tool], client.call(tool))) for tool, text in tools.items()}


def table(columns, tools, listed, there):
    yield f"| what the server sends | {' | '.join(columns)} |"
    yield "|---" * (1 + len(columns)) + "|"
    for kind, place in (("result", 1), ("tool", 0)):
        for tool in tools:
            yield f"| {kind} `{tool}` | {' | '.join(column[tool][place] for column in columns.values())} |"
    for kind, place in (("results", 1), ("tools", 0)):
        counts = [sum(pair[place] == SAME for pair in column.values()) for column in columns.values()]
        yield f"| **{kind} that arrive as they were sent, of {len(tools)}** | {' | '.join(f'**{count}**' for count in counts)} |"
    yield f"| **tools listed at all, of {there}, with every kind of schema** | {' | '.join(f'**{count}**' for count in listed.values())} |"


main()
