"""The outcome as Markdown: what was run with what, and what came of it. Nothing in it differs from run to run."""

import json
from pathlib import Path

from .clients import clients
from .matrix import TRANSPORTS, WAYS
from .violating import EXPECTED, SETTINGS

BEGIN, END = "<!-- begin: generated -->", "<!-- end -->"


def table(tools, rows, violating):
    return "\n".join([*_versions(tools, rows), "", *_cells(tools, rows), "", *_violating(tools, violating)])


def _versions(tools, rows):
    """From what was installed, so that the table cannot name another."""
    yield from ["| client | package | version | speaks here |", "|---|---|---|---|"]
    for client in clients(tools):
        spoken = sorted({cell.version for row in rows if (cell := row.cells[client.title]).version})
        yield f"| {client.title} | `{client.package}` | {_version(tools, client.package, client.title)} | {', '.join(spoken)} |"
    yield from ["", "| server | package | version | speaks to the gateway |", "|---|---|---|---|"]
    for server in dict.fromkeys(row.server.name for row in rows):
        own = [row for row in rows if row.server.name == server and row.way == "one"]
        spoken = "; ".join(f"{TRANSPORTS[row.transport]}: {row.direct.version}" for row in own)
        yield f"| {server} | `{own[0].server.package}` | {_version(tools, own[0].server.package, 'Python 2')} | {spoken} |"


def _version(tools, package, title):
    module = Path(tools.module(package), "package.json")
    if module.exists():
        return json.loads(module.read_text())["version"]
    site = next(Path(tools.python(title.split()[1])).parent.parent.glob("lib/*/site-packages"))
    return next(site.glob(f"{package.replace('-', '_')}-[0-9]*.dist-info")).name.split("-")[1].removesuffix(".dist")


def _cells(tools, rows):
    titles = [client.title for client in clients(tools)]
    yield f"| server | server's transport | way | {' | '.join(titles)} |"
    yield "|---" * (3 + len(titles)) + "|"
    order = list(WAYS)
    names = list(dict.fromkeys(row.server.name for row in rows))
    for row in sorted(rows, key=lambda row: (names.index(row.server.name), order.index(row.way))):
        cells = " | ".join(row.cells[title].failure or "ok" for title in titles)
        yield f"| {row.server.name} | {TRANSPORTS[row.transport]} | {WAYS[row.way]} | {cells} |"


def _violating(tools, found):
    heads = [f"`{setting}`, {when}" for setting in SETTINGS for when in ("first call", "listed again", "a later client")]
    yield f"| the result | client | way | {' | '.join(heads)} |"
    yield "|---" * (3 + len(heads)) + "|"
    for tool, kind in {"bad_output": "breaks the schema", "text_only": "has no `structuredContent`"}.items():
        for client in clients(tools):
            for way in ("serve", "wrap") if client.script else ():
                cells = []
                for setting in SETTINGS:
                    said = found[client.title, tool, setting, way]
                    cells += said + ["–"] * (len(EXPECTED[setting]) - len(said))
                yield f"| {kind} | {client.title} | `{way}` | {' | '.join(cells)} |"


def in_docs(page):
    """The table as the docs have it."""
    text = page.read_text(encoding="utf-8")
    return text.split(BEGIN)[1].split(END)[0].strip("\n")


def into_docs(page, text):
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
