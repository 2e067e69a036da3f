"""What a client that validates makes of a result that breaks its tool's schema, in warn, by `advertise_output_schema`.

The server is the fixture's demonstration server: its tool `bad_output` declares an integer and returns a string,
`text_only` declares a schema and returns text. Each client has a server of its own behind the gateway for each of them,
because what is learnt of a tool from one client's call is of use to the next.
"""

import asyncio

from . import clients
from .gateway import Gateway

# tool -> the structured content that is to arrive
TOOLS = {"bad_output": {"id": "42", "name": "Ada"}, "text_only": None}
SETTINGS = ["always", "conforming"]
# What is to happen: at the first call, at the next after the list was asked for again, and to a client that comes later.
EXPECTED = {"always": ["throws", "throws", "throws"], "conforming": ["throws", "arrives", "arrives"]}


async def run(processes, tools, folder):
    """(client, tool, way) -> what happened at each of the calls, under each setting."""
    libraries = [client for client in clients.clients(tools) if client.script]
    demo = [tools.fixture, "stdio", "--preset", "demo"]
    entries = {
        name(number, tool, setting): {
            "command": demo[0], "args": demo[1:],
            "output_validation": {"mode": "warn", "advertise_output_schema": setting},
        }
        for number in range(len(libraries)) for tool in TOOLS for setting in SETTINGS
    }
    gateway = await asyncio.to_thread(Gateway, processes, tools, folder, entries, "violating")
    found = {}
    for number, client in enumerate(libraries):
        targets = []
        for tool in TOOLS:
            for setting in SETTINGS:
                targets += three(gateway, tools, folder, demo, tool, setting, name(number, tool, setting))
        reports = await clients.attend(client, tools, targets, folder)
        for tool, structured in TOOLS.items():
            for setting in SETTINGS:
                own = name(number, tool, setting)
                served = [*outcomes(reports[own], structured), *outcomes(reports[f"{own}-later"], structured)]
                found[client.title, tool, setting, "serve"] = served
                found[client.title, tool, setting, "wrap"] = outcomes(reports[f"{own}-wrap"], structured)
    return found


def name(number, tool, setting):
    return f"{tool[:3]}-{setting}-{number}"


def three(gateway, tools, folder, demo, tool, setting, server):
    """A client that calls twice, one that comes later, and one that calls twice through `wrap`."""
    serve = {"url": f"http://{gateway.host}:{gateway.port}/mcp/s/{server}", "headers": gateway.headers}
    wrap = ["wrap", "--config", str(folder / "violating.json"), "--name", server, "--", *demo]
    call = {"name": tool, "arguments": {}}
    again = "listen" if setting == "conforming" else "list"
    return [
        {"id": server, **serve, "calls": [call, {**call, again: True}]},
        {"id": f"{server}-later", **serve, "calls": [call]},
        {"id": f"{server}-wrap", "command": tools.countersign, "args": wrap, "calls": [call, {**call, again: True}]},
    ]


def outcomes(report, structured):
    said = [threw(call["threw"]) if "threw" in call else arrived(call, structured) for call in report["calls"]]
    return [*said, report["error"]] if "error" in report else said


def threw(text):
    """Each library says so in its own words; anything else that went wrong is not this."""
    about_it = "tructured content" in text or "output schema" in text
    return "throws" if about_it else f"throws {text}"


def arrived(call, structured):
    return "arrives" if call.get("structured") == structured and not call["isError"] else f"arrives as {call}"


def failures(found):
    for (title, tool, setting, way), said in found.items():
        expected = EXPECTED[setting][: 3 if way == "serve" else 2]
        if said != expected:
            yield f"{title}, {tool}, {setting}, {way}: {said}, not {expected}"
