"""Functions and estimators of this process as objectives.

Tree estimators of scikit-learn become model files: see _trees.py. For all else kir starts
_bridge.py as the program of a `program` property. It connects back to this process, by a Unix
socket or the loopback, says a random secret, and carries batches to and fro. The function runs
in the thread that waits for kir, so that an exception comes back as it was raised.
"""

from __future__ import annotations

import contextlib
import hmac
import itertools
import json
import math
import os
import pathlib
import queue
import secrets
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from . import _tables, _trees
from ._program import Error
from ._values import given

BRIDGE = str(pathlib.Path(__file__).with_name("_bridge.py"))


class Function:
    """A function or an estimator as an objective.

    It gets a DataFrame, or without pandas a list of dicts: a row a recipe, a column an
    ingredient, amounts that add up to `whole` (default: the total of the problem), and a column
    for each condition, with its value. It returns a number for each row, at least 0: the score. An estimator
    is asked by `predict`, or with `class_` for the probability of a class.

    larger, smaller and range are (from, to), target is (from, at, to): the desirability of
    what is returned, as `blend` has them. columns are the names of the columns, by default
    an estimator's feature_names_in_ or all ingredients. batch is how many whole candidates a
    move asks for at once, timeout the seconds for a batch.

    The same recipe must get the same score whatever else is in the batch; scores are rounded
    to nine digits.

    scikit-learn's decision trees, forests and gradient boosting, fitted on named columns or
    with columns given, go over as a model file that kir reads itself, much faster and without
    this process; `by_file` says whether.

    A model file cannot hold estimators fitted on unnamed columns without `columns`, subclasses, splits by category,
    several outputs, boosting that starts from another estimator, one of several classes with `larger` or the like,
    and boosting whose value is the score and could be negative. If the value of the trees is the score, kir divides it
    by the greatest value that the trees can have.
    """

    def __init__(self, function: Any, *, whole: float | None = None, columns: Sequence[str] | None = None,
                 class_: Any = None, larger: tuple[float, float] | None = None,
                 smaller: tuple[float, float] | None = None, target: tuple[float, float, float] | None = None,
                 range: tuple[float, float] | None = None, floor: float = 0.0, weight: float | None = None,
                 timeout: float = 600, batch: int | None = None) -> None:
        wishes = {"larger": larger, "smaller": smaller, "target": target, "range": range}
        wished = {k: tuple(float(x) for x in v) for k, v in wishes.items() if v is not None}
        if len(wished) > 1:
            raise Error(f"a function has both {' and '.join(wished)}", "write one of them")
        if not callable(function) and not hasattr(function, "predict"):
            raise TypeError(f"{function!r} is neither a function nor an estimator")
        self.function, self.whole, self.class_, self.floor = function, whole, class_, floor
        self.columns = list(columns) if columns is not None else None
        if self.columns is None and hasattr(function, "feature_names_in_"):
            self.columns = [str(c) for c in function.feature_names_in_]
        self.wish = next(iter(wished.items()), None)
        for ends in wished.values():
            if any(b <= a for a, b in itertools.pairwise(ends)):
                raise Error(f"{self.wish[0] if self.wish else ''} is {ends}", "write the smaller number first")
        self.weight, self.timeout, self.batch = weight, timeout, batch
        self._model: tuple[_trees.Trees, dict[str, Any]] | None = None
        if hasattr(function, "predict") and self.columns is not None:
            trees = _trees.of(self)
            asked = trees and self._asked(trees)
            self._model = (trees, asked) if trees and asked else None

    @property
    def by_file(self) -> bool:
        """Whether kir reads the estimator's trees as a file, and does not ask this process."""
        return self._model is not None

    def _asked(self, trees: _trees.Trees) -> dict[str, Any] | None:
        """Return what a model property says of how good the file's values are, if it can."""
        kind, ends = self.wish or ("", (0.0, 1.0))
        if trees.wanted is not None:
            return {"class": str(trees.wanted)} if not kind else None
        if kind == "larger":
            return {"maximize": {"from": ends[0], "to": ends[1]}}
        if kind == "smaller":
            return {"minimize": {"from": ends[1], "to": ends[0]}}
        if kind == "target":
            return {"target": {"from": ends[0], "at": ends[1], "to": ends[2]}}
        if kind == "range":
            return {"between": list(ends)}
        if self.class_ is not None:
            return {"maximize": {"from": 0, "to": 1}}
        # The value is the score: as a share of the most that the trees can say.
        least, most = trees.bounds
        if trees.objective != "regression" or least < 0 or most <= 0:
            return None
        return {"maximize": {"from": 0, "to": most}}

    def file(self, total: int) -> str:
        """Return the model file."""
        if self._model is None:
            raise Error("the function has no file")
        return self._model[0].text(self.whole, total)

    def property(self, name: str, file: str = "") -> dict[str, Any]:
        """Return the property of a problem file, and of which file if the estimator goes as one."""
        if self._model:
            model = {"file": file, "features": _trees.inputs(self.columns or [], self.whole), **self._model[1]}
            return given({"model": model | ({"floor": self.floor} if self.floor else {}), "weight": self.weight})
        program: dict[str, Any] = {"command": [sys.executable, BRIDGE, name], "timeout": self.timeout}
        if self.batch is not None:
            program["batch"] = self.batch
        return {"program": program} | ({} if self.weight is None else {"weight": self.weight})

    def scores(self, recipes: Sequence[Mapping[str, float]], total: int, ingredients: Sequence[str] | None,
               conditions: Sequence[str] = ()) -> list[float]:
        """Return the scores of recipes in units of the total, with the values of conditions."""
        columns = self.columns or (ingredients and [*ingredients, *conditions])
        if columns is None:
            raise Error("the ingredients of the problem are too many to be told to a function", "name its columns=[...]")
        whole = self.whole or total
        rows = [{c: recipe[c] if c in conditions else recipe.get(c, 0) * whole / total for c in columns} for recipe in recipes]
        if self.columns is not None:
            unknown = {name for recipe in recipes for name in recipe} - set(columns) - set(conditions)
            if unknown:
                raise Error(f"the function has no column for {min(unknown)!r}", "exclude it, or name it in columns")
        answer = self._values(_tables.frame(rows, columns))
        name = getattr(self.function, "__name__", type(self.function).__name__)
        wanted = f"return a list, a Series or an array of {len(rows)} numbers, one for each row of the table"
        if getattr(answer, "ndim", 1) == 0 or not hasattr(answer, "__iter__") or isinstance(answer, str):
            raise Error(f"the function {name} returned one {type(answer).__name__} for a table of {len(rows)} recipes", wanted)
        try:
            values = [float(v) for v in answer]
        except (TypeError, ValueError) as e:
            raise Error(f"the function {name} returned something that is no number ({e})", wanted) from e
        if len(values) != len(rows):
            raise ValueError(f"the function returned {len(values)} numbers for {len(rows)} recipes")
        return [self._score(v) for v in values]

    def _values(self, table: Any) -> Any:
        if not hasattr(self.function, "predict"):
            return self.function(table)
        unnamed = not hasattr(self.function, "feature_names_in_") and (self.columns or hasattr(self.function, "n_features_in_"))
        if unnamed and hasattr(table, "to_numpy"):
            table = table.to_numpy()
        if self.class_ is None:
            said = self.function.predict(table)
            if hasattr(self.function, "classes_") and getattr(getattr(said, "dtype", None), "kind", "f") not in "iufb":
                raise Error("the estimator tells classes", f"name one by class_=...: it has {list(self.function.classes_)}")
            return said
        classes = list(self.function.classes_)
        if self.class_ not in classes:
            raise Error(f"the estimator has no class {self.class_!r}", f"it has {classes}")
        return self.function.predict_proba(table)[:, classes.index(self.class_)]

    def _score(self, value: float) -> float:
        if self.wish:
            kind, ends = self.wish
            a, b = ends[0], ends[-1]
            if kind == "larger":
                value = (value - a) / (b - a)
            elif kind == "smaller":
                value = (b - value) / (b - a)
            elif kind == "range":
                value = float(a <= value <= b)
            else:
                value = min((value - a) / (ends[1] - a), (b - value) / (b - ends[1]))
            value = min(1.0, max(0.0, value))
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"the function returned {value}: a score is finite and at least 0; "
                             "larger=(from, to) and the like make one of any number")
        return max(self.floor, float(f"{value:.9g}"))


