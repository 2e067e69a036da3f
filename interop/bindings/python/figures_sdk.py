"""What the whole verdict costs beside what the SDK spends on parsing the same message, and how long each attack holds the
event loop. Least process time of several rounds. `figures_sdk.py FOLDER`; ATTACKS names the attacks."""

import json
import pathlib
import sys
import time

from countersign_mcp import Inspector
from figures_common import PAIRS, least
from mcp_types import CallToolResult, jsonrpc_message_adapter
from test_bars import attacks, judge_attack


def share_of_parse(folder):
    print("\n| pair | the SDK's parse, µs | whole verdict, µs | share |")
    print("|---|---|---|---|")
    for name in PAIRS:
        schema = json.loads((folder / f"{name}.schema.json").read_bytes())
        text = (folder / f"{name}.json").read_bytes()
        inspector = Inspector({"output_validation": {"mode": "strict"}})
        tool = inspector.declare({"name": "t", "inputSchema": {}, "outputSchema": schema})
        # As servers of the SDK write a result: the text repeats the structured content.
        content = [{"type": "text", "text": text.decode()}]
        result = {"content": content, "structuredContent": json.loads(text), "isError": False}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()

        def parse():
            CallToolResult.model_validate(jsonrpc_message_adapter.validate_json(message).result)

        def verdict():
            return inspector.result(tool, message, id=b"1").decision

        assert verdict() in ("allowed", "rewritten"), verdict()
        theirs, ours = least(parse, verdict)
        print(f"| {name} | {theirs:.1f} | {ours:.1f} | {100 * ours / theirs:.0f} % |")


def longest_attack():
    times = {}
    for attack in attacks():
        start = time.process_time()
        judge_attack(attack)
        times[attack["name"]] = time.process_time() - start
    name = max(times, key=times.get)
    print(f"\nof {len(times)} attacks, each compiled and judged twice, the longest took {1000 * times[name]:.0f} ms: {name}")


if __name__ == "__main__":
    share_of_parse(pathlib.Path(sys.argv[1]) / "bench")
    longest_attack()
