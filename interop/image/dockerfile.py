"""Writes the steps of a Dockerfile as shell scripts: `build.sh` for the ARG and RUN lines of its first stage, `copy.sh` for the COPY
lines of its last stage, `image.env` for user, environment and command. Fails on an instruction that it does not know."""

import json
import re
import shlex
import sys
from pathlib import Path

IGNORED = {"FROM", "WORKDIR", "VOLUME", "EXPOSE"}


def instructions(text):
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M)
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.strip():
            yield line.split(None, 1)


def main(dockerfile, work):
    stage, build, copy = 0, [], []
    environment, user, entry, command = [], None, [], []
    for name, rest in instructions(Path(dockerfile).read_text()):
        if name == "FROM":
            stage += 1
        elif name == "RUN" and rest.startswith("apt-get "):
            print(f"left out, this machine has its own packages: {rest}")
        elif name == "ARG":
            assert "=" in rest, f"no default: {rest}"
            build.append(rest)
        elif name == "RUN":
            build.append(re.sub(r"(?<!\S)/out/", f"{work}/out/", rest))
        elif name == "COPY" and stage == 1:
            assert rest == ". .", rest
        elif name == "COPY":
            stage_option, owner, source, target = rest.split()
            assert stage_option == "--from=build" and owner.startswith("--chown="), rest
            copy.append(f"mkdir -p $(dirname {work}/image{target})")
            copy.append(f"cp -a {work}{source} {work}/image{target}")
            copy.append(f"chown -R {owner.removeprefix('--chown=')} {work}/image{target}")
        elif name == "ENV":
            environment += shlex.split(rest)
        elif name == "USER":
            user = rest
        elif name == "ENTRYPOINT":
            entry = json.loads(rest)
        elif name == "CMD":
            command = json.loads(rest)
        else:
            assert name in IGNORED, f"unknown instruction: {name}"
    assert user and entry, "an image without a user or a program"
    Path(work, "build.sh").write_text("\n".join(build) + "\n")
    Path(work, "copy.sh").write_text("\n".join(copy) + "\n")
    Path(work, "image.env").write_text(
        f"image_env=({shlex.join(environment)})\nimage_user={shlex.quote(user)}\nimage_command=({shlex.join(entry + command)})\n"
    )


main(*sys.argv[1:])
