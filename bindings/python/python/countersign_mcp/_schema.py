"""JSON Schema for schemas and values from servers that are not trusted."""

from __future__ import annotations

from typing import Any, NoReturn, final

from . import _native
from ._errors import Exhausted, NotJson, Unenforceable, Violation
from ._json import as_bytes


@final
class Schema:
    """A compiled schema: immutable, safe to share between threads. Make one with ``Schema.compile``."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Schema) -> None:
        self._native = native

    @classmethod
    def compile(cls, schema: Any, *, dialect: str = "2020-12", assert_formats: bool = False) -> Schema:
        """Compiles a schema, JSON text or a value. Raises ``Unenforceable`` if it cannot be enforced as written."""
        text = as_bytes(schema)[0]
        try:
            return cls(_native.Schema.compile(text, dialect, assert_formats))
        except ValueError as error:
            raise Unenforceable(*error.args) from None

    def is_valid(self, data: Any) -> bool:
        """Whether ``data`` conforms; ``bytes`` and ``str`` are JSON text, anything else is a value."""
        text = data if type(data) is bytes else as_bytes(data)[0]
        answer = self._native.is_valid(text)
        if answer is None:
            _raise(self._native.validate(text)[0])
        return answer

    def validate(self, data: Any) -> None:
        """Raises ``Violation`` if ``data`` does not conform."""
        word, parts = self._native.validate(as_bytes(data)[0])
        if word == "valid":
            return
        if word == "invalid":
            raise Violation(*parts)
        _raise(word)


def _raise(word: str) -> NoReturn:
    raise Exhausted() if word == "exhausted" else NotJson()
