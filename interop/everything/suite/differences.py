"""What may differ between an observation with and without the gateway, each with its reason. Nothing else may.

From run to run, with or without the gateway:
- the name of the run, which people's marks begin with;
- times of day in the resources that the server makes up;
- ids that the server makes up: of its sessions, which it tells in its texts, and of an elicitation;
- how often an update is told: the server repeats it every five seconds.

Through the gateway, and documented:
- `serverInfo` is the gateway's own: it is the gateway that answers `initialize`;
- the capability `tasks`, and a tool that can only be called as a task: tasks are not passed on (docs/concepts/eras.md);
- `notifications/tools/list_changed`: the gateway fetches the list, and tells clients only of one that differs from what they
  were shown (docs/reference/protocol.md). The server announces each of its tools for this client after `initialize`.
"""

import base64
import json
import re

GATEWAY = "through the gateway"
UUID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
TIME = re.compile(r"\b\d{1,2}:\d\d:\d\d(\s[AP]M)?")


def without(title, feature, observed, run):
    """The observation without what may differ. `run`: the name of the run in people's marks."""
    settled = _settled(json.loads(json.dumps(observed)), run)
    change = {
        "greeting": _greeting, "tools": _tools, "subscriptions": _subscriptions, "the other client": _other,
    }.get(feature)
    return change(settled, title != GATEWAY) if change else settled


def _settled(value, run):
    if isinstance(value, dict):
        return {key: _settled(_text(each) if key == "blob" else each, run) for key, each in value.items()}
    if isinstance(value, list):
        return [_settled(each, run) for each in value]
    if isinstance(value, str):
        return TIME.sub("TIME", UUID.sub("ID", value.replace(run, "RUN")))
    return value


def _text(blob):
    """A blob that is text, as this text: there may be a time in it."""
    try:
        return base64.b64decode(blob).decode()
    except (TypeError, ValueError):
        return blob


def _greeting(said, direct):
    if direct:
        said["capabilities"].pop("tasks", None)
        for person in said["both"]:
            person["tools"] = [name for name in person["tools"] if name != "simulate-research-query"]
    elif said["serverInfo"]["name"] != "countersign":
        return said
    del said["serverInfo"]
    return said


def _tools(said, direct):
    if direct:
        said["tools"] = [tool for tool in said["tools"] if tool.get("execution", {}).get("taskSupport") != "required"]
    return said


def _subscriptions(said, _direct):
    for updates in said.values():
        updates["heard"] = [news for number, news in enumerate(updates["heard"]) if news not in updates["heard"][:number]]
    return said


def _other(heard, direct):
    return [news for news in heard if not (direct and news["method"] == "notifications/tools/list_changed")]
