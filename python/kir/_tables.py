"""Tables in and out: DataFrames where pandas is installed, else lists of dicts."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Names of columns that kir takes for the name of a recipe, without being told.
_NAMES = {"recipe", "cocktail", "drink", "dish", "formula", "blend", "name", "title", "id", "code", "batch", "run",
          "sample", "no", "no.", "rezept", "rezeptur", "mischung", "recette", "receta", "ricetta"}


def module(name: str) -> Any:
    """Return a module that is installed, or None."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """Return rows as a DataFrame, or without pandas as they are."""
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
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        if getattr(table.index, "name", None) or table.index.dtype == object:
            table = table.rename_axis(table.index.name or "recipe").reset_index()
        columns = [str(c) for c in table.columns]
        if len(set(columns)) < len(columns):
            raise ValueError("two columns of the table have the same name")
        rows = [dict(zip(columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]
        return columns, rows
    if isinstance(table, Mapping):
        columns = [str(c) for c in table]
        return columns, [dict(zip(columns, row, strict=True)) for row in zip(*table.values(), strict=True)]
    rows = [{str(k): v for k, v in row.items()} for row in table]
    columns = list(getattr(table, "columns", dict.fromkeys(k for row in rows for k in row)))
    return columns, rows


def cell(value: Any) -> str:
    """Return a cell as kir reads it: nothing for what is missing, numbers with all their digits."""
    if hasattr(value, "item"):
        value = value.item()
    if value is None or value != value or str(value) in ("<NA>", "NaT"):  # noqa: PLR0124
        return ""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a table has the number {value}")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def text_of(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table as CSV."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(columns)
    for row in rows:
        write.writerow([cell(row.get(c)) for c in columns])
    return out.getvalue()


def recipes_text(table: Any) -> str:
    """Return a table of recipes as CSV. One in which no column could name them gets one."""
    columns, rows = rows_of(table)
    low = {c.strip().lower() for c in columns}
    if not low & _NAMES and not low & {"ingredient", "ingredients", "component"}:
        columns = ["recipe", *columns]
        rows = [{"recipe": f"trial {k}", **row} for k, row in enumerate(rows, 1)]
    return text_of(columns, rows)


def table_text(table: Any) -> str:
    """Return any table as CSV."""
    return text_of(*rows_of(table))


def is_path(value: Any) -> bool:
    """Say whether a value names a file."""
    return isinstance(value, (str, os.PathLike))
