"""The four client libraries. Each is one process that performs every feature against one target after the other."""

import asyncio
import json

# The script of each, in clients/.
LIBRARIES = {
    "TypeScript 1": "typescript1.mjs",
    "TypeScript 2": "typescript2.mjs",
    "Python 1": "python1.py",
    "Python 2": "python2.py",
}
# Seconds for all targets of one library.
TIME = 300


async def attend(tools, folder, library, ways):
    """What the library observed, by the name of the way."""
    slug = library.replace(" ", "").lower()
    targets = [{"id": f"{slug}-{name}", **target} for name, target in ways.targets.items()]
    job = folder / f"{slug}.json"
    job.touch(0o600)
    job.write_text(json.dumps({"targets": targets}))
    script = LIBRARIES[library]
    program = tools.node if script.endswith("mjs") else tools.python(library.split()[1])
    out, err = await _run([program, str(tools.work / "everything" / script), str(job)], tools.work)
    (folder / f"{slug}.out").write_text(out)
    (folder / f"{slug}.err").write_text(err)
    reports = {report["id"]: report for report in map(json.loads, out.split("\n")[:-1])}
    silent = {"error": f"the client ended without a word: {err[-300:]}", "said": {}}
    return {name: {"id": f"{slug}-{name}", **reports.get(f"{slug}-{name}", silent)} for name in ways.targets}


async def _run(command, folder):
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        cwd=folder, limit=1 << 26,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), TIME)
    except asyncio.TimeoutError:
        process.kill()
        return "", f"no end after {TIME} s"
    return out.decode(), err.decode(errors="replace")
