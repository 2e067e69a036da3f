"""A rolling restart of both gateways while four client libraries call a tool without a pause and other clients listen.

A gateway that stops ends its streams. The proxy must not use their connections for the calls of the libraries."""

import json
import subprocess

from driver.clients import clients
from driver.gateway import PATIENCE

from .gateway import KEYS, wait_until
from .streams import Streams

LIBRARIES = ("TypeScript 1", "TypeScript 2", "Python 1", "Python 2")


def a_rolling_restart_fails_no_call(port, gateways, tools, folder):
    until = folder / f"until-{port}"
    streams, running = Streams(port), {}
    for client in clients(tools):
        if client.title in LIBRARIES:
            running[client.title] = start(client, port, tools, folder, until)
    wait_until(lambda: all(began(client, port, folder).exists() for client in running), "every client calls")
    for gateway in gateways:
        gateway.stop()
        gateway.start()
        wait_until(lambda: gateway.calls() > 20, f"{gateway.name} is used again")
    until.touch()
    streams.stop()
    complaints, calls = list(streams.failed), []
    for title, process in running.items():
        out, err = process.communicate(timeout=PATIENCE)
        found, count = judge(title, out, err)
        complaints += found
        calls.append(f"{title} {count}")
    print(f"  rolling restart of both: {', '.join(calls)} calls")
    return complaints


def start(client, port, tools, folder, until):
    job = folder / f"{client.title.replace(' ', '-')}-{port}.json"
    calls = [{"name": "echo", "arguments": {"a": 1}, "until": str(until), "began": str(began(client.title, port, folder))}]
    target = {"id": "shared", "url": f"http://127.0.0.1:{port}/mcp/s/shared", "headers": {"X-API-Key": KEYS["api_key"]}, "calls": calls}
    job.write_text(json.dumps({"era": client.era, "targets": [target]}))
    return subprocess.Popen(
        [*client.script, str(job)], cwd=tools.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def began(title, port, folder):
    """The file that a client makes after its first call."""
    return folder / f"{title.replace(' ', '-')}-{port}.began"


def judge(title, out, err):
    if not out.strip():
        return [f"{title} ended without a word: {err[-300:]}"], 0
    report = json.loads(out)
    failed = [call for call in report["calls"] if call.get("threw") or call.get("isError") or call.get("structured") != {"a": 1}]
    if "error" in report:
        failed.append(report["error"])
    few = [] if len(report["calls"]) > 50 else [f"only {len(report['calls'])} calls"]
    return [f"{title}: {len(failed)} of {len(report['calls'])} calls failed: {failed[:2]}" for _ in failed[:1]] + few, len(report["calls"])
