"""LangChain's MCP adapters: what a model receives is the content of the tool message."""

import sys

from countersign_mcp import Inspector
from harness import SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from langchain_mcp_adapters.client import MultiServerMCPClient


async def use(connection):
    tools = await MultiServerMCPClient({"weather": connection}).get_tools()
    by_name = {tool.name: tool for tool in tools}

    async def call(name):
        try:
            message = await by_name[name].ainvoke({"type": "tool_call", "id": "1", "name": name, "args": {}})
        except Exception as error:
            # An agent's tool node puts the text of this exception into the message.
            return f"{type(error).__name__}: {error}"
        return message.content, message.artifact

    check_good(await call("good"))
    check_blocked(await call("bad"))
    check_token(await call("token"))


async def test_stdio():
    connection = {"transport": "stdio", "command": sys.executable, "args": [SERVER, "stdio"]}
    await use(Inspector(STRICT, server="weather").guard(connection))


async def test_http():
    with http_server() as address:
        await use(Inspector(STRICT).guard({"transport": "streamable_http", "url": f"{address}/events"}))


if __name__ == "__main__":
    main(sys.modules[__name__])
