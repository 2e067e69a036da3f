"""The OpenAI Agents SDK: a scripted model that keeps its input."""

import sys

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from countersign_mcp import Inspector
from harness import SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Script(Model):
    def __init__(self):
        self.received = {}

    async def get_response(self, system_instructions, input, *args, **kwargs):
        for item in input if isinstance(input, list) else []:
            if item.get("type") == "function_call_output":
                self.received.setdefault(item["call_id"], str(item["output"]))
        rest = [name for name in ("good", "bad", "token") if name not in self.received]
        if rest:
            name = rest[0]
            output = ResponseFunctionToolCall(arguments="{}", call_id=name, name=name, type="function_call")
        else:
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            output = ResponseOutputMessage(
                id="1", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


async def use(server):
    model = Script()
    async with server:
        agent = Agent(name="a", model=model, mcp_servers=[server])
        await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    check_good(model.received["good"])
    check_blocked(model.received["bad"])
    check_token(model.received["token"])


async def test_stdio():
    parameters = {"command": sys.executable, "args": [SERVER, "stdio"]}
    await use(MCPServerStdio(params=Inspector(STRICT).guard(parameters)))


async def test_http():
    with http_server() as address:
        parameters = Inspector(STRICT).guard({"url": f"{address}/events"})
        await use(MCPServerStreamableHttp(params=parameters))


if __name__ == "__main__":
    main(sys.modules[__name__])
