"""Cleaning one text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import ConfigError


@dataclass(frozen=True)
class Sanitised:
    """A text after cleaning. ``text`` is empty if the text must not be passed on (``blocked``)."""

    text: str
    findings: tuple[Mapping[str, Any], ...]
    blocked: bool


def sanitise(text: str, settings: Mapping[str, Any] | None = None) -> Sanitised:
    """Cleans a text under an ``output_sanitisation`` block; ``None`` is the defaults."""
    try:
        clean, findings, blocked = _native.sanitise(text, json.dumps(settings or {}))
    except UnicodeEncodeError:
        # A lone surrogate is no text; it is shown as a replacement character.
        return sanitise(text.encode("utf-8", "replace").decode(), settings)
    except ValueError as error:
        raise ConfigError(*error.args) from None
    return Sanitised(clean, tuple(json.loads(findings)), blocked)
