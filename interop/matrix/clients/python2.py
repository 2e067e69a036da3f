"""The Python SDK 2.x, in the era it picks by itself. It validates every result of a tool that declares a schema."""

import asyncio
import contextlib
import types

import httpx2
from job import attend, job
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


@contextlib.asynccontextmanager
async def connect(target):
    changed = asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        if "url" in target:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=target["headers"], timeout=60))
            server = streamable_http_client(target["url"], http_client=http)
        else:
            server = StdioServerParameters(command=target["command"], args=target["args"])
        client = await stack.enter_async_context(Client(server))
        if any(call.get("listen") for call in target["calls"]):
            news = await stack.enter_async_context(client.listen(tools_list_changed=True))
            waiting = asyncio.create_task(first(news, changed))
            stack.callback(waiting.cancel)
        yield types.SimpleNamespace(
            changed=changed,
            list_tools=client.list_tools,
            call_tool=client.call_tool,
        )


async def first(news, changed):
    async for _ in news:
        changed.set()
        return


attend(job()["targets"], connect)
