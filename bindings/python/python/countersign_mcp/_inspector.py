"""Inspector, tools and verdicts."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TypeVar, final

from . import _native
from ._errors import Blocked, ConfigError

Era = Literal["legacy", "modern"]
Decision = Literal["allowed", "flagged", "rewritten", "blocked"]
_T = TypeVar("_T")
_log = logging.getLogger("countersign_mcp")


@dataclass(frozen=True)
class Finding:
    """One thing that was noticed. It names rules, places and types, never a value of the result."""

    stage: str
    rule: str
    severity: str
    instance_pointer: str | None = None
    schema_pointer: str | None = None
    expected: str | None = None
    actual: str | None = None
    detail: str | None = None
    hit: Mapping[str, Any] | None = None


def _findings(text: str) -> tuple[Finding, ...]:
    return tuple(Finding(**finding) for finding in json.loads(text))


@final
class Tool:
    """A declared tool."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Tool) -> None:
        self._native = native

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """Why a declared schema cannot be enforced as written, if it cannot."""
        return tuple(self._native.diagnostics)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@final
class Verdict:
    """What was decided about one result."""

    __slots__ = ("_native", "_refusal")

    def __init__(self, native: _native.Verdict, refusal: bytes | None = None) -> None:
        self._native = native
        self._refusal = refusal

    @property
    def decision(self) -> Decision:
        return "blocked" if self._refusal is not None else self._native.decision  # type: ignore[return-value]

    @property
    def reason(self) -> str | None:
        """One sentence: why the decision is not ``allowed``."""
        if self._refusal is not None:
            return "the result was withheld because it could not be recorded"
        return self._native.reason

    @property
    def findings(self) -> tuple[Finding, ...]:
        return _findings(self._native.findings_json())

    @property
    def tool(self) -> str:
        return self._native.tool

    @property
    def mode(self) -> str:
        return self._native.mode

    @property
    def fidelity(self) -> Literal["bytes", "value"]:
        """Whether the bytes as received were judged, or a value that was parsed before."""
        return self._native.fidelity  # type: ignore[return-value]

    @property
    def bytes(self) -> bytes:
        """What may be passed on. Of a blocked result, the error that takes its place."""
        return self._refusal if self._refusal is not None else self._native.emitted()

    @property
    def is_blocked(self) -> bool:
        return self.decision == "blocked"

    def structured(self) -> Any:
        """The structured content; ``None`` if there is none or the result was blocked."""
        text = None if self._refusal is not None else self._native.structured_text()
        return None if text is None else json.loads(text)

    def raise_if_blocked(self) -> Verdict:
        """Raises ``Blocked`` for those who prefer an exception; returns the verdict otherwise."""
        if self.is_blocked:
            raise Blocked(self, self.reason or "blocked by policy")
        return self

    def __repr__(self) -> str:
        return f"Verdict(decision={self.decision!r}, tool={self.tool!r}, reason={self.reason!r})"


@dataclass(frozen=True)
class InputVerdict:
    """What was decided about a call's arguments."""

    decision: Decision
    reason: str | None
    findings: tuple[Finding, ...]


@final
class Inspector:
    """Contracts of one server's tools, and the settings that its results are held to.

    ``settings`` has the keys of the gateway's ``mcp_config.json``: ``output_validation``, ``input_validation``,
    ``output_sanitisation``, ``max_message_bytes``, ``max_message_depth``, ``activity.on_store_error`` and ``tools``.
    ``on_record`` is called with each record, a JSON object as text, before the bytes go on.
    """

    __slots__ = ("_native", "_on_record", "server")

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        server: str | None = None,
        on_record: Callable[[str], object] | None = None,
    ) -> None:
        try:
            self._native = _native.Inspector(json.dumps(settings or {}), server)
        except ValueError as error:
            message, key, allowed = error.args
            raise ConfigError(message, key, tuple(allowed)) from None
        self._on_record = on_record
        self.server = server

    def declare(self, tool: Any) -> Tool:
        """Adds a tool, an element of a tool list: JSON text or a value."""
        return Tool(self._native.declare(tool))

    def tool(self, name: str) -> Tool:
        """The tool of this name; it declares nothing if it is not known."""
        return Tool(self._native.tool(name))

    def result(
        self,
        tool: Tool | str,
        reply: Any,
        *,
        era: Era = "modern",
        client: Era | None = None,
        id: bytes | None = None,
    ) -> Verdict:
        """Judges a result or a whole response: the bytes as received, or a value.

        ``era`` and ``client`` are what the server and the client negotiated; ``id`` is the id token that a response
        must carry.
        """
        tool = self.tool(tool) if isinstance(tool, str) else tool
        native = self._native.result(
            tool._native,
            reply,
            era == "legacy",
            None if client is None else client == "legacy",
            id,
        )
        if self._on_record is None or self._record(self._native.records(native)):
            return Verdict(native)
        refuses = self._native.refuses_unrecorded(native)
        return Verdict(native, self._native.unrecorded() if refuses else None)

    def arguments(self, tool: Tool | str, arguments: Any = None) -> InputVerdict:
        """Judges a call's arguments before it is sent."""
        tool = self.tool(tool) if isinstance(tool, str) else tool
        decision, reason, findings = self._native.arguments(tool._native, arguments)
        return InputVerdict(decision, reason, _findings(findings))  # type: ignore[arg-type]

    def guard(self, target: _T, *, require: Literal["bytes"] | None = None) -> _T:
        """Puts the inspection around what an MCP client opens, and returns the type it was given.

        Takes ``StdioServerParameters``, connection dicts of the LangChain adapters and of the OpenAI Agents SDK,
        ``httpx`` and ``httpx2`` clients and factories of them, FastMCP transports, and, for parsed values,
        ``stdio_client(params)`` and its kind, and a ``ClientSession`` that was not entered yet. Raises ``TypeError`` for anything else.
        """
        if self._native.is_input_strict:
            message = "input_validation.mode: strict cannot be enforced around a connection; call arguments() instead"
            raise ConfigError(message, "input_validation.mode", ("off", "warn"))
        from ._guard import guard

        guarded: _T = guard(self, target, require)
        return guarded

    def _record(self, records: list[str]) -> bool:
        """Hands records over; false if that failed."""
        if self._on_record is None:
            return True
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            for record in records:
                self._on_record(f'{{"timestamp":"{now}",{record[1:]}')
        except Exception:
            _log.exception("a record could not be handed over")
            return False
        return True

    def _deliver(self, piece: tuple[bytes, list[str], bytes | None]) -> bytes:
        """What may be passed on, once its records were handed over."""
        data, records, refusal = piece
        if records and not self._record(records) and refusal is not None:
            return refusal
        return data
