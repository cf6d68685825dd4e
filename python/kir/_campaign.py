"""Campaigns: experiments in rounds."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import _program, _tables, _values
from ._problem import FILE, Problem, _need, _temporary, framed
from ._program import Error

_OWN = ("reason", "beats best", "improvement")
_PREDICTED = ("predicted ", "low ", "high ")


class Campaign:
    """Experiments in rounds: next() chooses recipes, record() takes what came of them.

    The arguments are those of [Problem]. dir: the directory of the problem file and the
    results; Campaign(dir=...) alone goes on with one. Without it the directory is temporary
    and goes with the object, and so do its results: name one for a campaign of more than a
    session.
    """

    def __init__(self, book: Any = None, *, dir: str | os.PathLike[str] | None = None, **problem: Any) -> None:
        self.directory = pathlib.Path(dir).absolute() if dir is not None else _temporary(self)
        file = self.directory / FILE
        if book is None and not problem:
            if not file.is_file():
                raise Error(f"{self.directory} has no {FILE}", "say of what recipes the campaign is")
            self.problem = Problem.load(file)
            return
        self.problem = Problem(book, directory=self.directory, **problem)
        self.problem.passing = dir is None
        if file.is_file():
            there = _program.run(["schema", "--", str(file)]).json()
            if there != _json(self.problem):
                raise Error(f"{self.directory} holds another problem",
                            "kir.Campaign(dir=...) alone goes on with it; name another directory for this one")
        self.problem._place()  # what is wrong with the directory shows at once

    def next(self, n: int | None = None, *, seed: int | None = None, given: Mapping[str, Any] | None = None,
             allow_programs: bool = False) -> Any:
        """Return the next recipes to make, a row each: id, amounts in the book's unit, the value of
        each condition, what is predicted with its 90 % interval, and the reason. As long as nothing
        is recorded, the same batch comes again.

        given: {condition: value} that is met and not chosen."""
        flags = [f"--{k}={v}" for k, v in _values.given({"number": n, "seed": seed}).items()] + _flags_of(given)
        batch = self.problem.run("next", "--json", *flags, allow_programs=allow_programs).json()
        used = sorted({name for e in batch["batch"] for name, amount in e["recipe"].items() if amount})
        rows = []
        for e in batch["batch"]:
            row: dict[str, Any] = {"id": e["id"]}
            amounts = _written(e["recipe"], batch["measure"])
            row |= {name: amounts.get(name, 0) for name in used}
            row |= {c["name"]: e["conditions"][c["name"]] for c in batch.get("conditions") or []}
            for label, p in (e["predicted"] or {}).items():
                row |= {f"predicted {label}": p["value"], f"low {label}": p["low"], f"high {label}": p["high"]}
            row |= {"beats best": e["beats_best"], "improvement": e["improvement"], "reason": e["reason"]["text"]}
            rows.append(row)
        table = _tables.frame(rows, list(dict.fromkeys(k for row in rows for k in row)), polars=self.problem.polars)
        if hasattr(table, "attrs"):
            table.attrs["kir"] = batch
        return table

    def record(self, results: Any, *, made: Mapping[str, Any] | None = None, failed: bool = False, withdraw: bool = False,
               correct: bool = False, allow_programs: bool = False, missing: str = "zero", **labels: Any) -> dict[str, Any]:
        """Record results: a batch with its labels, any table of recipes with labels, the path
        of one, or one recipe, as in record("B3-1", liking=71). Returns how many were new. A column
        or a label that is a condition of the problem is the value that it had.

        missing: what a missing amount is, as of [Problem]."""
        flags = ["--json"]
        flags += [f"--{k}" for k, v in (("failed", failed), ("withdraw", withdraw), ("correct", correct)) if v]
        text = None
        if isinstance(results, str) and not os.path.exists(results):
            if made:
                flags.append("--made=" + ",".join(f"{k}={_tables.cell(v)}" for k, v in made.items()))
            args = [results, *(f"{k}={_tables.cell(v)}" for k, v in labels.items())]
        elif labels or made or failed:
            raise Error("labels, made and failed are of one recipe", 'name it: record("B3-1", liking=71)')
        elif _tables.is_path(results):
            args = [os.path.abspath(results)]
        else:
            columns, rows = _tables.rows_of(results)
            if not _tables.has_names(columns):
                raise Error("the recipes of the table have no names",
                            'a batch has the column id; give recipes of your own a column "recipe", such as '
                            'table.assign(recipe=["trial A", "trial B"])')
            _tables.check_missing([c for c in columns if c in self.problem.amounts()], rows, missing)
            kept = [c for c in columns if c not in _OWN and not (c.startswith(_PREDICTED) and "reason" in columns)]
            args, text = ["-"], _tables.text_of(kept, rows)
        done = self.problem.run("record", *flags, named=args, text=text, allow_programs=allow_programs)
        recorded: dict[str, Any] = done.json()
        return recorded

    def progress(self, *, given: Mapping[str, Any] | None = None, allow_programs: bool = False) -> Progress:
        """Return where the campaign stands; in a notebook it shows as a page with figures.

        given: as of next()."""
        return Progress(self, allow_programs, _flags_of(given))


    def __repr__(self) -> str:
        where = "" if self.problem.passing else f", dir={str(self.directory)!r}"
        objectives = ", ".join(self.problem.get("properties") or {}) or "no objectives"
        return f"kir.Campaign({objectives}{where})"

    def _repr_html_(self) -> str | None:
        try:
            return self.progress()._repr_html_()
        except Error:  # nothing is recorded yet, or a program is not allowed: the text shows instead
            return None


class Progress(dict[str, Any]):
    """Where a campaign stands: what `kir campaign --json` says."""

    def __init__(self, campaign: Campaign, allow_programs: bool, flags: Sequence[str] = ()) -> None:
        super().__init__(campaign.problem.run("campaign", "--json", *flags, allow_programs=allow_programs).json())
        self._campaign, self._allow, self._flags = campaign, allow_programs, flags

    @property
    def advice(self) -> str:
        """"go on" or "stop"."""
        return str(self["left"]["advice"])

    def __str__(self) -> str:
        return str(self["left"]["text"])

    def plot(self, label: str | None = None, axes: Any = None) -> Any:
        """Draw results beside what was predicted of them, with matplotlib; return its axes.

        label: which, by default the first.
        """
        wanted = label or next((t["label"] for t in self["told"]), None)
        told = [t for t in self["told"] if t["label"] == wanted]
        if not told:
            raise Error("there are no results of predicted recipes" + (f" for {label}" if label else ""), "record a batch first")
        axes = axes or _need("matplotlib.pyplot", "matplotlib").subplots()[1]
        at = range(len(told))
        values = [t["predicted"]["value"] for t in told]
        beyond = [[v - t["predicted"]["low"] for v, t in zip(values, told, strict=True)],
                  [t["predicted"]["high"] - v for v, t in zip(values, told, strict=True)]]
        axes.errorbar(at, values, yerr=beyond, fmt="o", fillstyle="none", label="predicted, 90 %")
        axes.plot(at, [t["measured"] for t in told], "x", label="measured")
        axes.set_xticks(list(at), [t["id"] for t in told])
        axes.set_ylabel(told[0]["label"])
        axes.legend()
        return axes

    def _repr_html_(self) -> str:
        return framed(self._campaign.problem.run("campaign", "--html", *self._flags, allow_programs=self._allow).out.decode())


def _flags_of(given: Mapping[str, Any] | None) -> list[str]:
    """Return the flags that give conditions values."""
    return [f"--given={name}={_tables.cell(value)}" for name, value in (given or {}).items()]


def _written(recipe: Mapping[str, int], measure: Mapping[str, Any]) -> dict[str, float | int]:
    """Return the amounts of a recipe as kir writes them: rounded so that they add up to the
    whole, by the largest remainder, and with so many decimals that they are read as the same
    units again."""
    total, decimals = sum(recipe.values()), int(measure["decimals"])
    names = sorted(recipe, key=lambda name: (-recipe[name], name))
    while True:
        scale: int = 10**decimals
        whole = Fraction(measure["size"]) * scale
        exact = {name: recipe[name] * whole / total for name in names}
        steps = {name: int(amount) for name, amount in exact.items()}
        left = round(whole) - sum(steps.values())
        for name in sorted(names, key=lambda name: steps[name] - exact[name])[:left]:
            steps[name] += 1
        if whole.denominator == 1 and all(2 * abs(steps[name] - exact[name]) * total < whole for name in names):
            break
        decimals += 1
    written = {name: Decimal(n) / scale for name, n in steps.items()}
    return {name: int(v) if v == int(v) else float(v) for name, v in written.items()}


def _json(problem: Problem) -> Any:
    return json.loads(problem.text())
