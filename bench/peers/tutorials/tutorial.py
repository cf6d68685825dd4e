"""What the tutorials share: runs both programs on a task, and prints a table of their answers.

A tutorial has a function for each program, which returns an Answer. The imports of a peer stand in its function, so
that kir's side runs without the peer.
"""

import argparse
import ast
import dataclasses
import importlib.metadata
import inspect
import pathlib
import resource
import sys
import textwrap
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))


@dataclasses.dataclass
class Answer:
    """What a program answers: a table of recipes, and lines of text beside them."""

    recipes: object
    says: list = dataclasses.field(default_factory=list)
    figures: dict = dataclasses.field(default_factory=dict)  # further rows of the printed table
    setup: float = 0  # seconds of the processor that importing took
    seconds: float = 0  # seconds of the processor without importing


def processor():
    """Return the seconds of the processor of this process and its children."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(p.ru_utime + p.ru_stime for p in parts)


def statements_of(function):
    """Return the imports of a function, and its other statements without the text that describes it."""
    function = getattr(function, "func", function)  # of functools.partial
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body
    imports = [s for s in body if isinstance(s, (ast.Import, ast.ImportFrom))]
    others = [s for s in body if s not in imports and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return imports, others


def lines_of(function):
    """Count the lines of a function that have code, without imports and comments."""
    lines = set()
    for statement in statements_of(function)[1]:
        for node in ast.walk(statement):
            lines |= {node.lineno, node.end_lineno} if hasattr(node, "lineno") else set()
    return len(lines)


def run(function, *arguments):
    """Call a program's function, and measure it without its imports."""
    before = processor()
    exec("\n".join(ast.unparse(s) for s in statements_of(function)[0]), {})  # a second import of a module costs nothing
    began = processor()
    answer = function(*arguments)
    answer.setup, answer.seconds = began - before, processor() - began
    return answer


def compare(title, peer, functions, broken, arguments=()):
    """Run the functions, name to function, print their answers and a table, and return the answers.

    broken returns the names of the constraints that a recipe breaks. It is written apart from both programs.
    """
    warnings.filterwarnings("ignore")
    options = argparse.ArgumentParser(description=title)
    options.add_argument("--only", choices=[*functions], help="run one of these alone")
    only = options.parse_args().only
    functions = {n: f for n, f in functions.items() if only in (None, n)}
    answers = {}
    for name, function in functions.items():
        answers[name] = answer = run(function, *arguments)
        print(f"\n{name}")
        print(answer.recipes.round(3).to_string())
        for line in answer.says:
            print(f"  {line}")
        for place, row in enumerate(answer.recipes.to_dict("records")):
            for constraint in broken(row):
                print(f"  recipe {place} breaks: {constraint}")
    rows = {"lines of code without imports": {n: lines_of(f) for n, f in functions.items()},
            "processor time without imports, s": {n: f"{a.seconds:.1f}" for n, a in answers.items()},
            "processor time of imports, s": {n: f"{a.setup:.1f}" for n, a in answers.items()},
            "recipes that keep all constraints": {n: kept(a, broken) for n, a in answers.items()}}
    for n, a in answers.items():
        for figure, value in a.figures.items():
            rows.setdefault(figure, {})[n] = value
    print(f"\n{title}\n\n| | {' | '.join(functions)} |\n| --- |{' ---: |' * len(functions)}")
    for row, values in rows.items():
        print(f"| {row} | {' | '.join(str(values.get(n, '')) for n in functions)} |")
    if any(not n.startswith("kir") for n in functions):
        print(f"\n{', '.join(f'{p} {importlib.metadata.version(p)}' for p in peer)}")
    return answers


def kept(answer, broken):
    """Return how many recipes of an answer keep all constraints."""
    recipes = answer.recipes.to_dict("records")
    return f"{sum(not broken(r) for r in recipes)} of {len(recipes)}"


def reasons(batch, n=2):
    """Return what kir says beside the first recipes of a batch."""
    return [f"{row['id']}: {row['reason']}" for row in batch.head(n).to_dict("records")]


def counts(campaign):
    """Return how many recipes kir counts that keep the constraints of a campaign."""
    check = campaign.problem.check()
    sizes = ", ".join(f"{s['compositions']:,} of {s['n']}" for s in check["sizes"])
    return f"{check['compositions']:,} recipes keep the constraints; by the number of ingredients: {sizes}"


def gap(points, batch):
    """Return the mean distance of points from the nearest recipe of a batch: half the sum of absolute differences, as
    a share of the whole."""
    nearest = None
    for _, recipe in batch.iterrows():
        distance = (points[batch.columns] - recipe).abs().sum(axis=1)
        nearest = distance if nearest is None else nearest.combine(distance, min)
    return float(nearest.mean() / 2 / points.iloc[0].sum())
