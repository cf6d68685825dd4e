"""Finding the kir program and running it.

The protocol is what any program may use: JSON on standard output, progress as lines of JSON
on standard error (--json-progress), and errors as one line of JSON (KIR_ERRORS=json).
docs/python.md describes it.
"""

from __future__ import annotations

import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

#: The version that this package was released with; a program of the same major version suits.
VERSION = "0.0.0"


class Error(Exception):
    """What kir says is wrong.

    message: what is wrong. hint: what would be right, or "". place: file:line:column, or "".
    status: the exit status of the program, 2 for bad input. errors: each thing that is
    wrong, with the keys message, hint, file, line, column and cell as far as they are known.
    """

    def __init__(self, message: str, hint: str = "", place: str = "", status: int = 1,
                 errors: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message, hint, place, status)
        self.message = message
        self.hint = hint
        self.place = place
        self.status = status
        self.errors = [dict(e) for e in errors] or [{"message": message, "hint": hint}]

    def __str__(self) -> str:
        return "\n".join(_sentence(e) for e in self.errors)

    @classmethod
    def of(cls, errors: Sequence[Mapping[str, Any]], status: int) -> Error:
        """Return the error that a command said at its end."""
        first = errors[0]
        return cls(first["message"], first.get("hint", ""), _place(first), status, errors)


def retold(error: Error, told: Callable[[dict[str, Any]], dict[str, Any]]) -> Error:
    """Return an error with each part replaced by what told returns."""
    return Error.of([told(dict(e)) for e in error.errors], error.status)


# What commands say of flags, and what a call has in their place.
_FLAGS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r'^invalid argument "[^"]*" for "--[a-z-]+" flag: '), ""),
    (re.compile(r"^--given: "), "given: "),
    (re.compile(r"; to fix an amount, use --pin NAME=AMOUNT$"), ""),
    (re.compile(r"\? --names [^?]* takes the column as a label$"), "? rename the column"),
    (re.compile(r"in a CSV file: ingredients: ingredients.csv"), "in a table: ingredients=table"),
    (re.compile(r"such as sparsity: \{uniform: (\[[^]]*\])\}"), r'such as sparsity={"uniform": \1}'),
    (re.compile(r'--made "([^"]*)"'),
     lambda m: "made={" + re.sub(r"([^=,]+)=([^,]+)", r'"\1": "\2"', m[1]).replace(",", ", ") + "}"))


def without_flags(error: dict[str, Any]) -> dict[str, Any]:
    """Return a part of an error in words of Python: no flags of the command line, and a table for standard input."""
    for key in ("message", "hint"):
        for pattern, instead in _FLAGS:
            error[key] = pattern.sub(instead, error.get(key, ""))
    return of_table(error, "stdin")


def of_table(error: dict[str, Any], file: str) -> dict[str, Any]:
    """Return a part of an error with a row of the table, if its place is in the file in which the table was written."""
    if error.get("file") == file:
        row = error.pop("line", 1) - 2  # as pandas counts them: from 0, below the header
        error.pop("column", None)
        error["file"] = f"the table, row {row}" if row >= 0 else "the table"
    return error


def _place(error: Mapping[str, Any]) -> str:
    parts = [error.get("file", "")]
    parts += [error["cell"]] if "cell" in error else [str(error[k]) for k in ("line", "column") if k in error]
    return ":".join(p for p in parts if p)


def _sentence(error: Mapping[str, Any]) -> str:
    return ": ".join(p for p in (_place(error), error["message"], error.get("hint", "")) if p)


class Interrupted(KeyboardInterrupt):
    """A run was interrupted. `directory` names where its draws are kept; it is empty where none are."""

    def __init__(self, directory: str = "") -> None:
        super().__init__("interrupted" + (f"; resume it with kir resume {directory}" if directory else ""))
        self.directory = directory


def find() -> str:
    """Return the path of the kir program: KIR, the one within this package, or on the PATH."""
    named = os.environ.get("KIR")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Error(f"there is no program {named!r}, which KIR names", "unset KIR, or set it to the path of kir")
        return os.path.abspath(found)
    found = own() or shutil.which("kir")
    if found is None:
        raise Error("there is no kir program", "put kir on the PATH, or set the environment variable KIR to its path")
    return found


def own() -> str | None:
    """Return the path of the program within this package, as wheels have it."""
    program = pathlib.Path(__file__).parent / "bin" / ("kir.exe" if os.name == "nt" else "kir")
    return str(program) if program.is_file() else None


_checked: dict[tuple[str, float], str] = {}


