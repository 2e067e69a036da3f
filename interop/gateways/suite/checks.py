"""What two gateways behind a proxy must keep. Each check gives the complaints it has."""

import http.client
import json
import subprocess
import threading
import time

from driver.gateway import PATIENCE

from .gateway import HEADERS, call, request, wait_until

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "0"}}}


def open_session(port):
    status, headers, _ = request(port, "POST", "/mcp/s/shared", INITIALIZE)
    if status != 200:
        raise RuntimeError(f"initialize is answered with {status}")
    return {"Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}


def both_write_and_each_sees_all(port, gateways):
    before = [gateway.calls() for gateway in gateways]
    sent = 0
    while any(gateway.calls() == count for gateway, count in zip(gateways, before)):
        status, _, body = request(port, "POST", "/mcp/s/shared", call(f"all-{sent}", "echo", number=sent))
        if status != 200:
            return [f"call {sent} is answered with {status}: {body[:200]!r}"]
        sent += 1
        if sent > 2000:
            return ["the proxy never used one of the gateways"]
    totals = [gateway.total("type=tool_call") for gateway in gateways]
    return [] if totals[0] == totals[1] >= sent else [f"after {sent} calls the gateways see {totals}"]


def chains_hold(tools, gateway):
    command = [tools.countersign, "activity", "verify", "--config", str(gateway.config)]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if verified.returncode == 0 else [f"verify: {verified.stdout[-500:]} {verified.stderr[-300:]}"]


def a_restarted_gateway_has_the_tools(gateway, stop_upstream, start_upstream):
    """Its server is away, so what it lists is what was captured before."""
    gateway.stop()
    stop_upstream()
    try:
        gateway.start()
        _, _, body = request(gateway.port, "POST", "/mcp/all", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        names = [tool["name"] for tool in json.loads(body)["result"]["tools"]]
    finally:
        start_upstream()
    wait_until(lambda: serves(gateway), f"{gateway.name} reaches its server again")
    return [] if "shared__echo" in names else [f"a restarted gateway lists {names}"]


def serves(gateway):
    status, _, body = request(gateway.port, "POST", "/mcp/s/shared", call("up", "echo", up=True))
    return status == 200 and json.loads(body).get("result", {}).get("structuredContent") == {"up": True}


def no_event_is_held_back(port):
    """Progress that a server reports arrives while its call still runs."""
    message = call("stream", "slow")
    message["params"]["_meta"] = {"progressToken": "p"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {**HEADERS, **open_session(port), "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp/s/shared", json.dumps(message), headers)
    response = connection.getresponse()
    arrived = {}
    for line in response:
        for word in (b"notifications/progress", b'"done"'):
            if word in line:
                arrived.setdefault(word, time.monotonic())
    connection.close()
    if len(arrived) != 2:
        return [f"a stream has {list(arrived)}, status {response.status}"]
    first, last = sorted(arrived.values())
    # The server waits four seconds between the two; a proxy that holds events back delivers both at once.
    return [] if last - first > 2 else [f"progress came {last - first:.2f} s before the result"]


class Load:
    """Calls from several threads, each in a session of its own, until it is stopped. Remembers which were answered."""

    def __init__(self, port, name, threads=4):
        self.answered, self.failed = [], []
        self._port, self._name, self._stop = port, name, threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(threads)]
        for thread in self._threads:
            thread.start()
        wait_until(lambda: len(self.answered) > 50, "the load has begun")

    def _run(self, thread):
        session, number = None, 0
        while not self._stop.is_set():
            identifier = f"{self._name}-{thread}-{number}"
            number += 1
            try:
                session = session or open_session(self._port)
                status, _, body = request(self._port, "POST", "/mcp/s/shared", call(identifier, "echo", of=identifier), session)
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                self.failed.append(f"{identifier}: {error!r}")
                continue
            if status == 200 and identifier.encode() in body and b'"isError":true' not in body:
                self.answered.append(identifier)
            else:
                self.failed.append(f"{identifier}: {status} {body[:200]!r}")

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def a_killed_gateway_loses_no_recorded_reply(port, victim, other, times=3):
    # The other proxy has been through this too, so the name is of this one.
    load = Load(port, f"kill-{port}")
    for _ in range(times):
        victim.kill()
        seen = len(load.answered)
        wait_until(lambda: len(load.answered) > seen + 50, "the other gateway serves")
        victim.start()
        seen = len(load.answered)
        wait_until(lambda: len(load.answered) > seen + 50, "both serve")
    load.stop()
    recorded = [record.get("request_id") for record in other.exported()]
    counts = {identifier: 0 for identifier in load.answered}
    for identifier in recorded:
        name = str(identifier).strip('"')
        if name in counts:
            counts[name] += 1
    wrong = {name: count for name, count in counts.items() if count != 1}
    print(f"  killed {times} times: {len(load.answered)} replies, {len(load.failed)} calls cut off, {len(wrong)} without one record")
    return [f"{len(wrong)} of {len(counts)} replies do not have one record: {list(wrong.items())[:3]}"] if wrong else []
