"""Runs the code cells of a notebook one after the other, and compares what each prints with the output saved in it.

    notebook.py NOTEBOOK [--update]
"""

import contextlib
import io
import json
import sys


def main(path, update):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    names, differ = {}, 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        lines = printed.getvalue().splitlines(keepends=True)
        saved = [line for output in cell["outputs"] for line in output["text"]]
        if update:
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        elif lines != saved:
            differ += 1
            print(f"cell {number} prints\n{''.join(lines)}and the notebook has\n{''.join(saved)}")
    if update:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    print(f"notebook: {differ} cells differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main(sys.argv[1], "--update" in sys.argv)
