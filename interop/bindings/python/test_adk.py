"""Google's ADK: a scripted model that keeps the parts it is given."""

import sys

from countersign_mcp import Inspector
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from google.genai import types
from harness import SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from mcp import StdioServerParameters
from mcp.shared._httpx_utils import create_mcp_http_client


class Script(BaseLlm):
    received: dict = {}

    async def generate_content_async(self, llm_request, stream=False):
        for content in llm_request.contents:
            for part in content.parts or []:
                if part.function_response:
                    reply = part.function_response
                    self.received.setdefault(reply.name, str(reply.response))
        rest = [name for name in ("good", "bad", "token") if name not in self.received]
        if rest:
            part = types.Part(function_call=types.FunctionCall(name=rest[0], args={}))
        else:
            part = types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def use(parameters):
    model = Script(model="script", received={})
    toolset = McpToolset(connection_params=parameters)
    agent = LlmAgent(name="a", model=model, tools=[toolset])
    runner = InMemoryRunner(agent=agent, app_name="a")
    session = await runner.session_service.create_session(app_name="a", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass
    await toolset.close()
    check_good(model.received["good"])
    check_blocked(model.received["bad"])
    check_token(model.received["token"])


async def test_stdio():
    parameters = StdioServerParameters(command=sys.executable, args=[SERVER, "stdio"])
    await use(StdioConnectionParams(server_params=Inspector(STRICT).guard(parameters)))


async def test_http():
    with http_server() as address:
        factory = Inspector(STRICT).guard(create_mcp_http_client)
        await use(StreamableHTTPConnectionParams(url=f"{address}/events", httpx_client_factory=factory))


if __name__ == "__main__":
    main(sys.modules[__name__])
