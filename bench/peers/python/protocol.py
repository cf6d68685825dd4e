"""The lines that an arm reads and writes.

A question is a line of JSON on stdin, the answer a line on stdout. A question has names of the ingredients,
x (shares of what was tried), y (what was measured, more is better), n (recipes that are asked for) and seed. With pool
the answer is chosen, indices of pool; else it is recipes, lists of shares that keep the question's rules. An answer
also has seconds, processor (seconds) and peak (MB of the process), or refused: why the peer cannot answer.
"""

import importlib.metadata
import json
import os
import resource
import sys
import time
import warnings

import numpy as np


class Refused(Exception):
    """What a peer cannot write, or did not answer."""


class Question:
    """A question, its shares as arrays."""

    def __init__(self, fields):
        self.names = [f"x{k}" for k in range(len(fields["names"]))]
        self.x = np.array(fields["x"], dtype=float)
        self.y = np.array(fields["y"], dtype=float)
        self.n = fields["n"]
        self.seed = fields["seed"]
        self.pool = np.array(fields["pool"], dtype=float) if fields.get("pool") else None
        self.rules = fields.get("rules") or {}


def processor():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak():
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def serve(packages, choose, make=None):
    """Answer questions until stdin ends. choose answers with indices of the pool, make with recipes under rules."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints is no answer
    warnings.filterwarnings("ignore")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    print(json.dumps({"versions": versions, "processor": processor(), "peak": peak()}), file=answers, flush=True)
    for line in sys.stdin:
        fields = json.loads(line)
        began, used = time.monotonic(), processor()
        answer = {}
        try:
            question = Question(fields)
            if question.pool is not None:
                answer["chosen"] = [int(k) for k in choose(question)]
            elif make is None:
                raise Refused("cannot write a mixture's rules")
            else:
                answer["recipes"] = np.asarray(make(question), dtype=float).tolist()
        except Exception as problem:  # a peer's failure is a result
            answer["refused"] = f"{type(problem).__name__}: {problem}"[:300]
        answer.update(seconds=time.monotonic() - began, processor=processor() - used, peak=peak())
        print(json.dumps(answer), file=answers, flush=True)


def nearest(pool, recipes):
    """For each recipe the nearest of the pool that is not taken, as roots of shares are far apart."""
    roots, chosen = np.sqrt(pool), []
    for recipe in recipes:
        far = ((roots - np.sqrt(np.maximum(recipe, 0))) ** 2).sum(axis=1)
        far[chosen] = np.inf
        chosen.append(int(np.argmin(far)))
    return chosen
