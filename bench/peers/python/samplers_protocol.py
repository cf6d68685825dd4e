"""What the peers of -samplers read and write: one question of JSON on a line of stdin, one answer on stdout.

A question about draws has low, high, groups and limits, which bound shares that add up to 1, and with quadratic the
log density linear·x − x·quadratic·x; else the draws are uniform. It asks for chains and draws of each, after warmup,
every thin iterations, and for a file of float64: chains, draws, shares. An answer has versions, seconds, setup and
processor (seconds of the processor before the first draw that is kept, and since then) and peak (MB), or refused: why
there is none. The other questions are described in their programs.
"""

import importlib.metadata
import json
import os
import resource
import sys
import time
import warnings

import numpy as np


def processor():
    """Seconds of the processor, of this process and its children."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Clock:
    """Splits the time of an answer into its setup and the rest."""

    def __init__(self):
        self.began, self.start, self.ready = time.monotonic(), processor(), None

    def set_up(self):
        self.ready = processor()

    def times(self):
        end = processor()
        ready = self.start if self.ready is None else self.ready
        return {"seconds": time.monotonic() - self.began, "setup": ready - self.start, "processor": end - ready}


class Polytope:
    """The bounds of a question as arrays: inequality·x <= most, and all x add up to 1."""

    def __init__(self, question):
        self.low, self.high = np.array(question["low"]), np.array(question["high"])
        self.n = len(self.low)
        rows, most = [], []
        for of, low, high in [(row_of(g["members"], self.n), g["low"], g["high"]) for g in question.get("groups") or []] + [
                (np.array(p["factors"]), p["low"], p["high"]) for p in question.get("limits") or []]:
            rows += [of, -of]
            most += [high, -low]
        self.inequality = np.vstack([np.eye(self.n), -np.eye(self.n)] + rows)
        self.most = np.concatenate([self.high, -self.low, most])
        if question.get("quadratic"):
            self.linear, self.quadratic = np.array(question["linear"]), np.array(question["quadratic"])


def row_of(members, n):
    row = np.zeros(n)
    row[members] = 1
    return row


def answer(packages, work):
    """Answer the question; work(question, clock) returns what joins the answer."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints is no answer
    warnings.filterwarnings("ignore")
    said = {"versions": [f"{name} {importlib.metadata.version(name)}" for name in packages]}
    question = json.loads(sys.stdin.readline())
    clock = Clock()
    try:
        said.update(work(question, clock) or {})
    except Exception as problem:  # a peer's failure is a result
        said["refused"] = f"{type(problem).__name__}: {problem}"[:300]
    said.update(clock.times(), peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(said), file=out, flush=True)


def keep(draws, path):
    """Write draws as an array of chains, draws and shares."""
    np.ascontiguousarray(draws, dtype=np.float64).tofile(path)