def checked() -> str:
    """Return the path of a program whose version suits this package."""
    path = find()
    key = (path, os.stat(path).st_mtime)
    if key not in _checked:
        try:
            done = subprocess.run([path, "version", "--json"], capture_output=True, timeout=60, check=True)
            version = json.loads(done.stdout)["version"]
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as e:
            raise Error(f"{path} is no kir program that can be run ({e})", "set KIR to the path of kir") from e
        number = re.match(r"v?(\d+)\.", version)
        if number and number[1] != VERSION.partition(".")[0]:
            raise Error(f"{path} is kir {version}, and this package is of {VERSION}", "install the same major version of both")
        _checked[key] = version
    return path


class Asked(Protocol):
    """What answers a program that kir runs, in the thread that waits for kir."""

    def environment(self) -> dict[str, str]:
        """Return what the program finds it by."""

    def open(self, events: queue.Queue[Any]) -> None:
        """Begin to put questions into a queue, as ("ask", question)."""

    def answer(self, question: Any) -> None:
        """Answer a question."""

    def close(self) -> None:
        """Answer no more, and leave nothing."""


@dataclass
class Done:
    """What a command said."""

    out: bytes
    messages: list[str] = field(default_factory=list)

    def json(self) -> Any:
        """Return the document on standard output."""
        return json.loads(self.out)


_PATIENCE = 30.0  # seconds in which an interrupted run stores what it has


def run(args: Sequence[str], *, progress: Callable[[Mapping[str, Any]], None] | None = None,
        directory: str | os.PathLike[str] | None = None, asked: Asked | None = None, text: str | None = None,
        draws: str = "") -> Done:
    """Run kir with arguments and return its standard output; raise [Error] if it fails.

    The child does not outlive the call: an interrupt, and any other exception, ends it first.
    """
    environment = dict(os.environ, KIR_ERRORS="json", **(asked.environment() if asked else {}))
    environment.pop("KIR_PROGRESS", None)
    events: queue.Queue[Any] = queue.Queue()
    # An interrupt reaches the child through this process alone, once.
    own: dict[str, Any] = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
    child = subprocess.Popen([checked(), *args], stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory, env=environment, **own)
    out: list[bytes] = []
    lines: list[str] = []
    readers = [threading.Thread(target=_collect, args=(child.stdout, out, events), daemon=True),
               threading.Thread(target=_lines, args=(child.stderr, events), daemon=True)]
    if text is not None:
        readers.append(threading.Thread(target=_feed, args=(child.stdin, text.encode()), daemon=True))
    failure: Error | None = None
    interrupted = False
    status = 0
    try:
        if asked:
            asked.open(events)
        for reader in readers:
            reader.start()
        ends = 0
        while ends < 2:
            try:
                kind, value = events.get(timeout=0.5)  # without a time an interrupt waits, on Windows
            except queue.Empty:
                continue
            if kind == "end":
                ends += 1
            elif kind == "ask" and asked:
                asked.answer(value)
            elif kind == "line":
                failure = _line(value, lines, progress) or failure
        status = child.wait()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if asked:
            asked.close()  # first: the child would wait for an answer
        if child.poll() is None:
            _stop(child)
        for reader in readers:
            if reader.ident is not None:
                reader.join(_PATIENCE)
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
    if interrupted:
        begun = "://" in draws or os.path.exists(os.path.join(draws, "run.json"))
        raise Interrupted(draws if draws and begun else "")
    if status != 0:
        raise failure or Error("\n".join(lines) or f"kir ended with the status {status}", status=status)
    return Done(b"".join(out), lines)


def _line(text: str, lines: list[str], progress: Callable[[Mapping[str, Any]], None] | None) -> Error | None:
    """Take a line of standard error: progress, the error at the end, or a message."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = {}
        if "errors" in value and "status" in value:
            return Error.of(value["errors"], value["status"])
        if "done" in value:
            if progress:
                progress(value)
            return None
    lines.append(text.removeprefix("kir: "))
    return None


def _collect(pipe: IO[bytes], out: list[bytes], events: queue.Queue[Any]) -> None:
    try:
        while block := pipe.read(1 << 20):
            out.append(block)
    except ValueError:  # it was closed
        pass
    events.put(("end", None))


def _lines(pipe: IO[bytes], events: queue.Queue[Any]) -> None:
    try:
        for line in pipe:
            events.put(("line", line.decode("utf-8", "replace").rstrip("\r\n")))
    except ValueError:
        pass
    events.put(("end", None))


def _feed(pipe: IO[bytes], text: bytes) -> None:
    try:
        pipe.write(text)
        pipe.close()
    except OSError:  # it ended before it had read all; its error says why
        pass


def _stop(child: subprocess.Popen[bytes]) -> None:
    """End a child: in order, and if it does not within some seconds, at once."""
    if child.poll() is None:
        child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM) if os.name == "nt" else signal.SIGINT)
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
