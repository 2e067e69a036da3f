"""The time of other validators over ours, as ratios of the least process time of several rounds in one run. Above 1 this
package is faster. `figures.py FOLDER` takes the pairs of the test data."""

import json
import pathlib
import sys
import threading
import time

import jsonschema
import jsonschema_rs
import orjson
from countersign_mcp import Inspector, Schema
from figures_common import PAIRS, least

def main(folder):
    print("| pair | from | ours, µs | jsonschema | jsonschema-rs | orjson + jsonschema-rs | whole verdict, µs |")
    print("|---|---|---|---|---|---|---|")
    for name in PAIRS:
        schema = json.loads((folder / f"{name}.schema.json").read_bytes())
        text = (folder / f"{name}.json").read_bytes()
        value = json.loads(text)
        ours = Schema.compile(schema)
        assert ours.is_valid(text) and ours.is_valid(value)
        python = jsonschema.validators.validator_for(schema)(schema)
        rust = jsonschema_rs.validator_for(schema)
        inspector = Inspector({"output_validation": {"mode": "strict"}})
        tool = inspector.declare({"name": "t", "inputSchema": {}, "outputSchema": schema})
        reply = b'{"content":[],"structuredContent":' + text + b"}"
        assert inspector.result(tool, reply).decision == "allowed"
        slow, loads, quick, fast, bytes_ours, value_ours, verdict = least(
            lambda: python.is_valid(value),
            lambda: json.loads(text),
            lambda: orjson.loads(text),
            lambda: rust.is_valid(value),
            lambda: ours.is_valid(text),
            lambda: ours.is_valid(value),
            lambda: inspector.result(tool, reply),
        )
        cells = ((slow + loads) / bytes_ours, (fast + loads) / bytes_ours, (fast + quick) / bytes_ours)
        print(f"| {name} | bytes | {bytes_ours:.1f} | {cells[0]:.0f} | {cells[1]:.1f} | {cells[2]:.1f} | {verdict:.1f} |")
        print(f"| {name} | value | {value_ours:.1f} | {slow / value_ours:.0f} | {fast / value_ours:.2f} | – | – |")
    threads(folder)


def threads(folder):
    """How much more two threads do than one."""
    schema = Schema.compile((folder / "c_records.schema.json").read_bytes())
    text = (folder / "c_records.json").read_bytes()

    def work():
        for _ in range(400):
            schema.is_valid(text)

    def run(count):
        started = [threading.Thread(target=work) for _ in range(count)]
        start = time.perf_counter()
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return time.perf_counter() - start

    best = max(2 * run(1) / run(2) for _ in range(5))
    print(f"\ntwo threads do {best:.2f} times the work of one")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) / "bench")
