"""Pydantic AI: a model that calls three tools and keeps what it is given."""

import sys

import httpx2
from countersign_mcp import Inspector
from fastmcp.client.transports import StdioTransport
from harness import SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


async def use(toolset):
    received = {}

    def model(messages, info):
        for part in messages[-1].parts:
            if getattr(part, "tool_name", None):
                received.setdefault(part.tool_name, str(part.content))
        rest = [name for name in ("good", "bad", "token") if name not in received]
        if rest:
            return ModelResponse(parts=[ToolCallPart(rest[0], {})])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(model), toolsets=[toolset])
    async with agent:
        result = await agent.run("go")
    assert result.output == "done"
    check_good(received["good"])
    check_blocked(received["bad"])
    check_token(received["token"])


async def test_stdio():
    transport = Inspector(STRICT).guard(StdioTransport(sys.executable, [SERVER, "stdio"]))
    await use(MCPToolset(transport))


async def test_http():
    with http_server() as address:
        async with httpx2.AsyncClient() as client:
            await use(MCPToolset(f"{address}/events", http_client=Inspector(STRICT).guard(client)))


if __name__ == "__main__":
    main(sys.modules[__name__])
