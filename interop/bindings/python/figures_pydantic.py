"""The time of Pydantic models over ours, for the pairs that simple models describe."""

import json
import pathlib
import sys

from countersign_mcp import Schema
from figures_common import least
from pydantic import TypeAdapter, create_model


def model(schema, name="Model"):
    """A Pydantic type for the simple part of JSON Schema."""
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        required = schema.get("required", [])
        fields = {}
        for key, part in schema["properties"].items():
            field = model(part, f"{name}_{key}")
            fields[key] = (field, ...) if key in required else (field | None, None)
        return create_model(name, **fields)
    if kind == "array":
        return list[model(schema.get("items", {}), f"{name}_item")]
    simple = {"string": str, "integer": int, "number": float, "boolean": bool}
    return simple.get(kind if isinstance(kind, str) else "", object)


def main(folder):
    for name in ("a_weather", "b_issues", "c_records"):
        schema = json.loads((folder / f"{name}.schema.json").read_bytes())
        text = (folder / f"{name}.json").read_bytes()
        validator = TypeAdapter(model(schema, name))
        validator.validate_json(text)
        ours = Schema.compile(schema)
        theirs, mine = least(lambda: validator.validate_json(text), lambda: ours.is_valid(text))
        print(f"pydantic, {name}, from bytes: {theirs / mine:.1f}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) / "bench")
