"""Independent draws by enumeration of all compositions in a pandas table."""

import itertools

import pandas as pd


def table(ingredients, total, law):
    """A row for each composition: its amounts, n and its probability."""
    rows = []
    for bars in itertools.combinations(range(total + ingredients - 1), ingredients - 1):
        edges = (-1, *bars, total + ingredients - 1)
        rows.append([b - a - 1 for a, b in zip(edges, edges[1:])])
    x = pd.DataFrame(rows)
    x["n"] = (x > 0).sum(axis=1)
    y = x["n"].map(law).fillna(0.0)
    x["p"] = y / x.groupby("n")["n"].transform("size") / sum(law.values())
    return x


def draw(ingredients, total, law, draws):
    """Draws, with all the work that leads to them."""
    x = table(ingredients, total, law)
    return x.sample(draws, replace=True, weights="p", random_state=1)
