"""The hook for HTTP: two event hooks of an ``httpx`` or ``httpx2`` client. The first notes what is asked, the second
replaces the stream of the response, after content decoding."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from . import _native

_KEY = "countersign_mcp"


def guard_client(inspector: Any, client: Any) -> Any:
    """Adds the hooks to a client, and returns the client."""
    if not hasattr(client, "event_hooks") or not hasattr(client, "aclose"):
        raise TypeError(f"guard takes an asynchronous httpx client, not {type(client).__name__}")
    library = sys.modules[type(client).__mro__[-3].__module__.partition(".")[0]]
    boundary = _native.Boundary(inspector._native)

    async def on_request(request: Any) -> None:
        if request.method == "POST":
            body = await request.aread()
            if b"jsonrpc" in body:
                request.extensions[_KEY] = boundary.exchange(body)
        elif request.method == "GET" and "text/event-stream" in request.headers.get("accept", ""):
            last = request.headers.get("last-event-id")
            request.extensions[_KEY] = boundary.exchange(None, None if last is None else last.encode())

    async def on_response(response: Any) -> None:
        exchange = response.request.extensions.get(_KEY)
        if exchange is None:
            return
        # The request that follows a redirect has an exchange of its own. The redirect's own body answers nothing: an
        # exchange that was not opened gives none of it.
        if not response.has_redirect_location:
            exchange.open(response.status_code, response.headers.get("content-type", ""))
        # The same response again, whose only purpose is to decode: the client must not decode a second time.
        decoded = type(response)(
            response.status_code, headers=response.headers, stream=response.stream, request=response.request
        )
        response.stream = _stream(library.AsyncByteStream)(inspector, exchange, decoded)
        for name in ("content-encoding", "content-length"):
            response.headers.pop(name, None)

    hooks = client.event_hooks
    # Ours is the first to see a response, so that no other hook reads what was not inspected.
    client.event_hooks = {
        "request": [*hooks["request"], on_request],
        "response": [on_response, *hooks["response"]],
    }
    return client


def _stream(base: Any) -> Any:
    class InspectedStream(base):  # type: ignore[misc]
        def __init__(self, inspector: Any, exchange: _native.BodyFilter, decoded: Any) -> None:
            self._inspector = inspector
            self._exchange = exchange
            self._decoded = decoded

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._decoded.aiter_bytes():
                for piece in self._exchange.feed(chunk):
                    yield self._inspector._deliver(piece)
            last = self._exchange.finish()
            if last is not None:
                yield self._inspector._deliver(last)

        async def aclose(self) -> None:
            await self._decoded.aclose()

    return InspectedStream
