"""The lines that an arm reads and writes.

A question is a line of JSON on stdin, the answer a line on stdout. A question has names of the ingredients,
x (shares of what was tried), y (what was measured, more is better), n (recipes that are asked for) and seed. With pool
the answer is chosen, indices of pool; else it is recipes, lists of shares that keep the question's rules.

With two objectives z is the second, more is better. With prices it is known: z is less the mean price. With conditions
(name, number) a trial set more than shares: settings has the value of each condition, a number or a text, features
the same as numbers from 0 to 1 with a column for each category. pool_settings and pool_features are those of pool.

An answer also has seconds, processor (seconds) and peak (MB of the process), or refused: why the peer cannot answer.
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
        self.z = np.array(fields["z"], dtype=float) if fields.get("z") else None
        self.prices = fields.get("prices")
        self.conditions = fields.get("conditions") or []
        if self.conditions:
            self.keys = [f"c{k}" for k in range(len(self.conditions))]
            self.numbers = [c["number"] for c in self.conditions]
            self.settings, self.pool_settings = fields["settings"], fields["pool_settings"]
            self.features = np.array(fields["features"], dtype=float)
            self.pool_features = np.array(fields["pool_features"], dtype=float)


def processor():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak():
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def serve(packages, choose, make=None, choose_front=None, choose_setting=None):
    """Answer questions until stdin ends.

    choose answers with indices of the pool, choose_front the same for two objectives, choose_setting the same where
    there are conditions, make with recipes under rules.
    """
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
                chooser = choose
                if question.z is not None:
                    chooser = choose_front
                elif question.conditions:
                    chooser = choose_setting
                if chooser is None:
                    raise Refused("is not measured with two objectives or conditions")
                answer["chosen"] = [int(k) for k in chooser(question)]
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
