"""BayBE's tutorial "Modeling a Mixture in Traditional Representation", with kir.

Source: emdgroup/baybe, examples/Mixtures/traditional.py. Six ingredients in three groups add up to 100 %: each solvent
has at most 80 %, each base at most 20 %, each phase agent at most 5 %; bases make up at least 10 % together, phase
agents at most 5 %. The tutorial draws ten random recipes, and checks their sums.

BayBE's amounts are continuous; kir's are whole steps, here of 0.1 %. kir asks how many ingredients a recipe uses, 2 to
6; BayBE's random recipes always use all six.
"""

import random

import pandas as pd

import tutorial

SOLVENTS = ["Solvent1", "Solvent2"]
BASES = ["Base1", "Base2"]
AGENTS = ["PhaseAgent1", "PhaseAgent2"]
NAMES = SOLVENTS + BASES + AGENTS
MOST = dict.fromkeys(SOLVENTS, 80) | dict.fromkeys(BASES, 20) | dict.fromkeys(AGENTS, 5)


def broken(row, tolerance=1e-6):
    """Return the constraints that a recipe in percent breaks by more than the tolerance."""
    out = [f"{n}: 0 to {most} %" for n, most in MOST.items() if not -tolerance <= row[n] <= most + tolerance]
    if abs(sum(row[n] for n in NAMES) - 100) > tolerance:
        out.append("total of 100 %")
    if sum(row[n] for n in BASES) < 10 - tolerance:
        out.append("bases: at least 10 %")
    if sum(row[n] for n in AGENTS) > 5 + tolerance:
        out.append("phase agents: at most 5 %")
    return out


def by_baybe(n=10):
    import torch
    from baybe.constraints import ContinuousLinearConstraint
    from baybe.parameters import NumericalContinuousParameter
    from baybe.recommenders import RandomRecommender
    from baybe.searchspace import SearchSpace

    torch.manual_seed(1)
    space = SearchSpace.from_product(
        parameters=[NumericalContinuousParameter(name=k, bounds=(0, most)) for k, most in MOST.items()],
        constraints=[
            ContinuousLinearConstraint(parameters=NAMES, operator="=", coefficients=[1] * 6, rhs=100),
            ContinuousLinearConstraint(parameters=BASES, operator=">=", coefficients=[1, 1], rhs=10),
            ContinuousLinearConstraint(parameters=AGENTS, operator="<=", coefficients=[1, 1], rhs=5)])
    return answer(RandomRecommender().recommend(batch_size=n, searchspace=space)[NAMES])


def by_kir(n=10):
    import kir

    campaign = kir.Campaign(
        ingredients=NAMES, total=1000, sparsity={"uniform": [2, 6]},
        rules=[kir.amount("Solvent*", max="80%"), kir.amount("Base*", max="20%"), kir.amount("PhaseAgent*", max="5%"),
               kir.group("Base*", total=["10%", "100%"]), kir.group("PhaseAgent*", total=[0, "5%"])])
    batch = campaign.next(n)
    return answer(batch.reindex(columns=NAMES, fill_value=0), [*tutorial.reasons(batch), tutorial.counts(campaign)])


def answer(recipes, says=()):
    """Return the answer of a program, with the figures of a batch."""
    used = sorted({sum(v > 1e-6 for v in row.values()) for row in recipes.to_dict("records")})
    return tutorial.Answer(recipes, says, figures={
        "ingredients in a recipe": f"{used[0]} to {used[-1]}" if len(used) > 1 else str(used[0]),
        "mean distance of an allowed recipe from the nearest of the batch": f"{tutorial.gap(allowed(), recipes):.3f}"})


def allowed(n=2000):
    """Return random recipes, uniform over what the constraints allow."""
    rng, rows = random.Random(1), []
    while len(rows) < n:
        row = {k: rng.uniform(0, most) for k, most in MOST.items()}
        row[SOLVENTS[1]] += 100 - sum(row.values())
        if not broken(row):
            rows.append(row)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    tutorial.compare("BayBE: a mixture in traditional representation", ["baybe"], {"BayBE": by_baybe, "kir": by_kir}, broken)
