"""The cells: every client through every way to every server over every transport. Each lists, calls and compares bytes."""

import asyncio
import json
from dataclasses import dataclass

from . import check, clients, spans, tee
from .direct import LEGACY, MODERN, Direct, Http, Sse, Stdio
from .gateway import Gateway, upstreams
from .servers import servers

ROUTER = ["retrieve_tools", "describe_tool", "call_tool_read", "call_tool_write", "call_tool_destructive"]
TRANSPORTS = {"stdio": "stdio", "http": "Streamable HTTP", "sse": "HTTP+SSE"}
WAYS = {
    "one": "`serve`, `/mcp/s/<server>`",
    "all": "`serve`, `/mcp/all`",
    "router": "`serve`, `/mcp/call`",
    "wrap": "`wrap`",
}
# Processes of clients at once.
AT_ONCE = 3


@dataclass
class Cell:
    """What came of one client: why it failed, if it did, and the version it spoke."""

    failure: str | None = None
    version: str | None = None


@dataclass
class Row:
    """One server over one transport, through one way: what the cells of all clients have in common."""

    server: object
    transport: str
    way: str
    direct: object
    cells: dict
    # The server's entry in the gateway's configuration.
    how: dict

    @property
    def upstream(self):
        return self.server.name if self.transport == "stdio" else f"{self.server.name}-{self.transport}"

    def path(self):
        return {"one": f"/mcp/s/{self.upstream}", "all": "/mcp/all", "router": "/mcp/call"}[self.way]

    def rename(self, name):
        return f"{self.upstream}__{name}" if self.way == "all" else name

    def call(self, call):
        """What the client is to call for this."""
        if self.way != "router":
            return {"name": self.rename(call.tool), "arguments": call.arguments}
        hints = json.loads(spans.members(self.direct.tools[call.tool]).get("annotations", "{}"))
        kind = "destructive"
        if hints.get("readOnlyHint"):
            kind = "read"
        elif hints.get("destructiveHint") is False:
            kind = "write"
        return {"name": f"call_tool_{kind}", "arguments": {"name": f"{self.upstream}:{call.tool}", "args": call.arguments}}


async def run(processes, tools, folder):
    """Every row, with the outcome of each of its cells."""
    entries, rows = {}, []
    for server in servers(tools, folder):
        entry = await asyncio.to_thread(upstreams, processes, tools, server)
        for transport, how in entry.items():
            name = server.name if transport == "stdio" else f"{server.name}-{transport}"
            entries[name] = how
            direct = await asyncio.to_thread(ask, how, transport, server)
            rows.append(Row(server, transport, "one", direct, {}, how))
            also = {"stdio": ["all", "wrap"], "http": ["router"]}.get(transport, [])
            rows += [Row(server, transport, way, direct, {}, how) for way in also]
    gateway = await asyncio.to_thread(Gateway, processes, tools, folder, entries)
    gate = asyncio.Semaphore(AT_ONCE)
    jobs = []
    for client in clients.clients(tools):
        for ways in (["one", "all", "router"], ["wrap"]):
            share = [row for row in rows if row.way in ways]
            parts = [share] if client.script else [[row] for row in share]
            jobs += [attend(gate, gateway, client, tools, folder, part) for part in parts]
    await asyncio.gather(*jobs)
    return rows


def ask(how, transport, server, capabilities=None, legacy=False):
    """The server by itself, to a client with these capabilities."""
    if transport == "stdio":
        return Direct(Stdio(server.command), server.calls, capabilities, legacy)
    return Direct({"http": Http, "sse": Sse}[transport](how["url"]), server.calls, capabilities, legacy)


async def attend(gate, gateway, client, tools, folder, rows):
    async with gate:
        listeners, targets = [], []
        for row in rows:
            name = f"{client.title.replace('`', '').replace(' ', '')}-{row.upstream}-{row.way}"
            target = {"id": name, "calls": [row.call(call) for call in row.server.calls]}
            if row.way == "wrap":
                wrap = [tools.countersign, "wrap", "--config", str(tools.wrap_config), "--name", row.server.name, "--"]
                target["command"], target["args"] = tee.piped(folder / name, [*wrap, *row.server.command])
                listeners.append(None)
            else:
                listener = await tee.Listener(gateway.host, gateway.port).__aenter__()
                target["url"], target["headers"] = listener.address + row.path(), gateway.headers
                listeners.append(listener)
            targets.append(target)
        reports = await clients.attend(client, tools, targets, folder)
        for row, target, listener in zip(rows, targets, listeners):
            wire = listener.wire() if listener else tee.wire_of_pipes(folder / target["id"])
            if listener:
                await listener.__aexit__()
            direct = await asyncio.to_thread(said_to, row, wire)
            row.cells[client.title] = outcome(row, direct, reports[target["id"]], wire)


def said_to(row, wire):
    """What the server says to a client like this one. `wrap` passes its questions on and speaks the client's own era; so does
    `/mcp/s/<server>` before a legacy server over HTTP, where each client has a session of its own."""
    legacy, capabilities = bool(wire.answers("initialize")), wire.capabilities()
    can_be_asked = bool(capabilities.keys() & {"sampling", "elicitation", "roots"})
    if row.way == "wrap" and (legacy or can_be_asked):
        return ask(row.how, "stdio", row.server, capabilities, legacy)
    has_own_session = row.way == "one" and row.transport != "stdio" and row.direct.version == LEGACY
    if has_own_session and legacy and can_be_asked:
        return ask(row.how, row.transport, row.server, capabilities, legacy)
    return row.direct


def outcome(row, direct, report, wire):
    cell = Cell()
    try:
        greetings = wire.answers("initialize")
        cell.version = json.loads(greetings[0]["result"])["protocolVersion"] if greetings else MODERN
        judge(row, direct, report, wire, legacy=bool(greetings))
    except (check.Differs, ValueError, LookupError, TypeError) as error:
        reason = str(error) if isinstance(error, check.Differs) else repr(error)
        cell.failure = " ".join(reason.replace("|", "/").split())
    return cell


def judge(row, direct, report, wire, legacy):
    if "error" in report:
        raise check.Differs(report["error"])
    listed = spans.elements(spans.members(wire.answers("tools/list")[0]["result"])["tools"])
    names = [json.loads(spans.members(tool)["name"]) for tool in listed]
    if report["tools"] != names:
        raise check.Differs("the client shows other tools than it was sent")
    if row.way == "router":
        if names != ROUTER:
            raise check.Differs(f"lists {names}")
    else:
        if row.way == "all":
            listed = [tool for tool, name in zip(listed, names) if name.startswith(f"{row.upstream}__")]
        check.tools(direct.tools, listed, row.rename, legacy)
    answered = wire.answers("tools/call")
    if len(answered) != len(report["calls"]) or not answered:
        raise check.Differs(f"{len(answered)} calls on the wire, {len(report['calls'])} made")
    for call, said, answer, shown in zip(row.server.calls, direct.results, answered, report["calls"]):
        if answer is None or "result" not in answer:
            raise check.Differs(f"{call.tool} was answered with {answer}")
        merged = row.upstream if row.way in ("all", "router") else None
        check.result(call.tool, said, answer["result"], legacy, merged)
        check.client(call.tool, shown, answer["result"])
