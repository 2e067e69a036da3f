"""FastMCP's stdio transport has no field for an encoding, so this one starts the process itself, with the SDK."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ._stdio import codec_name


def guard_stdio_transport(inspector: Any, transport: Any) -> Any:
    """A transport that starts the same command."""
    mcp: Any = import_module("mcp")
    base: Any = import_module("fastmcp.client.transports").ClientTransport

    class GuardedStdioTransport(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.parameters = mcp.StdioServerParameters(
                command=transport.command,
                args=transport.args,
                env=transport.env,
                cwd=transport.cwd,
                encoding=codec_name(inspector),
            )

        @contextlib.asynccontextmanager
        async def connect_session(self, *, transport_options: Any = None, **session: Any) -> AsyncIterator[Any]:
            make = getattr(transport_options, "session_class", None) or mcp.ClientSession
            with contextlib.ExitStack() as files:
                log: Any = transport.log_file or sys.stderr
                if isinstance(log, Path):
                    log = files.enter_context(log.open("a"))
                async with mcp.stdio_client(self.parameters, errlog=log) as (read, write):
                    async with make(read, write, **session) as opened:
                        yield opened

    return GuardedStdioTransport()
