"""scikit-learn's models on the splits of go run ./bench/learn.

Reads a JSON document on standard input, a book a line after that, and writes a line of
forecasts for each book, model and split.
"""

import json
import sys
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.ensemble._forest import _generate_sample_indices
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

TREES = 300


def crps(values, weights, y):
    """The score of a law of values with weights, by rows, at the numbers y."""
    order = np.argsort(values)
    values, cumulated = values[order], np.cumsum(weights[:, order], axis=1)
    low, high = values[:-1][None], values[1:][None]
    below = np.clip(y[:, None], low, high)
    f = cumulated[:, :-1]
    inside = (f**2 * (below - low) + (1 - f) ** 2 * (high - below)).sum(1)
    return inside + np.maximum(0, values[0] - y) + np.maximum(0, y - values[-1])


def quantile(values, weights, p):
    order = np.argsort(values)
    at = (np.cumsum(weights[:, order], axis=1) < p - 1e-12).sum(1)
    return values[order][np.minimum(at, len(values) - 1)]


def leaf_weights(forest, x, y, test):
    """How much each known row counts for each row of test."""
    known, asked = forest.apply(x), forest.apply(test)
    weights = np.zeros((len(test), len(y)))
    for k, tree in enumerate(forest.estimators_):
        drawn = np.ones(len(y))
        if forest.bootstrap:
            rows = _generate_sample_indices(tree.random_state, len(y), len(y))
            drawn = np.bincount(rows, minlength=len(y)).astype(float)
        same = (asked[:, k][:, None] == known[:, k][None, :]) * drawn
        weights += same / same.sum(1, keepdims=True)
    return weights / len(forest.estimators_)


def forest_numbers(forest, x, y, test, measured):
    forest.fit(x, y)
    weights = leaf_weights(forest, x, y, test)
    low, high = quantile(y, weights, 0.05), quantile(y, weights, 0.95)
    return weights @ y - measured, crps(y, weights, measured), (low <= measured) & (measured <= high)


def process(x, y, test, measured):
    """A Gaussian process on the roots of shares, with a length an ingredient."""
    varying = x.std(0) > 0
    x, test = np.sqrt(x[:, varying]), np.sqrt(test[:, varying])
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * Matern(
        np.full(x.shape[1], 0.7), (1e-2, 1e2), nu=2.5
    ) + WhiteKernel(0.1, (1e-5, 1e1))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(x, y)
    mean, sd = model.predict(test, return_std=True)
    z = (measured - mean) / sd
    score = sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    return mean - measured, score, np.abs(z) <= norm.ppf(0.95)


def numbers(name, seed, x, y, test, measured):
    if name == "sklearn GP":
        return process(x, y, test, measured)
    if name == "sklearn ExtraTrees":
        forest = ExtraTreesRegressor(TREES, random_state=seed)
    else:
        forest = RandomForestRegressor(TREES, max_features=1 / 3, random_state=seed)
    return forest_numbers(forest, x, y, test, measured)


def classes(name, seed, x, y, test, measured):
    if name == "sklearn ExtraTrees":
        forest = ExtraTreesClassifier(TREES, random_state=seed)
    else:
        forest = RandomForestClassifier(TREES, random_state=seed)
    forest.fit(x, y)
    column = {c: k for k, c in enumerate(forest.classes_)}
    law = forest.predict_proba(test)
    p = np.array([law[r, column[c]] if c in column else 0 for r, c in enumerate(measured)])
    zero = np.zeros(len(p))
    return zero, -np.log(np.maximum(p, 0.5 / TREES)), zero > 0


def main():
    warnings.filterwarnings("ignore")
    models = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        book = json.loads(line)
        x = np.zeros((len(book["rows"]), book["ingredients"]))
        for r, parts in enumerate(book["rows"]):
            for ingredient, share in parts:
                x[r, int(ingredient)] = share
        y = np.array(book["classes"] or book["numbers"])
        learn = classes if book["classes"] else numbers
        for name in models:
            if book["classes"] and name == "sklearn GP":
                continue
            for k, split in enumerate(book["splits"]):
                train, test = split["train"], split["test"]
                error, loss, held = learn(name, k, x[train], y[train], x[test], y[test])
                forecasts = [
                    {"error": float(e), "loss": float(q), "held": bool(h)}
                    for e, q, h in zip(error, loss, held)
                ]
                answer = {"book": book["name"], "model": name, "split": k, "forecasts": forecasts}
                print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
