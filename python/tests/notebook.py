#!/usr/bin/env python3
"""Run the cells of a notebook as Jupyter does, without Jupyter.

    python3 python/tests/notebook.py FILE.ipynb ...    # run each, and write its output into it

A cell's output is what it prints, the value of its last expression as text and as HTML, and
figures of matplotlib. The tests compare what is text with what the file holds.
"""

import ast
import base64
import contextlib
import importlib
import io
import json
import os
import pathlib
import sys


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def outputs(path):
    """Run a notebook in its directory and return the outputs of its code cells."""
    path = pathlib.Path(path).absolute()
    space = {"__name__": "__main__"}
    before, found, count = os.getcwd(), [], 0
    os.environ["MPLBACKEND"] = "agg"
    os.chdir(path.parent)
    try:
        for number, cell in enumerate(load(path)["cells"]):
            if cell["cell_type"] == "code":
                count += 1
                found.append(_run("".join(cell["source"]), f"<{path.name}, cell {number}>", space, count))
    finally:
        os.chdir(before)
    return found


def _run(source, name, space, count):
    tree = ast.parse(source, name)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, made = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(last, name, "eval"), space) if last else None
    if printed.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_") and value._repr_html_() is not None:
            data = {"text/html": _lines(value._repr_html_())} | data
        made.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    if "matplotlib.pyplot" in sys.modules:
        plots = importlib.import_module("matplotlib.pyplot")
        for number in plots.get_fignums():
            picture = io.BytesIO()
            plots.figure(number).savefig(picture, format="png", metadata={"Software": None})
            made.append({"data": {"image/png": base64.b64encode(picture.getvalue()).decode() + "\n", "text/plain": ["<Figure>"]},
                         "metadata": {}, "output_type": "display_data"})
        plots.close("all")
    return made


def _lines(text):
    return text.splitlines(keepends=True)


def texts(cells):
    """Return of each code cell's outputs what is printed and what the values are as text."""
    said = []
    for made in cells:
        printed = "".join("".join(o["text"]) for o in made if o["output_type"] == "stream" and o["name"] == "stdout")
        values = ["".join(o["data"]["text/plain"]) for o in made if o["output_type"] == "execute_result"]
        said.append((printed, values))
    return said


def stored(path):
    return [cell["outputs"] for cell in load(path)["cells"] if cell["cell_type"] == "code"]


def write(path):
    notebook, found = load(path), outputs(path)
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    for count, (cell, made) in enumerate(zip(cells, found, strict=True), 1):
        cell["outputs"], cell["execution_count"] = made, count
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    import support  # noqa: F401  builds the program, and finds the package
    for name in sys.argv[1:]:
        write(name)
