"""The Python SDK 2.x."""

import asyncio

import httpx2
from client import URL, attend, provider
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client


async def main():
    auth = provider(
        lambda callback: AuthorizationCodeResult(
            code=callback["code"], state=callback.get("state"), iss=callback.get("iss")
        )
    )
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        async with Client(streamable_http_client(URL, http_client=http)) as client:
            await attend(client)


asyncio.run(main())
