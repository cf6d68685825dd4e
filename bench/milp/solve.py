"""Solves mixed-integer programs by HiGHS, as scipy has it.

Reads a JSON list from standard input, each {"cost": [...], "integer": [...], "low": [...],
"high": [...], "rows": [{"of": {"column": factor}, "low": number or null, "high": ...}]},
which are to be as small as possible, and writes a list of the least values, null where
nothing keeps the rows.
"""

import json
import sys

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_matrix

answers = []
for p in json.load(sys.stdin):
    n, rows = len(p["cost"]), p["rows"]
    a = lil_matrix((len(rows), n))
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for r, row in enumerate(rows):
        for column, factor in row["of"].items():
            a[r, int(column)] += factor
        if row["low"] is not None:
            low[r] = row["low"]
        if row["high"] is not None:
            high[r] = row["high"]
    found = milp(
        np.array(p["cost"]), integrality=np.ones(n), bounds=Bounds(p["low"], p["high"]),
        constraints=LinearConstraint(a.tocsr(), low, high), options={"mip_rel_gap": 0, "time_limit": 120},
    )
    answers.append(None if found.x is None else float(np.dot(p["cost"], np.round(found.x))))
json.dump(answers, sys.stdout)