function = Function


class Server:
    """Answers the bridges of one run of kir."""

    def __init__(self, functions: Mapping[str, Function], conditions: Sequence[str] = ()) -> None:
        self._functions, self._conditions = functions, conditions
        self._secret = secrets.token_hex(32)
        self._folder = ""
        self._open: list[socket.socket] = []
        self._closed = False
        if hasattr(socket, "AF_UNIX"):
            self._folder = tempfile.mkdtemp(prefix="kir-")  # 0700: for this user alone
            self._listener = socket.socket(socket.AF_UNIX)
            address = os.path.join(self._folder, "s")
            self._listener.bind(address)
        else:
            self._listener = socket.create_server(("127.0.0.1", 0))
            address = str(self._listener.getsockname()[1])
        self._listener.listen()
        self._address = address

    def environment(self) -> dict[str, str]:
        """Return what the bridges find this process by."""
        return {"KIR_ASK": self._address, "KIR_ASK_SECRET": self._secret}

    def open(self, events: queue.Queue[Any]) -> None:
        """Begin to put questions into a queue."""
        threading.Thread(target=self._accept, args=(events,), daemon=True).start()

    def _accept(self, events: queue.Queue[Any]) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            if self._closed:
                connection.close()
                return
            self._open.append(connection)
            threading.Thread(target=self._listen, args=(connection, events), daemon=True).start()

    def _listen(self, connection: socket.socket, events: queue.Queue[Any]) -> None:
        try:
            with connection.makefile("rb") as lines:
                hello = json.loads(lines.readline(1 << 20))
                if hmac.compare_digest(str(hello.get("secret")).encode(), self._secret.encode()):
                    for line in lines:
                        events.put(("ask", (connection, hello, line)))
        except (OSError, ValueError, AttributeError):  # it went away, or is no bridge
            pass
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def answer(self, question: Any) -> None:
        """Ask the function, and send what it says."""
        connection, hello, line = question
        f = self._functions[hello["name"]]
        scores = f.scores(json.loads(line), hello["total"], hello["ingredients"], self._conditions)
        with contextlib.suppress(OSError):  # the run has ended
            connection.sendall(json.dumps(scores).encode() + b"\n")

    def close(self) -> None:
        """Hang up, and leave nothing."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept
        for s in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def as_function(value: Any) -> Function | None:
    """Return a function or an estimator as an objective, and None of all else."""
    if isinstance(value, Function):
        return value
    if isinstance(value, Mapping):
        return None
    if callable(value) or hasattr(value, "predict"):
        return Function(value)
    return None

