"""Problems and runs."""

from __future__ import annotations

import ast
import csv
import html
import inspect
import io
import json
import os
import pathlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from . import _program, _tables
from ._ask import Function, Server, as_function
from ._bar import bar
from ._program import Error
from ._values import FILED, called, given, plain_text, written

FILE = "problem.yaml"

# Columns of draws, so that no objective can be called so.
_TAKEN = {"chain", "draw", "log_density", "used", "score", "amount", "ingredient", "recipe"}


class Problem(MutableMapping[str, Any]):
    """A problem file as a mapping, and the tables and functions that it names.

    recipes and ingredients: a DataFrame, a list of dicts, a dict of lists, or the path of a
    file; ingredients may also be a list of names. total: the units that a recipe is divided
    into. maximize, minimize: a label of the recipes, or several. objectives: {name: what
    kir.learn, kir.blend and the like return, or a function or estimator}. rules: a list of
    what kir.limit, kir.amount and the like return. conditions: {column of the recipes: what a trial may set
    there}, a list of values, or the keys of the problem file, such as {"from": 150, "to": 190, "step": 5}.
    Other keys are those of the problem file. missing: what a missing number (NaN, None, pandas' NA) in a column of
    recipes that is neither label nor condition is: "zero", with a warning, or "refuse".
    directory: where the problem is written; without one it is a temporary directory that goes with the object.
    """

    def __init__(self, recipes: Any = None, *, ingredients: Any = None, total: int | None = None,
                 maximize: str | Sequence[str] = (), minimize: str | Sequence[str] = (),
                 objectives: Mapping[str, Any] | None = None, rules: Sequence[Mapping[str, Any]] = (),
                 conditions: Mapping[str, Any] | None = None, directory: str | os.PathLike[str] | None = None,
                 missing: str = "zero", **keys: Any) -> None:
        self._tables: dict[str, str] = {}
        self._functions: dict[str, Function] = {}
        self._models: dict[str, Function] = {}  # by file: what goes over as one
        self._path: pathlib.Path | None = None
        self._loaded: str | None = None
        self.passing = False  # whether the directory goes with the object
        self.polars = _tables.is_polars(recipes)  # whether tables that come back are polars', too
        self._directory = pathlib.Path(directory) if directory is not None else None
        self._keys: dict[str, Any] = given({"name": keys.pop("name", None)})
        if recipes is not None:
            named = [n for said in (maximize, minimize) for n in ([said] if isinstance(said, str) else said)]
            named += [n for o in (objectives or {}).values() for n in _labels(o)]
            named += conditions or {}
            self._keys["recipes"] = self._source(recipes, "recipes.csv",
                                                 lambda table: _tables.recipes_text(table, missing, named))
        if ingredients is not None:
            names = isinstance(ingredients, (list, tuple)) and all(isinstance(i, str) for i in ingredients)
            count = isinstance(ingredients, Mapping) and set(ingredients) == {"count"}
            if not names and not count:
                ingredients = self._source(ingredients, "ingredients.csv", _tables.table_text)
            self._keys["ingredients"] = ingredients
        if total is not None:
            self._keys["total"] = total
        if conditions:
            self._keys["conditions"] = {n: dict(c) if isinstance(c, Mapping) else {"values": list(c)}
                                        for n, c in conditions.items()}
        properties: dict[str, Any] = {}
        for direction, labels in (("maximize", maximize), ("minimize", minimize)):
            for label in [labels] if isinstance(labels, str) else labels:
                properties[label if label not in _TAKEN else f"{label} of recipes"] = {"learn": {"label": label, direction: True}}
        properties |= objectives or {}
        if properties:
            self["properties"] = properties
        if rules:
            self._keys["constraints"] = [self._filed(r) for r in rules]
        self._keys |= given(keys)

    def _source(self, table: Any, name: str, text: Any) -> Any:
        if _tables.is_path(table):
            return os.path.abspath(table)
        if isinstance(table, Mapping) and "file" in table and isinstance(table["file"], str):
            return {**table, "file": os.path.abspath(table["file"])}
        self._tables[name] = text(table)
        return name

    def _filed(self, value: Any, key: str = "") -> Any:
        """Return a rule or an objective with its tables written out and its paths whole."""
        if key in FILED and isinstance(value, (str, os.PathLike)):
            path = os.fspath(value)
            here = self._path is None and path not in self._tables and path not in self._models and os.path.exists(path)
            return os.path.abspath(path) if here else path
        if key in FILED and hasattr(value, "to_dict") and hasattr(value, "columns"):
            stem = "table" if key == "file" else key
            name = next(n for n in (f"{stem}{k}.csv" for k in ["", *range(2, len(self._tables) + 3)]) if n not in self._tables)
            self._tables[name] = _tables.table_text(value)
            return name
        if isinstance(value, Mapping):
            return {k: self._filed(v, k) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._filed(v) for v in value]
        return value

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read a problem file. Comments are not kept where it is changed and saved."""
        problem = cls()
        problem._path = pathlib.Path(path).absolute()
        problem._keys = _program.run(["schema", "--", str(problem._path)]).json()
        problem._loaded = written(problem._keys)
        return problem

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the problem as JSON, which is YAML, and its tables beside it."""
        target = pathlib.Path(path).absolute()
        if self._functions and target.name != FILE:
            raise Error(f"{', '.join(self._functions)} is a function of this process, which no file holds")
        if self._path and target.parent != self._path.parent:
            raise Error(f"{self._path} names files from its own directory", f"save it in {self._path.parent}")
        target.parent.mkdir(parents=True, exist_ok=True)
        for name, text in self._tables.items():
            _write(target.parent / name, text)
        self._write_models(target.parent)
        # A temporary directory's name would be the problem's.
        keys = dict(self._keys)
        if self.passing and target.parent == self._directory:
            keys.setdefault("name", ", ".join(keys.get("properties") or {}) or "problem")
        _write(target, written(keys))
        return target

    def _write_models(self, folder: pathlib.Path) -> None:
        for name, f in self._models.items():
            _write(folder / name, f.file(int(self._keys["total"])))

    def amounts(self) -> set[str]:
        """Return the columns of recipes that were given as a table, but labels of objectives and conditions."""
        header: list[str] = next(csv.reader(io.StringIO(self._tables.get("recipes.csv", ""))), [])
        labels = {n for o in (self._keys.get("properties") or {}).values() for n in _labels(o)}
        return set(header) - set(self._keys.get("conditions") or {}) - labels

    def text(self) -> str:
        """Return the problem as it is written."""
        return written(self._keys)

    def __getitem__(self, key: str) -> Any:
        return self._keys[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "properties":
            functions: dict[str, Function] = {}
            models: dict[str, Function] = {}
            kept: dict[str, Any] = {}
            before = {plain_text(f.property(n)): f for n, f in self._functions.items()}
            before |= {plain_text(f.property("", file)): f for file, f in self._models.items()}
            for name, said in value.items():
                wish = self._filed(said)
                f = as_function(wish) or (before.get(plain_text(wish)) if isinstance(wish, Mapping) else None)
                if f is None:
                    kept[name] = wish
                elif f.by_file:
                    file = _file(name, models)
                    models[file] = f
                    kept[name] = f.property(name, file)
                else:
                    functions[name] = f
                    kept[name] = f.property(name)
            self._functions, self._models, value = functions, models, kept
        if key == "constraints":
            value = [self._filed(r) for r in value]
        self._keys[key] = value

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        if key == "properties":
            self._functions, self._models = {}, {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"kir.Problem({self.text()})"

    def run(self, command: str, *flags: str, named: Sequence[str] = (), allow_programs: bool = False,
            **options: Any) -> _program.Done:
        """Run a command of kir on the problem. named: what follows the problem, and is no flag whatever it is."""
        programs = {n for n, p in (self._keys.get("properties") or {}).items() if isinstance(p, Mapping) and "program" in p}
        others = sorted(programs - set(self._functions))
        if self._functions and others and not allow_programs:
            raise Error(f"the problem names a program beside functions of this process: {others[0]}",
                        "look at its command, and allow it by allow_programs=True")
        allowed = ["--allow-programs"] if allow_programs or self._functions else []
        path, made = self._place()
        try:
            conditions = list(self._keys.get("conditions") or {})
            asked = Server({n: f for n, f in self._functions.items() if n in programs}, conditions) if self._functions else None
            return _program.run([command, *flags, *allowed, "--", str(path), *named], asked=asked, **options)
        except Error as e:
            raise _program.retold(e, self._retold) from None
        finally:
            if made:
                path.unlink(missing_ok=True)

    def _retold(self, error: dict[str, Any]) -> dict[str, Any]:
        """Return a part of an error with places of the call: nobody knows the files of a temporary directory."""
        error = _program.without_flags(error)
        if self.passing and self._directory and "file" in error:
            error["file"] = error["file"].removeprefix(str(self._directory) + os.sep)
            if error["file"] == FILE:
                error.pop("column", None)
                error["file"] = called(self._keys, int(error.pop("line", 0)))
                if not error["file"]:  # what is wrong is no argument, such as one that is missing
                    del error["file"]
        return error

    def _place(self) -> tuple[pathlib.Path, bool]:
        """Return where the problem file is, and whether it is to be removed afterwards."""
        if self._path:
            if self.text() == self._loaded:
                return self._path, False
            # Its paths are from its directory, so a changed one stands there while it is read.
            handle, name = tempfile.mkstemp(".yaml", self._path.stem + ".", self._path.parent)
            os.close(handle)
            keys = {"name": self._keys.get("name", self._path.stem), **self._keys}
            if self._models:
                self._directory = self._directory or _temporary(self)
                self._write_models(self._directory)
                keys["properties"] = {n: _moved(p, self._models, self._directory) for n, p in keys["properties"].items()}
            _write(pathlib.Path(name), written(keys))
            return pathlib.Path(name), True
        if self._directory is None:
            self._directory, self.passing = _temporary(self), True
        target = self._directory / FILE
        self.save(target)
        return target, False

    def check(self, *, allow_programs: bool = False) -> dict[str, Any]:
        """Return what `kir check --json` says: counts, how good models are, advice."""
        done: dict[str, Any] = self.run("check", "--json", allow_programs=allow_programs).json()
        return done

    def replay(self, *, batch: int | None = None, start: int | None = None, trials: int | None = None,
               repeat: int | None = None, seed: int | None = None, workers: int | None = None,
               allow_programs: bool = False) -> dict[str, Any]:
        """Return what `kir replay --json` says: after how many trials kir would have had the best recipe that is known.

        batch: recipes of a batch. start: recipes that a replay begins with. trials: recipes that it makes, start
        included. repeat: replays, each with another start. workers: replays at the same time."""
        options = given({"batch": batch, "start": start, "trials": trials, "repeat": repeat, "seed": seed, "workers": workers})
        flags = [f"--{name}={value}" for name, value in options.items()]
        done: dict[str, Any] = self.run("replay", "--json", *flags, allow_programs=allow_programs).json()
        return done

    def score(self, recipes: Any, *, missing: str = "zero", allow_programs: bool = False) -> Any:
        """Return a row for each recipe of a table: its score, the score of each objective, and the constraints that it
        breaks.

        recipes: a table as of Problem, or the path of one. A model that learned from a recipe does not score it: a
        model of the other recipes does. missing: what a missing amount is, as of Problem."""
        rows = []
        for r in self._scored(recipes, missing, allow_programs):
            scores = {f"score {name}": y for name, y in (r.get("scores") or {}).items()}
            rows.append({"recipe": r["recipe"], "score": r.get("score"), **scores, "broken": [b["rule"] for b in r["broken"]]})
        return _tables.frame(rows, list(dict.fromkeys(k for row in rows for k in row)), polars=self.polars)

    def predict(self, recipes: Any, *, missing: str = "zero", allow_programs: bool = False) -> Any:
        """Return a row for each recipe of a table: the predicted value of each objective that has one, with its 90 %
        interval. The arguments are those of score()."""
        rows = []
        for r in self._scored(recipes, missing, allow_programs):
            row: dict[str, Any] = {"recipe": r["recipe"]}
            for name, p in (r.get("values") or {}).items():
                row |= given({f"predicted {name}": p["value"], f"low {name}": p.get("low"), f"high {name}": p.get("high")})
            rows.append(row)
        return _tables.frame(rows, list(dict.fromkeys(k for row in rows for k in row)), polars=self.polars)

    def _scored(self, recipes: Any, missing: str, allow_programs: bool) -> list[dict[str, Any]]:
        """Return the recipes of a table as `kir score --json` has them."""
        with tempfile.TemporaryDirectory(prefix="kir-") as folder:
            if _tables.is_path(recipes):
                path = os.path.abspath(recipes)
            else:
                path = os.path.join(folder, "table.csv")
                _write(pathlib.Path(path), _tables.recipes_text(recipes, missing))
            try:
                done = self.run("score", "--json", named=[path], allow_programs=allow_programs).json()
            except Error as e:
                if _tables.is_path(recipes):
                    raise
                raise _program.retold(e, lambda part: _program.of_table(part, path)) from None
        scored: list[dict[str, Any]] = done["recipes"]
        return scored

    def tradeoff(self, *between: str, points: int | None = None, effort: float | None = None, seed: int | None = None,
                 allow_programs: bool = False) -> Tradeoff:
        """Return the recipes none of which beats another.

        between: the names of two to four objectives; without any those of the key trade.
        points: how many recipes to list.
        """
        done = self.run("tradeoff", *_traded(between, points, effort, seed), allow_programs=allow_programs)
        return Tradeoff(done.json(), polars=self.polars)

    def sample(self, out: str | os.PathLike[str] | None = None, *, draws_per_chain: int | None = None,
               chains: int | None = None, time: str | None = None, warmup: int | None = None, thin: int | None = None,
               seed: int | None = None, kernel: str | None = None, effort: float | None = None,
               workers: int | None = None, progress: bool | None = None, allow_programs: bool = False) -> Run:
        """Run the chains and return the run.

        out: its directory, which must not exist; without one it is temporary and goes with
        the Run. draws_per_chain: how many draws each chain makes; without it the chains go on until the figures are good
        enough, or the time, such as "60s" or "none", is over. warmup: iterations of each chain before its draws.
        progress: a bar; by default in notebooks and on terminals.
        """
        settings = given({"draws": draws_per_chain, "time": time, "chains": chains, "warmup": warmup, "thin": thin, "seed": seed,
                          "kernel": kernel, "effort": effort, "workers": workers})
        holder = None if out is not None else tempfile.mkdtemp(prefix="kir-")
        path = pathlib.Path(holder) / "run" if holder else pathlib.Path(os.fspath(out)).absolute()  # type: ignore[arg-type]
        try:
            with bar(progress) as shown:
                self.run("sample", "--json", "--json-progress", f"--output={path}", *(f"--{k}={v}" for k, v in settings.items()),
                         progress=shown, allow_programs=allow_programs, draws="" if holder else str(path))
        except BaseException:
            if holder:
                shutil.rmtree(holder, ignore_errors=True)
            raise
        run = Run(path)
        run._polars = self.polars
        if holder:
            run._temporary = True
            weakref.finalize(run, shutil.rmtree, holder, True)
        return run


def score(problem: Problem | str | os.PathLike[str], recipes: Any, **options: Any) -> Any:
    """Return Problem.score(recipes, ...) of a problem, or of the problem file of this path."""
    return (problem if isinstance(problem, Problem) else Problem.load(problem)).score(recipes, **options)


class Run:
    """A finished run: its summary, shortlist and draws.

    A run in a temporary directory cannot be pickled, as for another process: name its
    directory with sample(out=...), and hand over that.
    """

    _temporary = False
    _polars = False  # whether its tables are polars'

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.summary: dict[str, Any] = _program.run(["show", "--json", "--", self.path]).json()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the path, not the draws."""
        if self._temporary:
            raise Error("a run in a temporary directory cannot be pickled, as its directory goes with this object",
                        "name one: problem.sample(out=DIR), and kir.Run(DIR) in the other process")
        return self.__dict__

    @property
    def shortlist(self) -> Any:
        """The best recipes that differ from each other: scores, predictions, conditions, and amounts in units."""
        best = self.summary["best"]
        names = [row["ingredient"] for row in self.summary["inclusion"]]
        used = [n for n in names if any(n in e["recipe"] for e in best)]
        used += sorted({n for e in best for n in e["recipe"]} - set(used))
        rows = []
        for entry in best:
            row = {"score": entry["score"]}
            for name, p in (entry.get("predicted") or {}).items():
                row |= given({f"predicted {name}": p["value"], f"low {name}": p["low"], f"high {name}": p["high"]})
            row |= {c["name"]: entry["conditions"][c["name"]] for c in self.summary.get("conditions") or []}
            rows.append(row | {n: entry["recipe"].get(n, 0) for n in used})
        return _tables.frame(rows, list(dict.fromkeys(k for row in rows for k in row)), polars=self._polars)

    def tradeoff(self, *between: str, points: int | None = None, effort: float | None = None,
                 seed: int | None = None) -> Tradeoff:
        """Return the recipes none of which beats another, as Problem.tradeoff does, with the draws behind them."""
        done = _program.run(["tradeoff", *_traded(between, points, effort, seed), "--", self.path])
        return Tradeoff(done.json(), polars=self._polars)

    def draws(self, form: str = "wide") -> Any:
        """Return the draws: "wide" with a column for each ingredient, "long" with a row for
        each ingredient used, as DataFrames, or "records", a list of dicts. Without pandas all
        are lists of dicts."""
        if form not in ("wide", "long", "records"):
            raise ValueError(f"draws have no form {form!r}: there are wide, long and records")
        pandas = _tables.module("pandas")
        if form == "records" or not pandas:
            lines = [json.loads(line) for line in _program.run(["draws", "--format=jsonl", "--", self.path]).out.splitlines()]
            if form != "long":
                return lines
            return [{"chain": d["chain"], "draw": d["draw"], **d.get("conditions", {}), "ingredient": n, "amount": a}
                    for d in lines for n, a in d["recipe"].items()]
        records = self.array()
        names, amounts = _amounts(records)
        if form == "long":
            numpy = _tables.module("numpy")
            row, column = numpy.nonzero(amounts)
            return pandas.DataFrame({"chain": records["chain"][row], "draw": records["draw"][row],
                                     **{n: values[row] for n, values in _fields(records, "condition").items()},
                                     "ingredient": pandas.Categorical.from_codes(column, names),
                                     "amount": amounts[row, column]})
        left = {n: records[n] for n in ("chain", "draw", "log_density", "used")}
        left |= _fields(records, "score") | _fields(records, "condition")
        return pandas.concat([pandas.DataFrame(left), pandas.DataFrame(amounts, columns=names)], axis=1)

    def array(self) -> Any:
        """Return the draws as NumPy's records: chain, draw, log_density, used, score, condition, amount."""
        numpy = _need("numpy")
        data = _program.run(["draws", "--format=npy", "--", self.path]).out
        size = int.from_bytes(data[8:12], "little")
        header = ast.literal_eval(data[12:12 + size].decode("ascii"))
        kinds = numpy.lib.format.descr_to_dtype(header["descr"])
        return numpy.frombuffer(data, kinds, header["shape"][0], 12 + size)

    def arrow(self) -> Any:
        """Return the draws as an Arrow table, read from the run's Parquet files by pyarrow."""
        dataset = _need("pyarrow.dataset", "pyarrow")
        return dataset.dataset(os.path.join(self.path, "draws"), format="parquet", partitioning="hive").to_table()

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ's InferenceData: amount, used, conditions; lp and a score for each property."""
        arviz = _need("arviz")
        records = self.array()
        names, amounts = _amounts(records)
        chains = len(set(records["chain"].tolist()))
        shape = (chains, -1)
        stats = {"lp": records["log_density"].reshape(shape)}
        stats |= {f"score_{n}": values.reshape(shape) for n, values in _fields(records, "score").items()}
        posterior = {"amount": amounts.reshape(chains, -1, len(names)), "used": records["used"].reshape(shape)}
        posterior |= {n: values.reshape(shape) for n, values in _fields(records, "condition").items()}
        groups = {"posterior": posterior, "sample_stats": stats}
        names_of = {"coords": {"ingredient": names}, "dims": {"amount": ["ingredient"]}}
        if "posterior" in inspect.signature(arviz.from_dict).parameters:  # before ArviZ 1.0
            return arviz.from_dict(**groups, **names_of)
        return arviz.from_dict(groups, **names_of)

    def report(self) -> str:
        """Return the report, a page of HTML that needs no other file."""
        page = pathlib.Path(self.path) / "report.html"
        return page.read_text(encoding="utf-8")

    def __str__(self) -> str:
        return str(self.summary["answer"]["headline"]) if self.summary.get("answer") else str(self.summary["verdict"])

    def __repr__(self) -> str:
        return f"<kir.Run {self.path}: {self}>"

    def _repr_html_(self) -> str:
        return framed(self.report())


class Tradeoff:
    """Recipes none of which beats another: summary is what `kir tradeoff --json` prints."""

    def __init__(self, summary: dict[str, Any], *, polars: bool = False) -> None:
        self.summary = summary
        self._polars = polars

    @property
    def front(self) -> Any:
        """The recipes as a table: value, low and high of each objective, knee, conditions, and amounts in units."""
        points = self.summary["front"]
        used = sorted({n for p in points for n in p["recipe"]})
        rows = []
        for point in points:
            row: dict[str, Any] = {"knee": point["knee"]}
            for objective in self.summary["objectives"]:
                value = point["values"][objective["name"]]
                row |= given({objective["name"]: value["value"], f"low {objective['name']}": value["low"],
                              f"high {objective['name']}": value["high"]})
            rows.append(row | (point.get("conditions") or {}) | {n: point["recipe"].get(n, 0) for n in used})
        return _tables.frame(rows, list(dict.fromkeys(k for row in rows for k in row)), polars=self._polars)

    @property
    def knees(self) -> list[dict[str, Any]]:
        """The recipes beyond which a little more of one objective costs much of another."""
        return [p for p in self.summary["front"] if p["knee"]]

    def __repr__(self) -> str:
        names = ", ".join(o["name"] for o in self.summary["objectives"])
        return f"<kir.Tradeoff of {names}: {len(self.summary['front'])} recipes>"


def _traded(between: Sequence[str], points: int | None, effort: float | None, seed: int | None) -> list[str]:
    """Return the flags of a trade-off."""
    flags = [f"--{k}={v}" for k, v in given({"points": points, "effort": effort, "seed": seed}).items()]
    # A name with a comma or a quote is quoted, as in CSV.
    names = ",".join('"' + n.replace('"', '""') + '"' if set(n) & set(',"') else n for n in between)
    return ["--json", *flags, *([f"--between={names}"] if between else [])]


def framed(page: str) -> str:
    """Return a page as a frame of its own, so that a notebook's style and its keep apart."""
    return f'<iframe srcdoc="{html.escape(page)}" sandbox style="width:100%;height:42em;border:0"></iframe>'


def _labels(objective: Any) -> list[str]:
    """Return the labels that an objective names."""
    if not isinstance(objective, Mapping):
        return []
    return [str(v[k]) for v in objective.values() if isinstance(v, Mapping) for k in ("label", "sd") if k in v]


def _file(name: str, taken: Mapping[str, Any]) -> str:
    """Return the name of a file for an objective's model."""
    stem = re.sub(r"\W+", "-", name).strip("-") or "model"
    names = (f"{stem}{k}.trees.txt" for k in ["", *range(2, len(taken) + 3)])
    return next(n for n in names if n.lower() not in {t.lower() for t in taken})


def _moved(wish: Any, models: Mapping[str, Function], folder: pathlib.Path) -> Any:
    """Return an objective whose model file, if it is one of these, is named with its directory."""
    model = wish.get("model") if isinstance(wish, Mapping) else None
    if not isinstance(model, Mapping) or model.get("file") not in models:
        return wish
    return {**wish, "model": {**model, "file": str(folder / model["file"])}}


def _amounts(records: Any) -> tuple[list[str], Any]:
    numpy = _tables.module("numpy")
    kind = records.dtype["amount"]
    flat = numpy.dtype({"names": ["amount"], "formats": [("<i4", (len(kind.names),))],
                        "offsets": [records.dtype.fields["amount"][1]], "itemsize": records.dtype.itemsize})
    return list(kind.names), records.view(flat)["amount"]


def _fields(records: Any, group: str) -> dict[str, Any]:
    """Return the columns of a group of fields of draws, by name."""
    return {n: records[group][n] for n in records.dtype[group].names} if group in records.dtype.names else {}


def _need(name: str, package: str = "") -> Any:
    found = _tables.module(package or name) and _tables.module(name)
    if not found:
        raise Error(f"{package or name} is not installed", f"pip install {package or name}, or use draws('records')")
    return found


def _temporary(owner: Any) -> pathlib.Path:
    path = tempfile.mkdtemp(prefix="kir-")
    weakref.finalize(owner, shutil.rmtree, path, True)
    return pathlib.Path(path)


def _write(path: pathlib.Path, text: str) -> None:
    """Write a file whole, or not at all; what is there already keeps its time."""
    if path.exists() and path.read_bytes() == text.encode():
        return
    handle, name = tempfile.mkstemp(".new", path.name + ".", path.parent)
    with open(handle, "wb") as f:
        f.write(text.encode())
    os.chmod(name, 0o644)
    os.replace(name, path)
