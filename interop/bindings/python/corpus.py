"""Every vector of the corpus, in Python: the same decision, findings, reason and bytes as in Rust. Then the same results
as parsed values: the same decision, unless a key is repeated or the value has no exact form in Python."""

import json
import sys

from countersign_mcp import Inspector


class Inexact(Exception):
    pass


def exact(text):
    """The value of a JSON text, if Python's own reader loses nothing that counts."""

    def pairs(items):
        if len({key for key, _ in items}) < len(items):
            raise Inexact("a key is repeated")
        return dict(items)

    def number(text):
        # Spelling is lost: 1.0 and 1e2 are integers to a schema, and digits beyond 17 are cut.
        if json.loads(repr(float(text))) != float(text) or float(text) in (float("inf"), float("-inf")):
            raise Inexact("a number is too large")
        return float(text)

    try:
        return json.loads(text.decode(), object_pairs_hook=pairs, parse_float=number)
    except (ValueError, RecursionError) as error:
        raise Inexact(str(error)) from None


def main(path):
    passed, failed, values, inexact = 0, 0, 0, 0
    for line in open(path, encoding="utf-8"):
        vector = json.loads(line)
        inspector = Inspector(vector["settings"], server="stub")
        declared = vector["tool"] and bytes.fromhex(vector["tool"])
        tool = inspector.declare(declared) if declared else inspector.tool("plain")
        emitted = None
        if "arguments" in vector:
            verdict = inspector.arguments(tool, bytes.fromhex(vector["arguments"]))
        else:
            reply = bytes.fromhex(vector["reply"])
            reading = {
                "era": vector["era"],
                "client": vector["client"],
                "id": vector["id"] and vector["id"].encode(),
            }
            verdict = inspector.result(tool, reply, **reading)
            emitted = verdict.bytes.hex()
        seen = (verdict.decision, verdict.reason, [finding.rule for finding in verdict.findings], emitted)
        expected = (vector["decision"], vector["reason"], vector["findings"], vector.get("emitted"))
        if seen == expected:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {vector['name']}\n seen     {str(seen)[:600]}\n expected {str(expected)[:600]}")
        if emitted is None:
            continue
        try:
            value = exact(reply)
        except Inexact:
            inexact += 1
            continue
        if isinstance(value, str):
            continue
        values += 1
        as_value = inspector.result(tool, value, **reading)
        if as_value.decision != verdict.decision:
            failed += 1
            print(f"FAILED as a value: {vector['name']}: {as_value.decision}, not {verdict.decision}")
    print(f"as values: {values} decided alike, {inexact} have no exact value")
    print(f"corpus: {passed} passed, {failed} failed")
    sys.exit(1 if failed or passed < 800 else 0)


if __name__ == "__main__":
    main(sys.argv[1])
