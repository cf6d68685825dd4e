"""Batches that scikit-learn's models choose by expected improvement.

One question a line on stdin, as JSON: arm (gp or rf), x and y that were measured, pool,
n and seed; the answer is a line with the indices of n of the pool. Entries of a batch are
at least 0.1 apart by Hellinger's distance of the first columns, the shares, where there are so
many; a batch has at most limits[c] values of the c-th condition, 0 for any number.
"""

import json
import sys
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

APART = 0.1


def law(arm, x, y, pool, seed):
    """Mean and standard deviation at the pool, and the means at what was measured."""
    if arm == "gp":
        kernel = ConstantKernel(1.0) * Matern(np.full(x.shape[1], 0.3), (0.02, 20), nu=2.5) + WhiteKernel(0.1, (1e-4, 1))
        model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed)
        model.fit(x, y)
        mean, sd = model.predict(pool, return_std=True)
        return mean, sd, model.predict(x)
    model = RandomForestRegressor(200, min_samples_leaf=1, random_state=seed).fit(x, y)
    trees = np.array([t.predict(pool) for t in model.estimators_])
    return trees.mean(axis=0), trees.std(axis=0), model.predict(x)


def choose(question):
    x, y, pool = (np.array(question[key], dtype=float) for key in ("x", "y", "pool"))
    mean, sd, known = law(question["arm"], x, y, pool, question["seed"] % 2**31)
    best = known.max()
    z = (mean - best) / np.maximum(sd, 1e-12)
    improvement = sd * (norm.pdf(z) + z * norm.cdf(z))
    order = np.argsort(-improvement, kind="stable")
    roots = np.sqrt(pool[:, : question["shares"]])
    settings, limits = question["settings"], question["limits"]

    def alike(k):
        return all(not most or len({settings[j][c] for j in [*chosen, k]}) <= most for c, most in enumerate(limits))

    chosen = []
    apart = APART
    while len(chosen) < min(question["n"], len(pool)):
        for k in order:
            if len(chosen) == question["n"]:
                break
            if k in chosen:
                continue
            near = [max(0.0, 1 - float(roots[k] @ roots[j])) ** 0.5 for j in chosen]
            if alike(k) and all(d >= apart for d in near):
                chosen.append(int(k))
        if apart == 0:
            break
        apart = apart / 2 if apart > 1e-3 else 0.0
    return chosen


def main():
    warnings.filterwarnings("ignore")
    for line in sys.stdin:
        print(json.dumps(choose(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
