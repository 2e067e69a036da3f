"""Whether a client observes through the gateway what it observes without it."""

import json

from .demands import problems
from .differences import without

# Every feature, in the order in which clients perform them (clients/features.mjs, clients/features.py).
FEATURES = (
    "greeting", "tools", "prompts", "resources", "made resources", "completion", "logging", "subscriptions", "progress",
    "cancellation", "the other client", "sampling", "elicitation", "elicitation by URL", "roots",
)
# Differences of one feature that are told.
TOLD = 3


def features(alone, through):
    """(feature, complaints) for each: of what both reports must have by themselves, and of what differs between them."""
    for feature in FEATURES:
        yield feature, list(_complaints(feature, alone, through))


def _complaints(feature, alone, through):
    observed = {}
    for title, report in (("directly", alone), ("through the gateway", through)):
        found = report["said"].get(feature, {"failed": report.get("error", "not performed")})
        if isinstance(found, dict) and "failed" in found:
            yield f"{title}: {found['failed']}"
            continue
        observed[title] = found
        yield from (f"{title}: {problem}" for problem in problems(feature, found, report["id"]))
    if len(observed) == 2:
        expected = without("directly", feature, observed["directly"], alone["id"])
        got = without("through the gateway", feature, observed["through the gateway"], through["id"])
        yield from list(differing(expected, got))[:TOLD]


def differing(expected, got, place=""):
    """Where two observations differ."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            yield from differing(expected.get(key), got.get(key), f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for number, pair in enumerate(zip(expected, got)):
            yield from differing(*pair, f"{place}/{number}")
    elif isinstance(expected, list) and isinstance(got, list):
        missing = [one for one in expected if one not in got]
        more = [one for one in got if one not in expected]
        yield f"{place}: {len(got)} instead of {len(expected)}, without {_short(missing)}, but with {_short(more)}"
    elif expected != got:
        yield f"{place}: directly {_short(expected)}, through the gateway {_short(got)}"


def _short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else f"{text[:200]}…"
