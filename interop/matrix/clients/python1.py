"""The Python SDK 1.x. It validates every result of a tool that declares a schema."""

import asyncio
import contextlib
import types

from job import attend, job
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@contextlib.asynccontextmanager
async def connect(target):
    changed = asyncio.Event()

    async def news(message):
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            changed.set()

    if "url" in target:
        transport = streamablehttp_client(target["url"], headers=target["headers"])
    else:
        transport = stdio_client(StdioServerParameters(command=target["command"], args=target["args"]))
    async with transport as streams:
        async with ClientSession(streams[0], streams[1], message_handler=news) as session:
            await session.initialize()
            yield types.SimpleNamespace(
                changed=changed,
                list_tools=session.list_tools,
                call_tool=session.call_tool,
            )


attend(job()["targets"], connect)
