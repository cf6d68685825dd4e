"""Fresh all-day cocktails as a user would write it with scikit-learn: two
forests, and Algorithm 2 with predict_proba over the whole line."""

import csv
import os

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import algorithm2

BOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "cocktails", "recipes.csv")
TOTAL = 1000


def read():
    """The recipes in thousandths, a row each, and their labels."""
    recipes, labels, names = {}, {}, set()
    with open(BOOK, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            parts = recipes.setdefault(row["recipe"], {})
            parts[row["ingredient"]] = parts.get(row["ingredient"], 0.0) + float(row["amount"])
            labels[row["recipe"]] = (row["taste"], row["timing"])
            names.add(row["ingredient"])
    column = {name: k for k, name in enumerate(sorted(names))}
    x = np.zeros((len(recipes), len(column)), dtype=np.int64)
    for r, parts in enumerate(recipes.values()):
        whole = sum(parts.values())
        for name, amount in parts.items():
            x[r, column[name]] = max(1, round(TOTAL * amount / whole))
        x[r, x[r].argmax()] += TOTAL - x[r].sum()
    return x, [labels[name] for name in recipes]


def forests():
    x, labels = read()
    grown = []
    for k, want in enumerate(["Fresh", "All day"]):
        f = RandomForestClassifier(n_estimators=100, random_state=1).fit(x, [label[k] for label in labels])
        grown.append((f, list(f.classes_).index(want)))
    return x, grown


def score(grown, points):
    """The product of the two probabilities at each row."""
    y = np.ones(len(points))
    for forest, want in grown:
        y *= forest.predict_proba(points)[:, want]
    return y


def sampler():
    """A function of a number of iterations, as those of algorithm2."""
    book, grown = forests()
    used_by = np.count_nonzero(book, axis=1)
    law = {int(n): float(c) for n, c in zip(*np.unique(used_by, return_counts=True))}
    end, inner = algorithm2.line_weights(book.shape[1], TOTAL, law)
    rng = np.random.default_rng(1)
    x = book[score(grown, book).argmax()].copy()

    def run(iterations):
        changed = 0
        for _ in range(iterations):
            used = np.flatnonzero(x)
            n = len(used)
            i = rng.choice(used)
            j = rng.integers(len(x) - 1)
            j += j >= i
            s = x[i] + x[j]
            others = n - 1 - (x[j] > 0)
            line = np.repeat(x[None, :], s + 1, axis=0)
            line[:, i] = np.arange(s + 1)
            line[:, j] = s - line[:, i]
            weights = score(grown, line)
            weights[1:-1] *= inner[others]
            weights[[0, -1]] *= end[others]
            k = rng.choice(s + 1, p=weights / weights.sum())
            if x[j] and k in (0, s) and rng.random() * 2 * (n - 1) >= n:
                continue
            changed += int(k != x[i])
            x[i], x[j] = k, s - k
        return changed

    return run


def points():
    """A function that scores a number of compositions by the trees' compiled
    predict, each tree on all of them at once; it returns the scores' sum."""
    book, grown = forests()
    trees = [(t.tree_, want) for forest, want in grown for t in forest.estimators_]
    rows = np.resize(book, (1024, book.shape[1])).astype(np.float32)

    def run(count):
        total = 0.0
        for _ in range(count // len(rows)):
            total += sum(tree.predict(rows)[:, want].sum() for tree, want in trees)
        return total

    return run
