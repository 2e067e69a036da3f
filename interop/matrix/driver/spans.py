"""JSON looked at without being rebuilt: the members of an object and the elements of an array, as they were written."""

import json

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


def members(text):
    """The members of an object, in order: name -> the value's own text."""
    found = {}
    at = _skip(text, 0)
    _expect(text, at, "{")
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        _expect(text, at, ":")
        value, at = _value(text, at + 1)
        if name in found:
            raise ValueError(f"member {name!r} twice")
        found[name] = value
        at = _comma(text, at, "}")
    return found


def elements(text):
    """The elements of an array, each as its own text."""
    found = []
    at = _skip(text, 0)
    _expect(text, at, "[")
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, at = _value(text, at)
        found.append(value)
        at = _comma(text, at, "]")
    return found


def _value(text, at):
    start = _skip(text, at)
    _, end = _DECODER.raw_decode(text, start)
    return text[start:end], end


def _comma(text, at, close):
    at = _skip(text, at)
    if text[at] == ",":
        at = _skip(text, at + 1)
        if text[at] == close:
            raise ValueError("a comma too many")
    elif text[at] != close:
        raise ValueError("a comma is missing")
    return at


def _skip(text, at):
    while text[at] in _SPACE:
        at += 1
    return at


def _expect(text, at, char):
    if text[at] != char:
        raise ValueError(f"{char} expected, {text[at : at + 20]!r} found")
