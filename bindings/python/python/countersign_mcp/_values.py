"""The hook for transports that hand over parsed messages: each is written as JSON again and judged as a value."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _native


class GuardedStreams:
    """An asynchronous context manager around one that gives a read and a write stream."""

    def __init__(self, inspector: Any, streams: Any) -> None:
        self._inspector = inspector
        self._streams = streams

    async def __aenter__(self) -> Any:
        read, write, *rest = await self._streams.__aenter__()
        boundary = _native.Boundary(self._inspector._native, True)
        return (_Reader(self._inspector, boundary, read), _Writer(boundary, write), *rest)

    async def __aexit__(self, *error: Any) -> Any:
        return await self._streams.__aexit__(*error)


def guard_session(inspector: Any, session: Any) -> Any:
    """Puts the streams of a session that was not entered yet behind a boundary, and returns the session."""
    # The second major of the SDK keeps the streams in a dispatcher.
    holder = getattr(session, "_dispatcher", session)
    read, write = getattr(holder, "_read_stream", None), getattr(holder, "_write_stream", None)
    if read is None or write is None:
        raise TypeError("guard takes a ClientSession with a read and a write stream")
    if getattr(session, "_task_group", None) is not None:
        raise TypeError("the session was entered already; guard it before `async with`")
    boundary = _native.Boundary(inspector._native, True)
    holder._read_stream = _Reader(inspector, boundary, read)
    holder._write_stream = _Writer(boundary, write)
    return session


def _parse(text: bytes) -> Any:
    try:
        adapter = import_module("mcp_types").jsonrpc_message_adapter
    except ImportError:
        return import_module("mcp.types").JSONRPCMessage.model_validate_json(text)
    return adapter.validate_json(text)


def _dump(message: Any) -> bytes:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode()


class _Stream:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Reader(_Stream):
    def __init__(self, inspector: Any, boundary: _native.Boundary, inner: Any) -> None:
        super().__init__(inner)
        self._inspector = inspector
        self._lines = boundary.lines()

    async def receive(self) -> Any:
        while True:
            item = await self._inner.receive()
            # An exception about a message that could not be parsed quotes the message.
            if isinstance(item, Exception):
                continue
            pieces = self._lines.feed(_dump(item.message) + b"\n")
            if pieces:
                message = _parse(self._inspector._deliver(pieces[0]))
                return type(item)(message=message, metadata=item.metadata)

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except import_module("anyio").EndOfStream:
            raise StopAsyncIteration from None


class _Writer(_Stream):
    def __init__(self, boundary: _native.Boundary, inner: Any) -> None:
        super().__init__(inner)
        self._boundary = boundary

    async def send(self, item: Any) -> None:
        sent = self._boundary.sent(_dump(item.message))
        for line in sent.split(b"\n"):
            await self._inner.send(type(item)(message=_parse(line), metadata=item.metadata))
