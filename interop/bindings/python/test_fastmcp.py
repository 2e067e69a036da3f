"""FastMCP's client, and the SDK's own `Client` of its second major."""

import sys

import httpx2
from countersign_mcp import Inspector
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from harness import SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from mcp import Client as SdkClient
from mcp import StdioServerParameters


async def use(client):
    async with client:
        await client.list_tools()

        async def call(name):
            try:
                return await client.call_tool(name, {})
            except Exception as error:
                return f"{type(error).__name__}: {error}"

        check_good(await call("good"))
        check_blocked(await call("bad"))
        check_token(await call("token"))


async def test_stdio():
    await use(Client(Inspector(STRICT).guard(StdioTransport(sys.executable, [SERVER, "stdio"]))))


async def test_http_factory():
    def factory(**options):
        return httpx2.AsyncClient(**{key: value for key, value in options.items() if value is not None})

    with http_server() as address:
        factory = Inspector(STRICT).guard(factory)
        await use(Client(StreamableHttpTransport(f"{address}/events", httpx_client_factory=factory)))


async def test_http_transport():
    with http_server() as address:
        await use(Client(Inspector(STRICT).guard(StreamableHttpTransport(f"{address}/json"))))


async def test_the_client_of_the_sdk():
    parameters = StdioServerParameters(command=sys.executable, args=[SERVER, "stdio"])
    await use(SdkClient(Inspector(STRICT).guard(parameters)))


if __name__ == "__main__":
    main(sys.modules[__name__])
