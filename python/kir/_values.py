"""Rules and objectives as values, and how a problem is written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

# Keys of rules and objectives that name a file. A path of one is from where Python stands, and
# a table in its place is written beside the problem.
FILED = ("file", "check", "covariance", "pairs", "returns", "topics", "words")


class Rule(dict[str, Any]):
    """A rule of a problem, as the problem file has it: {kind: what it says}."""

    def __init__(self, kind: str, value: Any) -> None:
        super().__init__({kind: value})

    def __repr__(self) -> str:
        return plain_text(self)


class Objective(dict[str, Any]):
    """An objective of a problem, as the problem file has it: {kind: what it says, weight: w}."""

    def __init__(self, kind: str, value: Any, weight: float | None = None) -> None:
        super().__init__(given({kind: value, "weight": weight}))

    def __repr__(self) -> str:
        return plain_text(self)


def given(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that were given a value."""
    return {key: value for key, value in keys.items() if value is not None}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers of NumPy become Python's, tuples and arrays lists."""
    if isinstance(value, (str, bool)) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays, pandas' series
        return plain(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a problem has no number {value}")
        return float(value)
    if isinstance(value, (Sequence, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [plain(item) for item in items]
    if hasattr(value, "__fspath__"):
        return str(value)
    raise TypeError(f"a problem cannot hold {type(value).__name__}: {value!r:.80}")


def written(problem: Mapping[str, Any]) -> str:
    """Return a problem as JSON, which is YAML: a line for each rule and each objective."""
    return "".join(text + "\n" for text, _ in _lines(problem))


def called(problem: Mapping[str, Any], line: int) -> str:
    """Return what stands in a line of a written problem, as the caller has it: rules[0] {"exclude": "Gin"}, or total."""
    lines = _lines(problem)
    return lines[line - 1][1] if 1 <= line <= len(lines) else ""


def _lines(problem: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of a written problem, each with the argument that it is of."""
    lines: list[tuple[str, str]] = []
    for key, value in plain(problem).items():
        name = {"constraints": "rules", "properties": "objectives"}.get(key, str(key))
        if lines:
            lines[-1] = (lines[-1][0] + ",", lines[-1][1])
        if isinstance(value, dict) and value and key in ("properties", "units"):
            lines.append((f"  {plain_text(key)}: {{", name))
            items = [(f"    {plain_text(k)}: {plain_text(v)}", f"{name}[{plain_text(k)}]") for k, v in value.items()]
            closing = "  }"
        elif isinstance(value, list) and value and key in ("constraints", "recipes"):
            lines.append((f"  {plain_text(key)}: [", name))
            items = [("    " + plain_text(v), f"{name}[{k}] {plain_text(v)}") for k, v in enumerate(value)]
            closing = "  ]"
        else:
            lines.append((f"  {plain_text(key)}: {plain_text(value)}", name))
            continue
        lines += [(text + ",", argument) for text, argument in items[:-1]] + [items[-1], (closing, name)]
    return [("{", ""), *lines, ("}", "")]


def plain_text(value: Any) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(plain(value), ensure_ascii=False)
