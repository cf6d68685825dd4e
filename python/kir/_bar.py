"""A bar of progress: in notebooks and on terminals, and silent elsewhere."""

from __future__ import annotations

import contextlib
import html
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any


@contextlib.contextmanager
def bar(wanted: bool | None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """Yield what shows a line of kir's progress, or None."""
    display = _notebook()
    if wanted is False or (wanted is None and not display and not sys.stderr.isatty()):
        yield None
        return
    handle = display({"text/html": ""}, raw=True, display_id=True) if display else None

    def show(line: Mapping[str, Any]) -> None:
        done, text = share(line)
        if handle:
            handle.update({"text/html": f'<progress max="1" value="{done:.3f}"></progress> {html.escape(text)}'}, raw=True)
        else:
            sys.stderr.write(f"\r\x1b[K[{'#' * round(30 * done):<30}] {text}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if handle:
            handle.update({"text/html": ""}, raw=True)
        else:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def share(line: Mapping[str, Any]) -> tuple[float, str]:
    """Return how much of a run is done, and how that is shown."""
    done = min(1.0, max(0.0, float(line.get("done") or 0)))
    if done >= 1 and line.get("search"):
        return done, "looking for the best"
    rhat = line.get("rhat")
    return done, f"{100 * done:.0f} %" + (f", R-hat {rhat:.3f}" if rhat else "")


def _notebook() -> Any:
    """Return IPython's display within a notebook, or None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or "IPKernelApp" not in getattr(shell, "config", {}):
        return None
    return importlib.import_module("IPython.display").display
