"""BayBE's tutorial "Modelling a Mixture in Slot-Based Representation", with kir.

Source: emdgroup/baybe, examples/Mixtures/slot_based.py. A mixture has at most three of four solvents, in steps of 25 %;
the order in which they are added does not matter. The tutorial lists all mixtures, and compares their numbers with the
formula C(4, K)*C(3, K - 1) for K solvents.

BayBE describes each of three slots by a solvent and an amount, so it needs constraints against duplicates and
permutations. kir has an amount for each solvent. The tutorial encodes the solvents by Mordred descriptors of their
molecules; here they are categories, as the package for descriptors is not installed. kir does not read molecules.
"""

import math

import pandas as pd

import tutorial

SOLVENTS = ["water", "C1", "C2", "C3"]
STEPS = 4


def expected(k):
    """Return the number of mixtures of k solvents."""
    return math.comb(len(SOLVENTS), k) * math.comb(STEPS - 1, k - 1)


def broken(row):
    """Return the constraints that a mixture in percent breaks."""
    out = []
    if abs(sum(row[n] for n in SOLVENTS) - 100) > 0.1:
        out.append("total of 100 %")
    if not 1 <= sum(row[n] > 0 for n in SOLVENTS) <= 3:
        out.append("1 to 3 solvents")
    if any(row[n] % 25 for n in SOLVENTS):
        out.append("steps of 25 %")
    return out


def by_baybe():
    from baybe.constraints import (
        DiscreteDependenciesConstraint, DiscreteNoLabelDuplicatesConstraint, DiscretePermutationInvarianceConstraint,
        DiscreteSumConstraint, ThresholdCondition)
    from baybe.parameters import CategoricalParameter, NumericalDiscreteParameter
    from baybe.searchspace import SubspaceDiscrete

    labels, amounts = ([f"Slot{k}_{what}" for k in (1, 2, 3)] for what in ("Label", "Amount"))
    parameters = [CategoricalParameter(name=n, values=SOLVENTS) for n in labels]
    parameters += [NumericalDiscreteParameter(name=n, values=[0, 25, 50, 75, 100], tolerance=0.2) for n in amounts]
    used = DiscreteDependenciesConstraint(
        parameters=amounts, conditions=[ThresholdCondition(threshold=0, operator=">")] * 3,
        affected_parameters=[[n] for n in labels])
    space = SubspaceDiscrete.from_product(parameters=parameters, constraints=[
        DiscretePermutationInvarianceConstraint(parameters=labels, dependencies=used),
        DiscreteSumConstraint(parameters=amounts, condition=ThresholdCondition(threshold=100, operator="=", tolerance=0.1)),
        DiscreteNoLabelDuplicatesConstraint(parameters=labels)])
    rows = [{r[n]: r[a] for n, a in zip(labels, amounts) if r[a]} for r in space.exp_rep.to_dict("records")]
    return answer(pd.DataFrame(rows).reindex(columns=SOLVENTS).fillna(0))


def by_kir():
    import kir

    campaign = kir.Campaign(ingredients=SOLVENTS, total=4, sparsity={"uniform": [1, 3]})
    batch = campaign.next(34)
    return answer(batch[SOLVENTS], [*tutorial.reasons(batch), tutorial.counts(campaign)])


def answer(recipes, says=()):
    """Return the answer of a program, with the numbers of mixtures that it lists."""
    different = recipes.round(6).drop_duplicates()
    sizes = (different > 0).sum(axis=1)
    counts = [f"{(sizes == k).sum()} of {expected(k)}" for k in (1, 2, 3)]
    return tutorial.Answer(recipes, says, figures={"different mixtures of 1, 2 and 3 solvents": "; ".join(counts)})


if __name__ == "__main__":
    tutorial.compare("BayBE: a mixture in slots", ["baybe"], {"BayBE": by_baybe, "kir": by_kir}, broken)
