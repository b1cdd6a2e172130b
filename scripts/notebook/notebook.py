#!/usr/bin/env python3
"""Makes a Jupyter notebook of a script in cells, and runs one without Jupyter.

    notebook.py make walkthrough.py walkthrough.ipynb
    notebook.py run walkthrough.ipynb

A cell begins with "# %%", one of text with "# %% [markdown]". To run means: the code
of the cells in order, lines that begin with "!" in a shell, pictures not shown. A
command may exit with 3, which means that some photos could not be read.
"""

import json
import re
import subprocess
import sys
import types


def cells(script):
    for part in re.split(r"^# %%", script, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        body = body.strip("\n")
        if "[markdown]" in head:
            yield "markdown", re.sub(r"^# ?", "", body, flags=re.M)
        else:
            yield "code", body


def make(script, file):
    made = []
    for number, (kind, text) in enumerate(cells(open(script, encoding="utf-8").read())):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    with open(file, "w", encoding="utf-8") as f:
        f.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def shell(command):
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    if done.returncode not in (0, 3):
        raise SystemExit(f"{command}: exit code {done.returncode}")


def run(file):
    display = types.ModuleType("IPython.display")
    display.Image = lambda filename, width: open(filename, "rb").close()
    display.display = lambda picture: None
    sys.modules |= {"IPython": types.ModuleType("IPython"), "IPython.display": display}
    names = {"shell": shell}
    for cell in json.load(open(file, encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            code = re.sub(r"^!(.*)$", lambda m: f"shell({m[1]!r})", "".join(cell["source"]), flags=re.M)
            exec(compile(code, cell["id"], "exec"), names)


if __name__ == "__main__":
    {"make": make, "run": run}[sys.argv[1]](*sys.argv[2:])
