"""What an observation must show by itself, so that two that are equally wrong do not pass. Each gives its problems."""

import json

FIRST, SECOND = "demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2"


def problems(feature, said, run):
    """Of the observation of a feature; `run` is the name of the run in people's marks."""
    try:
        return list(DEMANDS.get(feature, lambda *_: ())(said, run))
    except (LookupError, TypeError) as error:
        return [f"{error!r} in {json.dumps(said)[:300]}"]


def _logging(said, _run):
    levels = [news["params"]["level"] for news in said["messages"]]
    if levels != ["info"] or not said["simulated"]:
        yield f"messages of levels {levels}, simulated {said['simulated']}"


def _subscriptions(said, _run):
    for key, expected in (("both", {FIRST, SECOND}), ("one", {FIRST})):
        told = {news["params"]["uri"] for news in said[key]["heard"]}
        if told != expected:
            yield f"told of {sorted(told)} instead of {sorted(expected)}"


def _progress(said, _run):
    if said["order"] != [[1, 3], [2, 3], [3, 3], "result"]:
        yield f"came in the order {said['order']}"


def _cancellation(said, run):
    server = said["server"]
    if not server["running"] or server["arguments"]["mark"] != f"{run}-ann":
        yield f"the server heard of {server}"


def _other(heard, _run):
    messages = [news["params"]["data"] for news in heard if news["method"] == "notifications/message"]
    if len(messages) != 1 or len(heard) != 1 + sum(news["method"] == "notifications/tools/list_changed" for news in heard):
        yield f"heard {heard}"


def _of_each(results, run):
    """The results of both people, each with their own mark and not the other's."""
    marks = [f"{run}-ann", f"{run}-bob"]
    for result, own, other in zip(results, marks, reversed(marks)):
        text = json.dumps(result)
        if own not in text or other in text:
            yield f"{own} got {text[:300]}"


def _sampling(said, run):
    yield from _of_each(said["results"], run)
    yield from _of_each(said["asked"], run)


def _elicitation(said, run):
    yield from _of_each(said["accepted"]["results"], run)
    declined, accepted = (json.dumps(result) for result in said["declined"]["results"])
    if "declined to provide" not in declined or f"{run}-bob" not in accepted:
        yield f"declined: {declined[:300]}, accepted: {accepted[:300]}"


def _elicitation_by_url(said, run):
    yield from _sampling(said["opened"], run)
    if said["required"]["code"] != -32042:
        yield f"the call was answered with {said['required']}"


def _roots(said, run):
    yield from _of_each(said["before"], run)
    yield from _of_each(said["changed"]["results"], run)
    if any("more of" not in json.dumps(result) for result in said["changed"]["results"]):
        yield "roots did not change"


DEMANDS = {
    "logging": _logging,
    "subscriptions": _subscriptions,
    "progress": _progress,
    "cancellation": _cancellation,
    "the other client": _other,
    "sampling": _sampling,
    "elicitation": _elicitation,
    "elicitation by URL": _elicitation_by_url,
    "roots": _roots,
}
