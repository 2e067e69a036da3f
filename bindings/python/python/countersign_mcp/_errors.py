"""What cannot be done. A refused result is a verdict, not an error, and no message quotes a value."""

from __future__ import annotations


class ConfigError(ValueError):
    """A setting that cannot be used. ``key`` is its dotted path, ``allowed`` what may stand there."""

    key: str
    allowed: tuple[str, ...]

    def __init__(self, message: str, key: str = "", allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key
        self.allowed = allowed


class Unenforceable(ValueError):
    """A schema that cannot be enforced as written."""

    kind: str
    pointer: str

    def __init__(self, message: str, kind: str, pointer: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.pointer = pointer


class Violation(ValueError):
    """A value that does not conform to its schema. It names places and types, never the value."""

    keyword: str
    instance_pointer: str
    schema_pointer: str
    expected: str
    actual: str

    def __init__(self, keyword: str, instance_pointer: str, schema_pointer: str, expected: str, actual: str) -> None:
        super().__init__(f"{keyword} at {instance_pointer or 'the root'}: expected {expected}, got {actual}")
        self.keyword = keyword
        self.instance_pointer = instance_pointer
        self.schema_pointer = schema_pointer
        self.expected = expected
        self.actual = actual


class Exhausted(ValueError):
    """Judging the value costs more than it may."""

    def __init__(self) -> None:
        super().__init__("judging the value costs more than it may")


class NotJson(ValueError):
    """The text is not JSON."""

    def __init__(self) -> None:
        super().__init__("the text is not JSON")


class Blocked(Exception):
    """Raised by ``Verdict.raise_if_blocked``; ``verdict`` says why."""

    def __init__(self, verdict: object, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
