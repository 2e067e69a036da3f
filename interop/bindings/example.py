"""Prints the first program of a README, and with --output what its last comment lines say that it prints."""

import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
language, program = re.search(r"```(python|js)\n(.*?)```", text, re.S).groups()
comment = "#" if language == "python" else "//"
if "--output" in sys.argv:
    lines = [line for line in program.splitlines() if line.startswith(comment)]
    program = "".join(line[len(comment) + 1 :] + "\n" for line in lines)
print(program, end="")
