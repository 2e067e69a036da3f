"""Which hook goes around what."""

from __future__ import annotations

import copy
import functools
from importlib import import_module
from typing import Any

from ._http import guard_client
from ._stdio import codec_name


def guard(inspector: Any, target: Any, require: str | None) -> Any:
    """Puts the inspection around ``target``; see ``Inspector.guard``."""
    names = {base.__name__ for base in type(target).__mro__}
    if "StdioServerParameters" in names:
        return target.model_copy(update={"encoding": codec_name(inspector)})
    if isinstance(target, dict):
        return _guard_connection(inspector, target)
    if "AsyncClient" in names and hasattr(target, "event_hooks"):
        return guard_client(inspector, target)
    if "ClientTransport" in names:
        return _guard_transport(inspector, target, names)
    if hasattr(target, "__aenter__") and hasattr(target, "__aexit__"):
        if require == "bytes":
            raise TypeError("this transport hands over parsed messages; guard what opens it, where they are bytes")
        from ._values import GuardedStreams, guard_session

        return guard_session(inspector, target) if "ClientSession" in names else GuardedStreams(inspector, target)
    if callable(target):
        return _guard_factory(inspector, target)
    raise TypeError(f"guard does not know {type(target).__name__}")


def _guard_connection(inspector: Any, connection: dict[str, Any]) -> dict[str, Any]:
    """The settings of one server as the LangChain adapters and the OpenAI Agents SDK take them."""
    if connection.get("transport") == "websocket":
        raise TypeError("guard has no hook for a websocket")
    if "command" in connection:
        return {**connection, "encoding": codec_name(inspector)}
    if "url" in connection:
        factory = connection.get("httpx_client_factory") or _default_factory()
        return {**connection, "httpx_client_factory": _guard_factory(inspector, factory)}
    raise TypeError("guard takes a connection with a command or a url")


def _default_factory() -> Any:
    return import_module("mcp.shared._httpx_utils").create_mcp_http_client


def _httpx2_client(**options: Any) -> Any:
    """What FastMCP makes if it is given no factory."""
    given = {name: value for name, value in options.items() if value is not None}
    return import_module("httpx2").AsyncClient(**given)


def _guard_factory(inspector: Any, factory: Any) -> Any:
    @functools.wraps(factory)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        return guard_client(inspector, factory(*args, **kwargs))

    return guarded


def _guard_transport(inspector: Any, transport: Any, names: set[str]) -> Any:
    """A transport of FastMCP."""
    if "StdioTransport" in names:
        from ._fastmcp import guard_stdio_transport

        return guard_stdio_transport(inspector, transport)
    if hasattr(transport, "httpx_client_factory"):
        guarded = copy.copy(transport)
        factory = transport.httpx_client_factory or _httpx2_client
        guarded.httpx_client_factory = _guard_factory(inspector, factory)
        return guarded
    raise TypeError(f"guard does not know {type(transport).__name__}")
