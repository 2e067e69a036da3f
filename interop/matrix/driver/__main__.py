"""Runs the matrix: `python -m driver WORK BINARIES PAGE [--update]`. The table goes to stdout, and into the page under
--update; without it the page has to have this very table."""

import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

from . import matrix, table, violating
from .gateway import Processes
from .tools import Tools


def main():
    tools = Tools(sys.argv[1], sys.argv[2])
    page = Path(sys.argv[3])
    folder = Path(tempfile.mkdtemp(prefix="matrix-")).resolve()
    processes = Processes(folder)
    tools.wrap_config = folder / "wrap.json"
    tools.wrap_config.write_text(json.dumps({"data_dir": str(folder / "gateway-data")}))
    complaints = ["the run broke off"]
    try:
        rows = asyncio.run(matrix.run(processes, tools, folder))
        found = asyncio.run(violating.run(processes, tools, folder))
        text = table.table(tools, rows, found)
        print(text)
        complaints = [*failures(rows), *violating.failures(found)]
        if sys.argv[4:] == ["--update"]:
            # The docs say what works.
            if not complaints:
                table.into_docs(page, text)
        elif table.in_docs(page) != text:
            complaints.append("the table in docs/reference/interop.md is another one: interop/matrix/run --update writes this one")
    finally:
        processes.stop()
        for complaint in complaints:
            print(complaint)
        if complaints:
            print(f"what was said is in {folder}")
        else:
            shutil.rmtree(folder)
    sys.exit(bool(complaints))


def failures(rows):
    for row in rows:
        for title, cell in row.cells.items():
            if cell.failure:
                yield f"{title} to {row.upstream} through {row.way}: {cell.failure}"


main()
