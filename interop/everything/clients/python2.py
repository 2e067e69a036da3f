"""The Python SDK 2.x, told to speak the era of the server."""

import asyncio
import contextlib

import httpx2
import mcp
import mcp_types as types
from everything import Client, attend, callbacks, plain
from mcp.client.streamable_http import streamable_http_client


class Client2(Client):
    def start(self, name, arguments, progress):
        """A call, and what gives it up. The library cancels a request that is not waited for any more, without a reason."""
        call = asyncio.create_task(self.call(name, arguments, progress))

        async def give_up(_reason):
            call.cancel()

        return call, give_up


@contextlib.asynccontextmanager
async def connect(target, person):
    async with contextlib.AsyncExitStack() as stack:
        if "url" in target:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=target["headers"], timeout=60))
            server = streamable_http_client(target["url"], http_client=http)
        else:
            server = mcp.StdioServerParameters(command=target["command"], args=target["args"])
        client = await stack.enter_async_context(mcp.Client(server, mode="legacy", **callbacks(person, types)))
        greeting = {
            "protocolVersion": client.protocol_version, "capabilities": plain(client.server_capabilities),
            "serverInfo": plain(client.server_info), "instructions": client.instructions,
        }
        yield Client2(client, types, greeting)


attend(connect)
