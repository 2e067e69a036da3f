"""The servers of the matrix: how each is started, over which transports, and what is asked of it.

Calls are chosen so that the same question has the same answer: no clock, no random, nothing that another call changed.
"""

import base64
import datetime
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Call:
    tool: str
    arguments: dict


@dataclass
class Server:
    name: str
    package: str
    command: list
    calls: list
    # transport -> the arguments that make the server itself speak it; others are spoken through the bridge
    speaks: dict = field(default_factory=dict)
    note: str = ""


def servers(tools, scratch):
    """`tools` has the paths of what was installed, `scratch` is a folder for what servers work on."""
    files, memory, repository = _files(scratch), _memory(scratch), _repository(scratch)
    everything = [tools.node, tools.module("@modelcontextprotocol/server-everything/dist/index.js")]
    sep834 = [tools.node, tools.module("@olaservo/mcp-server-everything-sep834/dist/index.js")]
    http = {"http": ["streamableHttp"], "sse": ["sse"]}
    return [
        Server("everything", "@modelcontextprotocol/server-everything", [*everything, "stdio"], _everything(), http),
        Server(
            "filesystem", "@modelcontextprotocol/server-filesystem",
            [tools.node, tools.module("@modelcontextprotocol/server-filesystem/dist/index.js"), str(files)], _filesystem(files),
        ),
        Server(
            "memory", "@modelcontextprotocol/server-memory",
            # A library hands a child only part of the environment.
            ["env", f"MEMORY_FILE_PATH={memory}", tools.node,
             tools.module("@modelcontextprotocol/server-memory/dist/index.js")],
            [
                Call("read_graph", {}),
                Call("search_nodes", {"query": "käse"}),
                Call("open_nodes", {"names": ["Anna", "nobody"]}),
            ],
        ),
        Server("time", "mcp-server-time", [tools.script("mcp-server-time"), "--local-timezone", "UTC"], _time()),
        Server(
            "git", "mcp-server-git", [tools.script("mcp-server-git"), "--repository", str(repository)],
            [
                Call("git_log", {"repo_path": str(repository)}),
                Call("git_show", {"repo_path": str(repository), "revision": "HEAD"}),
                Call("git_branch", {"repo_path": str(repository), "branch_type": "local"}),
                Call("git_diff", {"repo_path": str(repository), "target": "HEAD~1", "context_lines": 1}),
            ],
        ),
        Server("sep834", "@olaservo/mcp-server-everything-sep834", [*sep834, "stdio"], _sep834(), {"http": ["streamableHttp"]}),
    ]


def _everything():
    return [
        Call("get-structured-content", {"location": "Chicago"}),
        Call("echo", {"message": "grüße, \"wire\" \\ 世界 😀"}),
        Call("get-sum", {"a": 0.1, "b": 9007199254740991}),
        Call("get-tiny-image", {}),
        Call("get-annotated-message", {"messageType": "error", "includeImage": True}),
        Call("get-resource-links", {"count": 2}),
        # The server itself says no, in a result.
        Call("get-sum", {"a": "one", "b": 2}),
    ]


def _sep834():
    return [
        Call("get-weather-forecast", {"hours": 3}),
        Call("get-count", {"collection": "users"}),
        Call("find-by-id-or-name", {"id": "res-001"}),
        Call("get-structured-content", {"location": "New York"}),
    ]


def _filesystem(files):
    return [
        Call("read_text_file", {"path": str(files / "notes.txt")}),
        Call("read_media_file", {"path": str(files / "dot.png")}),
        Call("list_directory", {"path": str(files)}),
        Call("directory_tree", {"path": str(files)}),
        Call("read_text_file", {"path": str(files / "missing.txt")}),
    ]


def _time():
    # The answer has today's date in the source's zone: one where it is nowhere near midnight.
    day = 6 <= datetime.datetime.now(datetime.timezone.utc).hour < 18
    noon = {"source_timezone": "Etc/UTC" if day else "Etc/GMT-12", "time": "12:00"}
    return [
        Call("convert_time", {**noon, "target_timezone": "Asia/Kathmandu"}),
        Call("convert_time", {**noon, "target_timezone": "Nowhere/At_all"}),
    ]


def _files(scratch):
    files = scratch / "files"
    (files / "folder").mkdir(parents=True)
    (files / "notes.txt").write_text("first line\n\ttabs, \"quotes\" and \\ backslashes\nkäse 世界 😀\n", encoding="utf-8")
    (files / "folder" / "inner.txt").write_text("inner\n")
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    (files / "dot.png").write_bytes(base64.b64decode(dot))
    return files


def _memory(scratch):
    memory = scratch / "memory.jsonl"
    graph = [
        {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes Käse", "speaks \"three\" languages"]},
        {"type": "entity", "name": "Bern", "entityType": "city", "observations": []},
        {"type": "relation", "from": "Anna", "to": "Bern", "relationType": "lives in"},
    ]
    memory.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in graph), encoding="utf-8")
    return memory


def _repository(scratch):
    repository = scratch / "repository"
    repository.mkdir()
    who = {"NAME": "Nobody", "EMAIL": "nobody@example.com", "DATE": "2026-01-02T03:04:05+00:00"}
    environment = {
        **{key: os.environ[key] for key in ("PATH",)},
        "HOME": str(scratch), "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()},
    }

    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=repository, env=environment, check=True, stdout=subprocess.DEVNULL)

    git("init", "--quiet", "--initial-branch=main")
    for number, text in enumerate(["one\ntwo\nthree\n", "one\nzwei — \"2\"\nthree\n"]):
        Path(repository, "numbers.txt").write_text(text, encoding="utf-8")
        git("add", "numbers.txt")
        git("commit", "--quiet", "--message", f"write numbers, take {number + 1}")
    git("branch", "other")
    return repository
