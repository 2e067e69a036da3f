"""What both Python clients do: sign in when they are told to, call a tool, wait until the token has expired, call again."""

import asyncio
import pathlib
import subprocess
import sys
import urllib.parse

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

NAME, URL, TOOL, WAIT, NODE = sys.argv[1:]
REDIRECT = "http://127.0.0.1:1/callback"


class Memory:
    """Everything that a client remembers about an authorization server."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(answer):
    """`answer` makes what the SDK wants to know from the parameters of the callback."""
    callback = {}

    async def redirect(address):
        browser = pathlib.Path(__file__).with_name("browser.mjs")
        visit = await asyncio.create_subprocess_exec(NODE, browser, address, stdout=subprocess.PIPE)
        printed, _ = await visit.communicate()
        callback.update(urllib.parse.parse_qsl(urllib.parse.urlsplit(printed.decode().strip()).query))

    async def parameters():
        return answer(callback)

    metadata = OAuthClientMetadata.model_validate({
        "client_name": NAME,
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    })
    return OAuthClientProvider(URL, metadata, Memory(), redirect, parameters)


async def attend(client):
    """Calls the tool before and after the token has expired."""
    await check(client)
    await asyncio.sleep(float(WAIT) / 1000)
    await check(client)


async def check(client):
    tools = (await client.list_tools()).tools
    assert any(tool.name == TOOL for tool in tools), [tool.name for tool in tools]
    result = await client.call_tool(TOOL, {})
    assert result.content and "isError=True" not in repr(result) and "is_error=True" not in repr(result), result
