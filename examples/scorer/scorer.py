#!/usr/bin/env python3
"""Score recipes with scikit-learn: the probability that a drink tastes fresh.

Kir writes a line for each batch, a JSON array of recipes, each the units of its
ingredients, and reads a line with the array of their scores. The batch ends with
its line, and the run with the input.

Needs scikit-learn, such as Debian's python3-sklearn.
"""

import csv
import json
import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier

# Centilitres, as kir takes them.
SIZES = {"cl": 1, "dash": 0.09, "dashes": 0.09, "tsp": 0.5, "bar spoon": 0.5,
         "drops": 0.005, "splash": 0.25, "whole": 5}


def book(path):
    """Return the drinks as {ingredient: amount}, and their tastes."""
    drinks, tastes = {}, {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            amount = float(row["amount"]) * SIZES[row["unit"]]
            drinks.setdefault(row["recipe"], {})[row["ingredient"]] = amount
            tastes[row["recipe"]] = row["taste"]
    return list(drinks.values()), list(tastes.values())


def shares(recipes, index):
    """Return a row of shares for each recipe."""
    table = np.zeros((len(recipes), len(index)))
    for row, recipe in zip(table, recipes):
        for name, amount in recipe.items():
            row[index[name]] = amount
    return table / table.sum(axis=1, keepdims=True)


def main():
    drinks, tastes = book("../cocktails/recipes.csv")
    names = {name for drink in drinks for name in drink}
    index = {name: i for i, name in enumerate(sorted(names))}
    # Trees answer for each recipe by itself, so that the batch that it comes in
    # does not change its score. n_jobs=1: a batch is too small to share out.
    model = RandomForestClassifier(n_estimators=20, random_state=1, n_jobs=1)
    model.fit(shares(drinks, index), [taste == "Fresh" for taste in tastes])
    fresh = list(model.classes_).index(True)
    for line in sys.stdin:
        p = model.predict_proba(shares(json.loads(line), index))[:, fresh]
        print(json.dumps(np.maximum(p, 0.01).tolist()), flush=True)


if __name__ == "__main__":
    main()
