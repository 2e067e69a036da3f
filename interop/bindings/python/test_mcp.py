"""The Python SDK, both majors: stdio, HTTP in every form, and a transport whose messages are values."""

import asyncio
import json
import logging
import sys

import httpx
import mcp
from countersign_mcp import ConfigError, Inspector
from harness import SECRET, SERVER, STRICT, check_blocked, check_good, check_token, http_server, main
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

try:
    import httpx2 as sdk_httpx
except ImportError:
    sdk_httpx = httpx

PARAMETERS = StdioServerParameters(command=sys.executable, args=[SERVER, "stdio"])


async def use(read, write):
    """Calls every tool, as an agent does."""
    async with ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert [tool.description for tool in tools] == [f"{tool.name}(removed: control token)" for tool in tools]
        check_good(await session.call_tool("good", {}))
        bad = await session.call_tool("bad", {})
        assert getattr(bad, "isError", None) or getattr(bad, "is_error", None)
        check_blocked(bad)
        check_token(await session.call_tool("token", {}))


async def test_without_the_guard_the_payload_arrives():
    async with stdio_client(PARAMETERS) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            assert "<|im_start|>" in str(await session.call_tool("token", {}))


async def test_stdio():
    records = []
    inspector = Inspector(STRICT, server="weather", on_record=records.append)
    async with stdio_client(inspector.guard(PARAMETERS)) as (read, write):
        await use(read, write)
    assert [record.count('"type":"policy_decision"') for record in records] == [0, 0, 1, 0, 1], records
    assert all('"fidelity":"bytes"' in record for record in records)


async def test_four_connections_from_one_parameter_object():
    parameters = Inspector(STRICT).guard(PARAMETERS)

    async def one():
        async with stdio_client(parameters) as (read, write):
            await use(read, write)

    await asyncio.gather(*(one() for _ in range(4)))


async def test_sixteen_sessions_over_one_client():
    """Every session numbers its requests from the same start, so the ids say nothing about whose they are."""
    with http_server() as address:
        async with sdk_httpx.AsyncClient() as client:
            guarded = Inspector(STRICT).guard(client)

            async def one():
                async with streamable_http_client(f"{address}/events", http_client=guarded) as streams:
                    await use(*streams[:2])

            await asyncio.gather(*(one() for _ in range(16)))


async def test_http_in_every_form():
    with http_server() as address:
        for path in ("json", "events", "gzip", "split", "cut"):
            inspector = Inspector(STRICT)
            async with sdk_httpx.AsyncClient() as client:
                guarded = inspector.guard(client)
                assert guarded is client
                async with streamable_http_client(f"{address}/{path}", http_client=guarded) as streams:
                    await use(*streams[:2])


async def test_an_answer_under_a_foreign_id_or_in_a_batch_is_refused():
    with http_server() as address:
        for path, rule in (("foreign", "transport.bad_id"), ("extra", "transport.bad_id"), ("batch", "transport.not_json")):
            async with sdk_httpx.AsyncClient() as client:
                guarded = Inspector(STRICT).guard(client)
                async with streamable_http_client(f"{address}/{path}", http_client=guarded) as streams:
                    async with ClientSession(*streams[:2]) as session:
                        await session.initialize()
                        text = str(await session.call_tool("good", {}))
                        assert "blocked by policy: " in text and rule in text, text


async def test_the_body_of_a_redirect_is_not_read():
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "bad", "arguments": {}}}
    with http_server() as address:
        for follows in (False, True):
            async with sdk_httpx.AsyncClient(follow_redirects=follows) as client:
                Inspector(STRICT).guard(client)
                listing = {**request, "method": "tools/list"}
                await client.post(f"{address}/json", json=listing)
                response = await client.post(f"{address}/redirect", json=request)
                assert (response.status_code, bool(response.text)) == ((200, True) if follows else (307, False))
                assert SECRET not in response.text, response.text


async def test_a_tool_that_was_not_listed_is_cleaned_and_recorded():
    records = []
    inspector = Inspector(STRICT, on_record=records.append)
    with http_server() as address:
        async with sdk_httpx.AsyncClient() as client:
            async with streamable_http_client(f"{address}/events", http_client=inspector.guard(client)) as streams:
                async with ClientSession(*streams[:2]) as session:
                    await session.initialize()
                    # Before any list is known.
                    check_token(await session.call_tool("token", {}))
                    await session.list_tools()
                    await session.call_tool("unlisted", {})
    assert [json.loads(record)["tool"] for record in records] == ["token", "token", "unlisted"], records


async def test_a_message_longer_than_allowed_is_refused():
    inspector = Inspector({**STRICT, "max_message_bytes": 4096})

    async def call(read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            text = str(await session.call_tool("large", {"bytes": 100_000}))
            assert "PAYLOAD" not in text and "transport." in text, text
            # The rest of the long message is thrown away, and the next one is read.
            check_token(await session.call_tool("token", {}))

    async with stdio_client(inspector.guard(PARAMETERS)) as (read, write):
        await call(read, write)
    with http_server() as address:
        for path in ("json", "events"):
            async with sdk_httpx.AsyncClient() as client:
                async with streamable_http_client(f"{address}/{path}", http_client=inspector.guard(client)) as streams:
                    await call(*streams[:2])


async def test_a_session():
    records = []
    inspector = Inspector(STRICT, on_record=records.append)
    async with stdio_client(PARAMETERS) as (read, write):
        session = ClientSession(read, write)
        assert inspector.guard(session) is session
        async with session:
            await session.initialize()
            try:
                inspector.guard(session)
            except TypeError:
                pass
            else:
                raise AssertionError("the session reads already")
            await session.list_tools()
            check_good(await session.call_tool("good", {}))
            check_blocked(await session.call_tool("bad", {}))
            check_token(await session.call_tool("token", {}))
    assert records and all('"fidelity":"value"' in record for record in records)


async def test_values():
    records = []
    inspector = Inspector(STRICT, on_record=records.append)
    async with inspector.guard(stdio_client(PARAMETERS)) as (read, write):
        await use(read, write)
    assert all('"fidelity":"value"' in record and "payload_digest" not in record for record in records)
    try:
        inspector.guard(stdio_client(PARAMETERS), require="bytes")
    except TypeError:
        pass
    else:
        raise AssertionError("values were taken for bytes")


async def test_a_record_that_cannot_be_handed_over_withholds_the_result():
    def fail(record):
        raise OSError("disk full")

    logged = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    log = logging.getLogger("countersign_mcp")
    log.addHandler(handler)
    log.propagate = False
    async with stdio_client(Inspector(STRICT, on_record=fail).guard(PARAMETERS)) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            text = str(await session.call_tool("good", {}))
            assert "could not be recorded" in text and "41" not in text, text
    assert logged == ["a record could not be handed over"], logged


def test_what_guard_does_not_know_is_refused():
    inspector = Inspector()
    for target in (7, "http://x", {"x": 1}, object(), {"transport": "websocket", "url": "ws://x"}):
        try:
            inspector.guard(target)
        except TypeError:
            continue
        raise AssertionError(target)
    try:
        Inspector({"input_validation": {"mode": "strict"}}).guard(PARAMETERS)
    except ConfigError as error:
        assert error.key == "input_validation.mode"
    else:
        raise AssertionError("strict arguments cannot be enforced")


if __name__ == "__main__":
    print(f"mcp {getattr(mcp, '__version__', '')}".strip())
    main(sys.modules[__name__])
