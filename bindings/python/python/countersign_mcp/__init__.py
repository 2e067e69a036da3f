"""Inspects every MCP tool result before a model reads it.

``Inspector(...).guard(x)`` goes around whatever an MCP client opens; ``Inspector.result`` judges one result;
``Schema`` and ``sanitise`` are the parts by themselves.
"""

from ._errors import Blocked, ConfigError, Exhausted, NotJson, Unenforceable, Violation
from ._inspector import Finding, InputVerdict, Inspector, Tool, Verdict
from ._native import Schema
from ._sanitise import Sanitised, sanitise

__all__ = [
    "Blocked",
    "ConfigError",
    "Exhausted",
    "Finding",
    "InputVerdict",
    "Inspector",
    "NotJson",
    "Sanitised",
    "Schema",
    "Tool",
    "Unenforceable",
    "Verdict",
    "Violation",
    "sanitise",
]
