"""The hook for stdio. The SDK decodes a server's stdout and encodes its stdin with the codec that
``StdioServerParameters.encoding`` names, so a codec of ours sees every byte in both directions, and starting and stopping
the process stays the SDK's."""

from __future__ import annotations

import codecs
import itertools
import threading
from typing import Any

from . import _native

_PREFIX = "countersign_mcp_"
_codecs: dict[str, codecs.CodecInfo] = {}
_numbers = itertools.count(1)
_lock = threading.Lock()


def codec_name(inspector: Any) -> str:
    """A codec with a boundary of its own. Connections that share the codec share the boundary."""
    with _lock:
        name = f"{_PREFIX}{next(_numbers)}"
        _codecs[name] = _codec(name, inspector)
    return name


def _codec(name: str, inspector: Any) -> codecs.CodecInfo:
    boundary = _native.Boundary(inspector._native)

    def encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
        lines = text.encode("utf-8", errors).split(b"\n")
        return b"\n".join(boundary.sent(line) if line else line for line in lines), len(text)

    class Decoder(codecs.IncrementalDecoder):
        def __init__(self, errors: str = "strict") -> None:
            super().__init__(errors)
            self._lines = boundary.lines()

        def decode(self, input: Any, final: bool = False) -> str:
            pieces = self._lines.feed(bytes(input))
            return b"".join(map(inspector._deliver, pieces)).decode("utf-8")

        def reset(self) -> None:
            self._lines = boundary.lines()

    class Encoder(codecs.IncrementalEncoder):
        def encode(self, input: str, final: bool = False) -> bytes:
            return encode(input, self.errors)[0]

    def decode(data: Any, errors: str = "strict") -> tuple[str, int]:
        return Decoder(errors).decode(data, True), len(data)

    return codecs.CodecInfo(encode, decode, incrementalencoder=Encoder, incrementaldecoder=Decoder, name=name)


codecs.register(_codecs.get)
