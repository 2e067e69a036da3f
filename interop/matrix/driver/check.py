"""Whether what came through the gateway is what the server said, byte for byte.

What the gateway may change is written down here and nowhere else: the name where servers meet, a schema that would make
a legacy client reject the whole list, structured content that would make it reject the result, what belongs to an era,
tools that can only be called as tasks, and the addresses of resources where servers meet.
"""

import json

from . import spans

# Members of a result that say how the protocol is spoken, not what the tool said.
OF_THE_ERA = {"resultType", "ttlMs", "cacheScope"}


class Differs(Exception):
    """The cell failed, for this reason."""


def tools(direct, listed, rename, legacy):
    """Each declared tool is there, in order, as it was declared."""
    direct = {name: text for name, text in direct.items() if not _is_only_a_task(text)}
    found = [spans.members(tool) for tool in listed]
    names = [json.loads(tool["name"]) for tool in found]
    wanted = [rename(name) for name in direct]
    if names != wanted:
        raise Differs(f"lists {names}, not {wanted}")
    for (name, text), entry in zip(direct.items(), found):
        declared = spans.members(text)
        declared["name"] = json.dumps(rename(name))
        entry["name"] = json.dumps(json.loads(entry["name"]))
        if legacy and not _is_object_schema(declared.get("outputSchema", "{}")):
            declared.pop("outputSchema", None)
        if declared != entry:
            other = sorted(key for key in declared.keys() | entry.keys() if declared.get(key) != entry.get(key))
            raise Differs(f"{name} is listed with another {', '.join(other)}")


def _is_only_a_task(tool):
    return json.loads(tool).get("execution", {}).get("taskSupport") == "required"


def result(call, direct, through, legacy, merged=None):
    """The result is the server's own. `merged`: the name of the server, where servers meet."""
    said, got = spans.members(direct), spans.members(through)
    for era in OF_THE_ERA:
        said.pop(era, None)
        got.pop(era, None)
    said["content"] = spans.elements(said["content"])
    got["content"] = [_own_address(block, merged) for block in spans.elements(got.get("content", "[]"))]
    if legacy and "structuredContent" in said and not said["structuredContent"].startswith("{"):
        _as_text(said)
    if said != got:
        other = sorted(key for key in said.keys() | got.keys() if said.get(key) != got.get(key))
        raise Differs(f"{call} answers with another {', '.join(other)}")


def _own_address(block, merged):
    """The block with the server's own address of the resource it names."""
    return block.replace(f'"uri":"countersign:{merged}/', '"uri":"') if merged else block


def _as_text(said):
    """Structured content that is no object stands in a text block, if no block has it already."""
    bare = said.pop("structuredContent")
    texts = [json.loads(block).get("text") for block in said["content"]]
    if not any(_same(text, bare) for text in texts):
        said["content"].append(json.dumps({"type": "text", "text": bare}, ensure_ascii=False, separators=(",", ":")))


def _same(text, bare):
    try:
        return json.loads(text) == json.loads(bare)
    except (TypeError, ValueError):
        return False


def _is_object_schema(schema):
    return json.loads(schema).get("type") == "object"


def client(call, outcome, through):
    """The library took the result and shows what was in it."""
    if "threw" in outcome:
        raise Differs(f"{call}: the client throws {outcome['threw']}")
    got = json.loads(through)
    if outcome.get("structured") != got.get("structuredContent"):
        raise Differs(f"{call}: the client shows another structuredContent")
    if outcome["isError"] != (got.get("isError") is True):
        raise Differs(f"{call}: the client shows another isError")
