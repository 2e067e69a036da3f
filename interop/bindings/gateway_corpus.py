"""The corpus through `countersign wrap` and through `countersign serve`, as processes: what a client receives are the bytes
that the library emits, and the records have its decisions.

    gateway_corpus.py COUNTERSIGN VECTORS
    gateway_corpus.py replay VECTORS        the server behind both, over stdio

Every result of the corpus becomes a tool of one server, with the settings of its test under the tool's name. Left out:
results that are a whole response, a batch or no JSON object (a server on stdio cannot send them under the id it was
asked with), those between peers of the legacy era, those with limits that only a whole configuration has, and those about the name
of the tool, which is another one here.
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "corpus", "version": "0"},
}
SETTINGS = {"output_validation", "input_validation", "output_sanitisation"}
KEY = "corpus-" + "k" * 32


class Test:
    def __init__(self, number, vector):
        self.vector = vector
        self.name = f"t{number}"
        self.reply = bytes.fromhex(vector["reply"])
        declared = bytes.fromhex(vector["tool"] or "").decode() or '{"name":"plain","inputSchema":{"type":"object"}}'
        self.old = json.loads(declared)["name"]
        self.tool = declared.replace(json.dumps(self.old), json.dumps(self.name), 1)
        assert json.loads(self.tool)["name"] == self.name, declared

    def expected(self):
        """What the library emits, under the name that the tool has here."""
        old, new = f"stub:{self.old}".encode(), f"stub:{self.name}".encode()
        return bytes.fromhex(self.vector["emitted"]).replace(old, new)


def is_taken(vector):
    if (vector["era"], vector["client"], vector["id"]) != ("modern", "modern", None) or "reply" not in vector:
        return False
    reply = bytes.fromhex(vector["reply"])
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return False
    is_bare = isinstance(value, dict) and "jsonrpc" not in value and b"\n" not in reply
    return is_bare and set(vector["settings"]) <= SETTINGS and "tool name" not in vector["name"]


def read_tests(path):
    vectors = map(json.loads, open(path, encoding="utf-8"))
    return [Test(number, vector) for number, vector in enumerate(filter(is_taken, vectors))]


def replay(path):
    """A server that declares every tool, and answers each call with the bytes of its test."""
    tests = {test.name: test for test in read_tests(path)}
    tools = ",".join(test.tool for test in tests.values()).encode()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "tools/list":
            result = b'{"resultType":"complete","tools":[%b],"ttlMs":0,"cacheScope":"private"}' % tools
        elif message["method"] == "tools/call":
            result = tests[message["params"]["name"]].reply
        else:
            about = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "0"}}
            result = json.dumps({"resultType": "complete", **about, "ttlMs": 0, "cacheScope": "private"}).encode()
        response = b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (json.dumps(message["id"]).encode(), result)
        sys.stdout.buffer.write(response)
        sys.stdout.buffer.flush()


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}


def result_of(response, number):
    """The bytes of a response's result."""
    before = b'{"jsonrpc":"2.0","id":%d,"result":' % number
    assert response.startswith(before) and response.endswith(b"}"), response[:300]
    return response[len(before) : -1]


def through_wrap(binary, config, path, tests):
    command = [binary, "wrap", "--config", config, "--name", "stub", "--era", "modern", "--"]
    command += [sys.executable, __file__, "replay", path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for number, test in enumerate(tests, 1):
            line = json.dumps(request(number, "tools/call", name=test.name, arguments={})).encode()
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            yield result_of(process.stdout.readline().rstrip(b"\n"), number)
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def through_serve(binary, config, port, tests):
    with subprocess.Popen([binary, "serve", "--config", config], stdout=subprocess.DEVNULL) as process:
        try:
            wait_until_open(process, port)
            for number, test in enumerate(tests, 1):
                yield result_of(post(port, request(number, "tools/call", name=test.name, arguments={})), number)
        finally:
            process.terminate()


def wait_until_open(process, port):
    while process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("the gateway ended")


def post(port, message):
    headers = {
        "X-API-Key": KEY,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": message["method"],
        "Mcp-Name": message["params"]["name"],
    }
    address = f"http://127.0.0.1:{port}/mcp/s/stub"
    sent = urllib.request.Request(address, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(sent, timeout=60) as response:
        body = response.read()
    # A stream of one event, or the message itself.
    return body.partition(b"data: ")[2].rstrip(b"\n") if body.startswith(b"event") else body


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main(binary, path):
    tests = read_tests(path)
    assert len(tests) > 700, len(tests)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        server = {"command": sys.executable, "args": [__file__, "replay", path], "era": "modern"}
        server["tools"] = {test.name: test.vector["settings"] for test in tests}
        config = pathlib.Path(folder, "config.json")
        settings = {"listen": f"127.0.0.1:{port}", "api_key": KEY, "data_dir": folder, "mcpServers": {"stub": server}}
        config.touch(mode=0o600)
        config.write_text(json.dumps(settings), encoding="utf-8")
        ways = (("wrap", through_wrap(binary, str(config), path, tests)), ("serve", through_serve(binary, str(config), port, tests)))
        for way, results in ways:
            for test, result in zip(tests, results, strict=True):
                if result != test.expected():
                    failed += 1
                    print(f"FAILED {way}: {test.vector['name']}\n seen     {result[:600]}\n expected {test.expected()[:600]}")
            print(f"corpus through {way}: {len(tests)} results, {failed} differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1] == "replay":
        replay(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2])
