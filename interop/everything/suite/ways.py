"""The ways to server-everything: directly over both transports, and through the gateway."""

import json
from dataclasses import dataclass

from driver.gateway import Gateway, free_port, wait_for_port


@dataclass
class Way:
    """A way through the gateway, and the direct one that it is compared with: the same transport of the server."""

    name: str
    alone: str
    title: str


class Ways:
    """Starts what the ways need. `targets`: name -> what a client connects to."""

    through = [
        Way("serve-stdio", "stdio", "serve over stdio"),
        Way("serve-http", "http", "serve over Streamable HTTP"),
        Way("wrap", "stdio", "wrap"),
    ]

    def __init__(self, processes, tools, folder):
        cancelled = folder / "cancelled.jsonl"
        cancelled.touch()
        watched = ["env", f"EVERYTHING_CANCELLED={cancelled}", tools.node, "--import", tools.file("everything/watch.mjs"),
                   # server-everything ends with an unhandled rejection if a client leaves while it is asked for its roots.
                   "--unhandled-rejections=warn"]
        program = tools.module("@modelcontextprotocol/server-everything/dist/index.js")
        stdio = [*watched, program, "stdio"]
        port = free_port()
        listening = [*watched, "--require", tools.file("loopback.cjs"), program, "streamableHttp"]
        processes.start("server", listening, {"PORT": str(port)})
        wait_for_port(port)
        url = f"http://127.0.0.1:{port}/mcp"
        # As a command the server is shared unless the configuration says otherwise; over HTTP it is not.
        servers = {"stdio": {"command": stdio[0], "args": stdio[1:], "isolation": "client"}, "http": {"url": url}}
        gateway = Gateway(processes, tools, folder, servers)
        wrap = folder / "wrap.json"
        wrap.write_text(json.dumps({"data_dir": str(folder / "wrap-data")}))
        wrapped = ["wrap", "--config", str(wrap), "--name", "everything", "--", *stdio]

        def served(name):
            return {"url": f"http://{gateway.host}:{gateway.port}/mcp/s/{name}", "headers": gateway.headers}

        self.targets = {
            "stdio": {"command": stdio[0], "args": stdio[1:]},
            "http": {"url": url, "headers": {}},
            "serve-stdio": served("stdio"),
            "serve-http": served("http"),
            "wrap": {"command": tools.countersign, "args": wrapped},
        }
        for target in self.targets.values():
            target["cancelled"] = str(cancelled)
