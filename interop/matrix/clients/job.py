"""What both Python clients do with a job: connect to each target, list, call, say what came of it.

A job is a file of JSON: {"targets": [{"id", "url", "headers"} or {"id", "command", "args"}, each with "calls"]}.
One line of JSON per target goes to stdout. Before a call with "list" the tools are listed again; before one with "listen",
once the client was told that the list has changed. A call with "until" is repeated until there is a file of that name; that
of "began" is made after the first time.
"""

import asyncio
import json
import os
import sys

PATIENCE = 60


def job():
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def attend(targets, connect):
    """`connect(target)` is a context that gives a session with list_tools, call_tool and changed."""
    # A server's messages are not ours.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    async def all_of_them():
        for target in targets:
            report = {"id": target["id"], "calls": []}
            try:
                await one(target, report, connect)
            except BaseException as error:  # an exception group of the transport is as much a failure
                report["error"] = reason(error)
            print(json.dumps(report), flush=True)

    asyncio.run(all_of_them())


async def one(target, report, connect):
    async with connect(target) as session:
        report["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        for call in target["calls"]:
            if call.get("listen"):
                await asyncio.wait_for(session.changed.wait(), PATIENCE)
            if call.get("listen") or call.get("list"):
                await session.list_tools()
            report["calls"].append(await outcome(session, call))
            if "began" in call:
                open(call["began"], "w", encoding="utf-8").close()
            while "until" in call and not os.path.exists(call["until"]):
                report["calls"].append(await outcome(session, call))


async def outcome(session, call):
    try:
        result = await session.call_tool(call["name"], call["arguments"])
    except Exception as error:
        return {"threw": reason(error)}
    said = result.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {"structured": said.get("structuredContent"), "isError": said.get("isError") is True}


def reason(error):
    while isinstance(error, BaseExceptionGroup) if sys.version_info >= (3, 11) else hasattr(error, "exceptions"):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:300]
