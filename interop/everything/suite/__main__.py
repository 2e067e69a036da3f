"""Runs the suite: `python -m suite WORK BINARIES`."""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from driver.gateway import Processes
from driver.tools import Tools

from . import compare
from .clients import LIBRARIES, attend
from .ways import Ways


def main():
    tools = Tools(sys.argv[1], sys.argv[2])
    folder = Path(tempfile.mkdtemp(prefix="everything-")).resolve()
    processes = Processes(folder)
    complaints = ["the run broke off"]
    try:
        ways = Ways(processes, tools, folder)
        complaints = asyncio.run(run(tools, folder, ways))
    finally:
        processes.stop()
        if complaints:
            print(f"logs and observations: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(1 if complaints else 0)


async def run(tools, folder, ways):
    """Every library at the same time, so that clients of all of them are connected to the same gateway."""
    reports = await asyncio.gather(*(attend(tools, folder, library, ways) for library in LIBRARIES))
    complaints = []
    for library, said in zip(LIBRARIES, reports):
        for way in ways.through:
            for feature, found in compare.features(said[way.alone], said[way.name]):
                print(f"{'FAILED' if found else 'ok'}: {library}, {way.title}, {feature}", flush=True)
                complaints.extend(f"{library}, {way.title}, {feature}: {complaint}" for complaint in found)
    return complaints


main()
