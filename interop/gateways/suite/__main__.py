"""Runs the suite: `python -m suite WORK BINARIES SNIPPETS`."""

import shutil
import sys
import tempfile
from pathlib import Path

from driver.gateway import Processes, free_port, wait_for_port
from driver.tools import Tools

from . import checks, proxies
from .database import Database
from .gateway import Gateway
from .rolling import a_rolling_restart_fails_no_call


class Upstream:
    """The server behind both gateways, always on the same port."""

    def __init__(self, processes, tools):
        self._processes, self._port = processes, free_port()
        script = Path(__file__).with_name("server.json")
        self._command = [tools.fixture, "http", "--script", str(script), "--sse", "--listen", f"127.0.0.1:{self._port}"]
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        self.start()

    def start(self):
        self._process = self._processes.start(f"upstream-{free_port()}", self._command)
        wait_for_port(self._port)

    def stop(self):
        self._process.kill()
        self._process.wait()


def main():
    tools, snippets = Tools(sys.argv[1], sys.argv[2]), Path(sys.argv[3])
    folder = Path(tempfile.mkdtemp(prefix="gateways-")).resolve()
    folder.chmod(0o755)
    processes = Processes(folder)
    complaints, database = ["the run broke off"], None
    try:
        database = Database(folder)
        upstream = Upstream(processes, tools)
        gateways = [Gateway(name, processes, tools, folder, database, upstream.url) for name in ("one", "two")]
        complaints = run(processes, tools, folder, snippets, gateways, upstream)
    finally:
        processes.stop()
        if database:
            database.stop()
        if complaints:
            print(f"logs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(1 if complaints else 0)


def run(processes, tools, folder, snippets, gateways, upstream):
    complaints = []

    def check(what, found):
        print(f"{'FAILED' if found else 'ok'}: {what}", flush=True)
        complaints.extend(f"{what}: {complaint}" for complaint in found)

    first, second = gateways
    for proxy in (proxies.nginx, proxies.haproxy):
        name = proxy.__name__
        port = proxy(processes, folder, snippets, gateways)
        check(f"{name}: both gateways write, each sees all", checks.both_write_and_each_sees_all(port, gateways))
        check(f"{name}: no event is held back", checks.no_event_is_held_back(port))
        check(f"{name}: a killed gateway loses no recorded reply", checks.a_killed_gateway_loses_no_recorded_reply(port, second, first))
        check(f"{name}: a rolling restart fails no call", a_rolling_restart_fails_no_call(port, gateways, tools, folder))
    restarted = checks.a_restarted_gateway_has_the_tools(second, upstream.stop, upstream.start)
    check("a restarted gateway serves captured tools at once", restarted)
    check("every chain verifies", checks.chains_hold(tools, first))
    return complaints


main()
