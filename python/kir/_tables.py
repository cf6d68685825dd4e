"""Tables in and out: DataFrames where pandas is installed, else lists of dicts."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._program import Error

# Names of columns that kir takes for the name of a recipe, without being told.
_NAMES = {"recipe", "cocktail", "drink", "dish", "formula", "blend", "name", "title", "id", "code", "batch", "run",
          "sample", "no", "no.", "rezept", "rezeptur", "mischung", "recette", "receta", "ricetta"}


def module(name: str) -> Any:
    """Return a module that is installed, or None."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def is_polars(table: Any) -> bool:
    """Say whether a table is a DataFrame of polars."""
    return type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "iter_rows")


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, polars: bool = False) -> Any:
    """Return rows as a DataFrame of pandas, or of polars, or without them as they are."""
    if polars:
        whole = [{c: row.get(c) for c in columns} for row in rows]
        return importlib.import_module("polars").DataFrame(whole, schema=list(columns), infer_schema_length=None)
    pandas = module("pandas")
    return pandas.DataFrame(rows, columns=list(columns)) if pandas else Records(rows, columns)


class Records(list[dict[str, Any]]):
    """A table without pandas: a list of dicts, with the names of the columns."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(dict(row) for row in rows)
        self.columns = list(columns)

    def assign(self, **columns: Sequence[Any]) -> Records:
        """Return the table with columns added, as pandas' assign does."""
        rows = [dict(row) for row in self]
        for name, values in columns.items():
            if len(values) != len(rows):
                raise ValueError(f"{name} has {len(values)} values for {len(rows)} rows")
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        return Records(rows, [*self.columns, *(c for c in columns if c not in self.columns)])


def rows_of(table: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns and rows of a DataFrame, a list of dicts, or a dict of lists."""
    wanted = "give a DataFrame, a list of dicts, a dict of lists, or the path of a file"
    if hasattr(table, "to_frame") and not hasattr(table, "columns"):
        raise Error("a table of recipes cannot be a Series, which has one column",
                    f"{wanted}; series.to_frame().T is one row of a table")
    if hasattr(table, "ndim") and hasattr(table, "dtype"):
        raise Error("a table of recipes cannot be a NumPy array, which has no names of columns",
                    f"{wanted}: pandas.DataFrame(array, columns=[...])")
    if is_polars(table):
        return list(table.columns), list(table.iter_rows(named=True))
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        if getattr(table.index, "name", None) or getattr(table.index.dtype, "kind", "O") == "O":  # names, not numbers
            table = table.rename_axis(table.index.name or "recipe").reset_index()
        columns = [str(c) for c in table.columns]
        if len(set(columns)) < len(columns):
            raise ValueError("two columns of the table have the same name")
        rows = [dict(zip(columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]
        return columns, rows
    if isinstance(table, Mapping):
        columns = [str(c) for c in table]
        if any(isinstance(v, str) or not isinstance(v, Iterable) for v in table.values()):
            raise Error("a dict of a table has a list for each column, and this has a value that is no list",
                        f"{wanted}: [{{...}}] is one row")
        if len({len(list(v)) for v in table.values()}) > 1:
            raise Error("the columns of the table have different lengths",
                        "give each column a value for each row, None where it has none")
        return columns, [dict(zip(columns, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if isinstance(table, (bytes, str)) or not isinstance(table, Iterable):
        raise Error(f"a {type(table).__name__} is no table of recipes", wanted)
    table = table if hasattr(table, "columns") else list(table)
    if not all(isinstance(row, Mapping) for row in table):
        raise Error("a list of a table has a dict for each row, and this has a row that is none", wanted)
    rows = [{str(k): v for k, v in row.items()} for row in table]
    columns = list(getattr(table, "columns", dict.fromkeys(k for row in rows for k in row)))
    return columns, rows


def is_missing(value: Any) -> bool:
    """Say whether a value stands for none: None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    different = value != value  # noqa: PLR0124
    return isinstance(different, bool) and different


def cell(value: Any) -> str:
    """Return a cell as kir reads it: nothing for what is missing, numbers with all their digits."""
    if hasattr(value, "item"):
        value = value.item()
    if is_missing(value):
        return ""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a table has the number {value}")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def check_missing(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], missing: str, named: Iterable[str] = ()) -> None:
    """Refuse missing amounts, or warn of them: kir reads one as 0. An amount is in a column of numbers."""
    if missing not in ("zero", "refuse"):
        raise Error(f"missing is {missing!r}", 'write "zero" or "refuse"')
    counts = {}
    for c in columns:
        values = [row.get(c) for row in rows]
        kept = [v for v in values if not is_missing(v)]
        # A key that a dict leaves out is an ingredient that a recipe does not use.
        empty = sum(is_missing(row[c]) for row in rows if c in row)
        if empty and c not in named and all(isinstance(v, (int, float)) or hasattr(v, "dtype") for v in kept):
            counts[c] = empty
    if not counts:
        return
    n = sum(counts.values())
    said = f"{n} missing {'number' if n == 1 else 'numbers'} in {', '.join(counts)}"
    if missing == "refuse":
        raise Error(said, 'fill them in, or take missing="zero", which reads missing amounts as 0')
    warnings.warn(f'{said}: missing amounts are read as 0; missing="refuse" refuses them', stacklevel=5)


def text_of(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table as CSV."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(columns)
    for row in rows:
        write.writerow([cell(row.get(c)) for c in columns])
    return out.getvalue()


def recipes_text(table: Any, missing: str = "zero", labels: Iterable[str] = ()) -> str:
    """Return a table of recipes as CSV. One in which no column could name them gets one."""
    columns, rows = rows_of(table)
    check_missing(columns, rows, missing, set(labels))
    if not has_names(columns):
        columns = ["recipe", *columns]
        rows = [{"recipe": f"trial {k}", **row} for k, row in enumerate(rows, 1)]
    return text_of(columns, rows)


def has_names(columns: Iterable[str]) -> bool:
    """Say whether a column could name the recipes, or the table has a row for each ingredient."""
    return bool({c.strip().lower() for c in columns} & (_NAMES | {"ingredient", "ingredients", "component"}))


def table_text(table: Any) -> str:
    """Return any table as CSV."""
    return text_of(*rows_of(table))


def is_path(value: Any) -> bool:
    """Say whether a value names a file."""
    return isinstance(value, (str, os.PathLike))
