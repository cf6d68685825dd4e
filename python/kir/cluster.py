"""Runs whose work is shared by Dask, Ray or the processes of an executor.

    from dask.distributed import Client
    run = kir.cluster.run("problem.yaml", Client("scheduler:8786"), "/shared/run", chains=64)

Every machine needs this package and the directory or bucket of the run.
"""

from __future__ import annotations

import os
import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from . import _program
from ._problem import FILE, Problem, Run
from ._program import Error
from ._values import given

__all__ = ["run"]


def run(problem: Problem | str | os.PathLike[str], client: Any, out: str | os.PathLike[str], *,
        draws_per_chain: int | None = None, chains: int | None = None, warmup: int | None = None, thin: int | None = None,
        seed: int | None = None, kernel: str | None = None, effort: float | None = None, workers: int = 1, retries: int = 5,
        allow_programs: bool = False) -> Run:
    """Run the chains and the search by tasks of a client, and return the run.

    problem: a problem, or the path of its file. A problem without a file is saved beside out.
    client: a Client of Dask, the module ray, or an executor of concurrent.futures.
    out: the directory or the bucket (s3://...) of the run, which all machines see. A run that is there already goes on.
    workers: the cores of a task. retries: how often a task may fail.
    The other arguments are those of Problem.sample. The draws and the results are those of one process.
    """
    path = os.fspath(out) if "://" in os.fspath(out) else os.path.abspath(os.fspath(out))
    file = _file_of(problem, path)
    settings = given({"draws": draws_per_chain, "chains": chains, "warmup": warmup, "thin": thin, "seed": seed, "kernel": kernel,
                      "effort": effort})
    allowed = ["--allow-programs"] if allow_programs else []
    _program.run(["sample", "--tasks", f"--output={path}", *(f"--{k}={v}" for k, v in settings.items()), *allowed, "--", file])
    submit = _submitter(client)
    failures: Counter[str] = Counter()
    while True:
        left = _program.run(["tasks", "--json", f"--problem={file}", f"--workers={workers}", *allowed, "--", path]).json()
        if left["done"]:
            break
        ends = [(t["name"], submit(t["command"][1:])) for t in left["tasks"]]
        for name, end in ends:
            try:
                end()
            except Exception as e:  # noqa: PERF203  # each engine has its own
                failures[name] += 1
                if failures[name] > retries or (isinstance(e, Error) and e.status == 2):
                    raise
    _program.run(["merge", f"--problem={file}", *allowed, "--", path])
    return Run(path)


def _file_of(problem: Problem | str | os.PathLike[str], out: str) -> str:
    """Return the path of the file of a problem."""
    if not isinstance(problem, Problem):
        return os.path.abspath(os.fspath(problem))
    if problem._functions:
        raise Error(f"{', '.join(problem._functions)} is a function of this process, which other machines do not have",
                    "give a fitted tree estimator of scikit-learn, a model file or a program")
    if problem._path and problem.text() == problem._loaded:
        return str(problem._path)
    if "://" in out:
        raise Error("the problem has no file that other machines can read", "save it with Problem.save, and give its path")
    return str(problem.save(pathlib.Path(out + "-problem") / FILE))


def _task(args: Sequence[str]) -> None:
    """Do a task, on the machine of a worker."""
    _program.run(args)


def _submitter(client: Any) -> Callable[[Sequence[str]], Callable[[], Any]]:
    """Return a function that submits a task and returns a function that waits for its end."""
    if hasattr(client, "remote") and hasattr(client, "get"):  # the module ray
        remote = client.remote(max_retries=0)(_task)

        def submit_to_ray(args: Sequence[str]) -> Callable[[], Any]:
            end = remote.remote(args)
            return lambda: client.get(end)

        return submit_to_ray
    options = {"pure": False} if type(client).__module__.partition(".")[0] == "distributed" else {}

    def submit_to_executor(args: Sequence[str]) -> Callable[[], Any]:
        end: Callable[[], Any] = client.submit(_task, args, **options).result
        return end

    return submit_to_executor
