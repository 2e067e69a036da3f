"""The clients of the matrix. Each is given targets and says what its library made of them."""

import asyncio
import json
from dataclasses import dataclass

TIME = 600


@dataclass
class Client:
    title: str
    package: str
    # The job of the library's script, or none: then it is the inspector, a process a request.
    script: list | None = None
    era: str | None = None


def clients(tools):
    node = [tools.node]
    return [
        Client("TypeScript 1", "@modelcontextprotocol/sdk", [*node, tools.client("typescript1.mjs")]),
        Client("TypeScript 2", "@modelcontextprotocol/client", [*node, tools.client("typescript2.mjs")], "legacy"),
        Client("TypeScript 2, `auto`", "@modelcontextprotocol/client", [*node, tools.client("typescript2.mjs")], "auto"),
        Client("Python 1", "mcp", [tools.python(1), tools.client("python1.py")]),
        Client("Python 2", "mcp", [tools.python(2), tools.client("python2.py")]),
        Client("inspector", "@modelcontextprotocol/inspector"),
    ]


async def attend(client, tools, targets, work):
    """The report of each target, by its id."""
    if client.script is None:
        return {target["id"]: await _inspect(tools, target) for target in targets}
    job = work / f"{targets[0]['id'].replace('/', '-')}.json"
    job.write_text(json.dumps({"era": client.era, "targets": targets}))
    out, err = await _run([*client.script, str(job)], tools)
    reports = {report["id"]: report for report in map(json.loads, out.splitlines())}
    missing = {"error": f"the client ended without a word: {err[-300:]}"}
    return {target["id"]: reports.get(target["id"], missing) for target in targets}


async def _inspect(tools, target):
    """The list, and the first call: each is a process of its own."""
    base = [tools.node, tools.module("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"]
    if "url" in target:
        header = [f"{name}: {value}" for name, value in target["headers"].items()]
        base += [target["url"], "--transport", "http", "--header", *header]
    else:
        base += [target["command"], *target["args"]]
    base += ["--format", "json", "--quiet", "--connect-timeout", "60000"]
    report = {"calls": []}
    out, err = await _run([*base, "--method", "tools/list"], tools)
    try:
        report["tools"] = [tool["name"] for tool in _payload(out)["tools"]]
    except (ValueError, KeyError) as error:
        return {"error": f"the inspector lists nothing: {error!r} {out[-200:]} {err[-200:]}"}
    for call in target["calls"][:1]:
        arguments = ["--tool-name", call["name"], "--tool-args-json", json.dumps(call["arguments"])]
        out, err = await _run([*base, "--method", "tools/call", *arguments], tools)
        try:
            result = _payload(out)
            report["calls"].append({"structured": result.get("structuredContent"), "isError": result.get("isError") is True})
        except ValueError:
            report["calls"].append({"threw": (err or out)[-300:]})
    return report


def _payload(out):
    said = json.loads(out)
    return said.get("result", said)


async def _run(command, tools):
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        cwd=tools.work, limit=1 << 26,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), TIME)
    except asyncio.TimeoutError:
        process.kill()
        return "", f"no end after {TIME} s"
    return out.decode(), err.decode(errors="replace")
