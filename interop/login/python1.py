"""The Python SDK 1.x."""

import asyncio

import httpx
from client import URL, attend, provider
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main():
    auth = provider(lambda callback: (callback["code"], callback.get("state")))
    try:
        await connect(auth)
    except* httpx.HTTPStatusError:
        # It signs in once per request, and the first token lacks a scope: the next request steps up.
        print("again, with more scope")
    else:
        return
    await connect(auth)


async def connect(auth):
    async with streamablehttp_client(URL, auth=auth) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            await attend(session)


asyncio.run(main())
