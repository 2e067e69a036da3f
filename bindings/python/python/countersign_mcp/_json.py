"""JSON text or a value, as callers have it."""

from __future__ import annotations

from typing import Any

from . import _native


def as_bytes(data: Any) -> tuple[bytes, bool]:
    """The JSON text of ``data``, and whether it was a value. ``bytes`` and ``str`` are text already."""
    if isinstance(data, bytes):
        return data, False
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data), False
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass"), False
    return _native.dumps(data), True
