"""Writes the attacks on a schema engine, one JSON object a line: name, schema and instance as JSON text. Both packages are
held to the same lines. Most texts have a few kilobytes; the instances of some are large, as a server's may be."""

import json
import sys

LEVELS = 30


def chain(links, last):
    """Definitions of which each is made from the name of the next."""
    named = {f"d{level}": link(f"#/$defs/d{level + 1}") for level, link in enumerate(links)}
    return {"$ref": "#/$defs/d0", "$defs": {**named, f"d{len(links)}": last}}


def doubling(keyword):
    def link(name):
        part = {"$ref": name}
        if keyword == "if":
            return {"if": part, "then": part, "else": part}
        return {keyword: [part, part]}

    return [link] * LEVELS


def doubled():
    for keyword in ("allOf", "anyOf", "oneOf", "if"):
        for leaf, name in (({}, "a leaf that holds"), ({"minProperties": 1}, "a leaf that fails")):
            yield f"{keyword} doubled, {name}", chain(doubling(keyword), leaf), "{}"
        recursive = {"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}}
        yield f"{keyword} doubled, itself again", chain(doubling(keyword), recursive), '{"a":' * 20 + "1" + "}" * 20
        for unevaluated, instance in (("unevaluatedProperties", '{"a":1,"b":2}'), ("unevaluatedItems", "[1,2]")):
            schema = {**chain(doubling(keyword), {"properties": {"a": {}}}), unevaluated: False}
            yield f"{keyword} doubled under {unevaluated}", schema, instance


def nested(depth, before, core, after):
    return before * depth + core + after * depth


def deep():
    yield "a recursive reference and 10,000 levels", {"items": {"$ref": "#"}}, nested(10_000, "[", "1", "]")
    links = [lambda name: {"$ref": name}] * 100
    through = {**chain(links, {"items": {"$ref": "#"}})}
    yield "100 links and 120 levels", through, nested(120, "[", "1", "]")
    yield "20,000 links", chain([lambda name: {"$ref": name}] * 20_000, {"type": "string"}), "1"
    yield "a schema of 10,000 levels", nested(10_000, '{"items":', "{}", "}"), nested(200, "[", "1", "]")
    yield "not, 2,000 times", nested(2_000, '{"not":', "{}", "}"), "1"
    cycle = {"$dynamicAnchor": "a", "anyOf": [{"items": {"$dynamicRef": "#a"}}, {"items": {"$dynamicRef": "#a"}}]}
    yield "dynamic references", cycle, nested(60, "[", "1", "]")
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    yield "two schemas that refer to each other", loop, "1"


def wide():
    many = {f"p{index}": {"type": "integer"} for index in range(100_000)}
    yield "100,000 properties", {"properties": many}, json.dumps({name: 1 for name in many})
    yield "counted repetition", {"pattern": "^((a{1,100}){1,100}){1,100}$"}, json.dumps("a" * 5000 + "!")
    yield "a pattern that backtracks", {"pattern": "^(a+)+$"}, json.dumps("a" * 50_000 + "!")
    patterns = {f"^a{index}.*z$": {"type": "integer"} for index in range(1000)}
    yield "1,000 patterns, 1,000 names", {"patternProperties": patterns}, json.dumps(
        {f"a{index}z": index for index in range(1000)}
    )
    yield "unique items, 100,000", {"uniqueItems": True}, json.dumps(list(range(100_000)))
    yield "unique items, deep", {"uniqueItems": True}, f"[{nested(60, '[', '1', ']')},{nested(60, '[', '2', ']')}]"
    yield "an enum of 100,000", {"enum": list(range(100_000))}, "-1"
    branches = [{"type": "object", "required": [f"k{index}"]} for index in range(100)]
    yield "10,000 items, 100 branches", {"items": {"anyOf": branches}}, json.dumps([{}] * 10_000)
    yield "colliding names", {"additionalProperties": {"type": "integer"}}, json.dumps(
        {format(index, "020b"): index for index in range(20_000)}
    )


def numbers():
    yield "a huge minLength", {"minLength": 10**15}, '"a"'
    for number in ("1e400", "1e999999999", "-1e-999999999", "9" * 10_000):
        yield f"a number: {number[:12]}", {"type": "number", "multipleOf": 0.01, "maximum": 10}, number
        yield f"a bound: {number[:12]}", f'{{"multipleOf":{number}}}', "3"


for group in (doubled, deep, wide, numbers):
    for name, schema, instance in group():
        text = schema if isinstance(schema, str) else json.dumps(schema)
        json.dump({"name": name, "schema": text, "instance": instance}, sys.stdout)
        print()
