"""The Python SDK 1.x."""

import asyncio
import contextlib

from everything import Client, attend, callbacks, plain
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


class Client1(Client):
    def start(self, name, arguments, progress):
        """A call, and what gives it up. The library has no way to cancel a request, so the notification is sent by hand."""
        number = self.session._request_id
        call = asyncio.create_task(self.call(name, arguments, progress))

        async def give_up(reason):
            params = types.CancelledNotificationParams(requestId=number, reason=reason)
            await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
            call.cancel()

        return call, give_up


@contextlib.asynccontextmanager
async def connect(target, person):
    if "url" in target:
        transport = streamablehttp_client(target["url"], headers=target["headers"])
    else:
        transport = stdio_client(StdioServerParameters(command=target["command"], args=target["args"]))
    async with transport as streams:
        async with ClientSession(streams[0], streams[1], **callbacks(person, types)) as session:
            yield Client1(session, types, plain(await session.initialize()))


attend(connect)
