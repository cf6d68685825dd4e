"""BoFire's tutorial "Design with NChooseK constraint", with kir.

Source: experimental-design/bofire, docs/tutorials/doe/nchoosek_constraint.qmd. A first batch of 12 recipes of x1 to x8,
which add up to 1: at most one of x1, x2 and x3, and at most 0.7 of it; x7 and x8 make up 0.1 to 0.9 together.

BoFire makes a D-optimal design for a fully quadratic model. kir has no such designs: its first batch spreads over the
allowed recipes. The program prints a figure for each aim. The tutorial uses IPOPT; without it, as here, BoFire uses
SLSQP of SciPy.
"""

import itertools
import math
import random

import pandas as pd

import tutorial

NAMES = [f"x{k}" for k in range(1, 9)]
ONE, LAST = NAMES[:3], NAMES[6:]


def broken(row, tolerance=1e-6):
    """Return the constraints that a recipe in shares breaks by more than the tolerance."""
    out = [f"{n}: 0 to 1" for n in NAMES if not -tolerance <= row[n] <= 1 + tolerance]
    if abs(sum(row[n] for n in NAMES) - 1) > tolerance:
        out.append("total of 1")
    if sum(row[n] > tolerance for n in ONE) > 1:
        out.append("at most one of x1, x2, x3")
    if sum(row[n] for n in ONE) > 0.7 + tolerance:
        out.append("x1 + x2 + x3 at most 0.7")
    if not 0.1 - tolerance <= sum(row[n] for n in LAST) <= 0.9 + tolerance:
        out.append("x7 + x8 in 0.1 to 0.9")
    return out


def by_bofire(n=12):
    import bofire.strategies.api as strategies
    from bofire.data_models.constraints.api import LinearEqualityConstraint, LinearInequalityConstraint, NChooseKConstraint
    from bofire.data_models.domain.api import Domain
    from bofire.data_models.features.api import ContinuousInput, ContinuousOutput
    from bofire.data_models.strategies.api import DoEStrategy
    from bofire.data_models.strategies.doe import DOptimalityCriterion

    domain = Domain(
        inputs=[ContinuousInput(key=k, bounds=(0, 1)) for k in NAMES],
        outputs=[ContinuousOutput(key="y")],
        constraints=[
            LinearEqualityConstraint(features=NAMES, coefficients=[1] * 8, rhs=1),
            NChooseKConstraint(features=ONE, min_count=0, max_count=1, none_also_valid=True),
            LinearInequalityConstraint(features=ONE, coefficients=[1] * 3, rhs=0.7),
            LinearInequalityConstraint(features=LAST, coefficients=[-1, -1], rhs=-0.1),
            LinearInequalityConstraint(features=LAST, coefficients=[1, 1], rhs=0.9)])
    design = DoEStrategy(domain=domain, criterion=DOptimalityCriterion(formula="fully-quadratic"),
                         ipopt_options={"max_iter": 500}, seed=1)
    return answer(strategies.map(design).ask(n, raise_validation_error=False)[NAMES])


def by_kir(n=12):
    import kir

    campaign = kir.Campaign(
        ingredients=NAMES, total=1000, sparsity={"uniform": [2, 6]},
        rules=[kir.group(ONE, used=[0, 1], total=[0, "70%"]), kir.group(LAST, total=["10%", "90%"])])
    batch = campaign.next(n)
    return answer(batch.reindex(columns=NAMES, fill_value=0) / 100, [*tutorial.reasons(batch), tutorial.counts(campaign)])


def answer(recipes, says=()):
    """Return the answer of a program, with the figures of a design."""
    return tutorial.Answer(recipes, says, figures={
        "different recipes": len(recipes.round(3).drop_duplicates()),
        "ingredients that no recipe uses": ", ".join(n for n in NAMES if recipes[n].max() < 1e-6) or "none",
        "log determinant for the quadratic model": f"{log_determinant(recipes):.1f}",
        "mean distance of an allowed recipe from the nearest of the batch": f"{tutorial.gap(allowed(), recipes):.3f}"})


def log_determinant(recipes):
    """Return the logarithm of the determinant of XX' + 1e-6 I, X having the terms of a quadratic mixture model in columns.

    BoFire adds the same to X'X, which is singular: the design has fewer recipes than the model has terms. Both
    determinants differ by a constant factor.
    """
    rows = [[r[a] for a in NAMES] + [r[a] * r[b] for a, b in itertools.combinations(NAMES, 2)] for r in recipes.to_dict("records")]
    matrix = [[sum(a * b for a, b in zip(p, q)) + 1e-6 * (p is q) for q in rows] for p in rows]
    total = 0.0
    for k in range(len(matrix)):  # Gauss's elimination
        total += math.log(matrix[k][k])
        for row in matrix[k + 1:]:
            factor = row[k] / matrix[k][k]
            row[k:] = [a - factor * b for a, b in zip(row[k:], matrix[k][k:])]
    return total


def allowed(n=2000):
    """Return random recipes that keep the constraints: of each, x4 to x8 and one of x1, x2 and x3."""
    rng, rows = random.Random(1), []
    while len(rows) < n:
        used = [rng.choice(ONE), *NAMES[3:]]
        parts = [rng.expovariate(1) for _ in used]
        row = dict.fromkeys(NAMES, 0.0) | {k: p / sum(parts) for k, p in zip(used, parts)}
        if not broken(row):
            rows.append(row)
    return pd.DataFrame(rows)


def by_bofire_again(times=4):
    """Print the figures of further designs by BoFire, which differ although the seed is the same."""
    for _ in range(times):
        print(", ".join(f"{name} {value}" for name, value in by_bofire().figures.items()))


if __name__ == "__main__":
    if "BoFire" in tutorial.compare("BoFire: a design with NChooseK", ["bofire"], {"BoFire": by_bofire, "kir": by_kir}, broken):
        print("\nBoFire four times more, with the same seed")
        by_bofire_again()
