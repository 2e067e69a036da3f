"""What holds for the package by itself: hostile schemas and values, the interpreter's lock, memory, types."""

import gc
import json
import os
import sys
import threading

from countersign_mcp import ConfigError, Exhausted, Inspector, NotJson, Schema, Unenforceable, Violation, sanitise
from harness import STRICT, main

# So many verdicts in .ci/run; a million with `VERDICTS=1000000`.
VERDICTS = int(os.environ.get("VERDICTS", "40000"))


def attacks():
    with open(os.environ["ATTACKS"], encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def judge_attack(attack):
    """Compiles and judges, by itself and as the schema of a tool; the outcomes as words."""
    schema, instance = attack["schema"].encode(), attack["instance"].encode()
    try:
        Schema.compile(schema).validate(instance)
        outcome = "valid"
    except (Unenforceable, Violation, Exhausted) as error:
        assert len(str(error)) < 500, attack["name"]
        outcome = type(error).__name__
    inspector = Inspector(STRICT)
    tool = inspector.declare(b'{"name":"t","inputSchema":{},"outputSchema":' + schema + b"}")
    verdict = inspector.result(tool, b'{"content":[],"structuredContent":' + instance + b"}")
    return outcome, verdict.decision, bool(tool.diagnostics)


def test_every_attack_has_an_outcome():
    count = 0
    for attack in attacks():
        outcome, decision, is_told = judge_attack(attack)
        # A result that breaks its schema is blocked; a schema that cannot be enforced is reported.
        is_loud = is_told if outcome == "Unenforceable" else decision == "blocked"
        assert is_loud or outcome == "valid", (attack["name"], outcome, decision)
        count += 1
    assert count > 40, count


def test_hostile_bytes_have_a_verdict():
    inspector = Inspector(STRICT)
    tool = inspector.declare({"name": "t", "inputSchema": {}, "outputSchema": {"type": "object"}})
    for reply in (b"", b"[" * 1_000_000, b'{"a":' * 200_000, b"\xff\xfe", b'{"content":NaN}', b"1e999999", b'"' * 99):
        assert inspector.result(tool, reply).decision in ("allowed", "blocked")
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, float("nan"), {1: 2}, {"a": object()}):
        try:
            Schema.compile(True).validate(value)
        except (ValueError, TypeError):
            continue
        raise AssertionError("it has no JSON form")
    assert inspector.result(tool, {"content": [{"type": "text", "text": "\ud800"}]}).decision == "blocked"


def test_errors_have_their_parts_and_no_values():
    try:
        Schema.compile({"type": "integer"}).validate(b'"SECRET"')
    except Violation as error:
        parts = (error.keyword, error.instance_pointer, error.schema_pointer, error.expected, error.actual)
        assert parts == ("type", "", "/type", "integer", "string") and "SECRET" not in str(error)
    try:
        Schema.compile({"$ref": "https://evil.example/SECRET"})
    except Unenforceable as error:
        assert error.kind == "external_ref" and "SECRET" not in str(error)
    try:
        Schema.compile({}).is_valid(b"{")
    except NotJson:
        pass
    try:
        Inspector({"tools": {"a": {"output_validation": {"mode": "strictly"}}}})
    except ConfigError as error:
        assert (error.key, error.allowed) == ("tools.a.output_validation.mode", ("off", "warn", "strict"))
    assert sanitise("a\ud800b").text == "a?b"


def ran_during(call):
    """Whether another thread ran while `call` did. Threads change only where the lock is given up."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        order, gate = [], threading.Lock()
        gate.acquire()
        other = threading.Thread(target=lambda: (gate.acquire(), order.append("other")))
        other.start()
        gate.release()
        call()
        order.append("call")
        other.join()
        return order == ["other", "call"]
    finally:
        sys.setswitchinterval(interval)


def test_the_lock_is_given_up_for_large_results_only():
    inspector = Inspector(STRICT)
    tool = inspector.declare({"name": "t", "inputSchema": {}, "outputSchema": {"type": "object"}})
    text = json.dumps({"content": [], "structuredContent": {"a": ["x" * 20] * 100_000}}).encode()
    assert any(ran_during(lambda: inspector.result(tool, text)) for _ in range(50))
    small = b'{"content":[],"structuredContent":{}}'
    assert not any(ran_during(lambda: inspector.result(tool, small)) for _ in range(50))


def test_objects_are_frozen():
    inspector = Inspector()
    for target in (inspector.tool("t"), inspector.result("t", {"content": []}), Schema.compile(True)):
        try:
            target.anything = 1
        except AttributeError:
            continue
        raise AssertionError(target)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat():
    if not os.path.exists("/proc/self/statm"):
        return
    inspector = Inspector(STRICT, on_record=len)
    tool = inspector.declare({"name": "t", "inputSchema": {}, "outputSchema": {"type": "object", "required": ["n"]}})
    replies = [b'{"content":[],"structuredContent":{"n":1}}', b'{"content":[],"structuredContent":{}}', {"content": []}]

    def work(count):
        for index in range(count):
            verdict = inspector.result(tool, replies[index % 3])
            verdict.bytes, verdict.findings
        gc.collect()

    work(VERDICTS // 4)
    before = resident()
    work(VERDICTS)
    grown = resident() - before
    print(f"{VERDICTS} verdicts: {grown / 2**20:.1f} MiB more")
    assert grown < 8 * 2**20, grown


if __name__ == "__main__":
    main(sys.modules[__name__])
