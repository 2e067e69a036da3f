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


class LyingDict(dict):
    """Says that it is empty."""

    def __iter__(self):
        raise RuntimeError("SECRET")

    keys = values = items = __len__ = __getitem__ = get = __iter__


class LyingStr(str):
    def encode(self, *_):
        return b"1"

    __str__ = __repr__ = lambda self: "1"


class LyingInt(int):
    __str__ = __repr__ = __int__ = __index__ = lambda self: 1 / 0


class LyingBytes(bytes):
    __bytes__ = __str__ = decode = lambda self, *_: "1"


class Impostor:
    """Neither a dict nor a str, whatever it says."""

    __class__ = dict
    __dict__ = {"n": 1}

    def __getattr__(self, name):
        raise RuntimeError("SECRET")

    def __bool__(self):
        raise RuntimeError("SECRET")


def test_values_are_judged_by_what_they_hold():
    at_least = Schema.compile({"type": "object", "required": ["n"], "properties": {"n": {"minimum": 7}}})
    assert at_least.is_valid(LyingDict(n=7)) and not at_least.is_valid(LyingDict(n=1)) and not at_least.is_valid(LyingDict())
    assert at_least.is_valid({"n": LyingInt(7)}) and not at_least.is_valid({"n": LyingInt(6)})
    assert at_least.is_valid({"n": LyingInt(10**4000)}) and not at_least.is_valid({"n": -(10**4000)})
    assert at_least.is_valid({LyingStr("n"): 7}) and not at_least.is_valid({LyingStr("m"): 7})
    assert at_least.is_valid(LyingStr('{"n":7}')) and at_least.is_valid(LyingBytes(b'{"n":7}'))
    assert at_least.is_valid(memoryview(b'{"n":7}')) and at_least.is_valid(bytearray(b'{"n":7}'))
    text = Schema.compile({"const": ["a\"\\\n\x7f\u00e9\U0001f600", True, None, 1.5, (1 << 64), []]})
    assert text.is_valid([LyingStr("a\"\\\n\x7f\u00e9\U0001f600"), True, None, 1.5, 1 << 64, ()])
    for length in range(40):
        for place in range(length):
            for char in '"\\\x00\x1f':
                value = "a" * place + char + "\xff" * (length - place - 1)
                assert Schema.compile({"const": [value]}).is_valid([value]), value


def test_values_without_a_json_form_are_refused():
    cycle, ring = [], {}
    cycle.append(cycle)
    ring["ring"] = {"ring": ring}
    anything = Schema.compile(True)
    inspector = Inspector(STRICT)
    for value in (cycle, ring, Impostor(), {"a": Impostor()}, {Impostor: 1}, {1: 2}, {b"a": 1}, {"a": {1, 2}}, 10**5000, float("inf")):
        for judge in (anything.is_valid, anything.validate, lambda value: inspector.result("t", value), Schema.compile):
            try:
                judge(value)
            except (TypeError, ValueError) as error:
                assert "SECRET" not in str(error)
                continue
            raise AssertionError("it has no JSON form")


def test_lone_surrogates_stay_what_they_are():
    anything = Schema.compile({"properties": {"n": {"maxLength": 3}}})
    assert anything.is_valid({"n": "a\ud800b", "\udfff": 1}) and not anything.is_valid({"n": "ab\udc00\udc00"})
    inspector = Inspector({"output_validation": {"mode": "warn"}})
    verdict = inspector.result("t", {"content": [], "structuredContent": {"a": "x\udfffy\"\ud800", "\ud83d\ude00": "\U0001f600"}})
    assert b'"x\\udfffy\\"\\ud800"' in verdict.bytes and verdict.fidelity == "value", verdict.bytes
    assert inspector.result("t", '{"content":[],"a":"\ud800"}').decision == "blocked"


def test_values_may_change_while_they_are_judged():
    value, stop = {str(n): ["\ud800"] * 50 for n in range(50)}, threading.Event()

    def change():
        count = 0
        while not stop.is_set():
            value[f"x{count % 100}"] = count
            value.pop(f"x{(count + 50) % 100}", None)
            count += 1

    changing = threading.Thread(target=change)
    changing.start()
    anything, interval = Schema.compile({"type": "object"}), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(300):
            try:
                assert anything.is_valid(value)
            except RuntimeError as error:
                assert "changed" in str(error)
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        changing.join()


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
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
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
