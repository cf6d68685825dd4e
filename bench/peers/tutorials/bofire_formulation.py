"""BoFire's tutorial on engineered features, with kir.

Source: experimental-design/bofire, docs/tutorials/benchmarks/012-engineered_features.qmd. The whole has seven
ingredients: three that raise x1, three that raise x2, and a filler. Each three make up at most half of the whole. The
result is Himmelblau's function of the two sums, scaled to -6 to 6. Its minimum is 0, at four pairs of x1 and x2.

The tutorial makes 15 campaigns of 10 random and 40 chosen recipes, one recipe a round. This program makes 3 campaigns
of 10 and 20, from the same random recipes for both programs. The random recipes are in steps of 0.1 %.

BoFire's model of seven amounts is not told which ingredients act alike; with an engineered feature, it gets the two
sums. In kir, the same knowledge is two columns in the table of ingredients, which kir's forest uses if predictions of
held-out recipes improve. kir's Gaussian process has amounts alone. It gets the two sums if a group is
one ingredient ("kir, merged"), which a user of BoFire could do, too.
"""

import functools
import random

import pandas as pd

import tutorial

FIRST = ["x1a", "x1b", "x1c"]
SECOND = ["x2a", "x2b", "x2c"]
NAMES = [*FIRST, *SECOND, "filler"]
ROUNDS = 20
SEEDS = (1, 2, 3)


def result(recipes):
    """Return Himmelblau's function of a table of percentages."""
    x, y = ((recipes.reindex(columns=group, fill_value=0).sum(axis=1) / 50) * 12 - 6 for group in (FIRST, SECOND))
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def trials(seed):
    """Return 10 random recipes with their results, uniform over what the constraints allow."""
    rng, rows = random.Random(seed), []
    while len(rows) < 10:
        cuts = sorted(rng.sample(range(1, 1000), len(NAMES) - 1))
        row = dict(zip(NAMES, [(b - a) / 10 for a, b in zip([0, *cuts], [*cuts, 1000])]))
        if not broken(row):
            rows.append(row)
    table = pd.DataFrame(rows)
    return table.assign(y=result(table))


def broken(row):
    """Return the constraints that a recipe in percent breaks by over 0.0001 %."""
    out = []
    if abs(sum(row.get(n, 0) for n in NAMES) - 100) > 1e-4:
        out.append("total of 100 %")
    for group in (FIRST, SECOND):
        if sum(row.get(n, 0) for n in group) > 50 + 1e-4:
            out.append(f"{', '.join(group)}: at most 50 %")
    if any(row.get(n, 0) < -1e-4 for n in NAMES):
        out.append("no negative amount")
    return out


def by_bofire(seeds=SEEDS, rounds=ROUNDS, engineered=False):
    from bofire.data_models.constraints.api import LinearEqualityConstraint, LinearInequalityConstraint
    from bofire.data_models.domain.api import Constraints, Domain, EngineeredFeatures, Inputs, Outputs
    from bofire.data_models.features.api import ContinuousDescriptorInput, ContinuousInput, ContinuousOutput, WeightedSumFeature
    from bofire.data_models.objectives.api import MinimizeObjective
    from bofire.data_models.surrogates.api import BotorchSurrogates, SingleTaskGPSurrogate
    from bofire.strategies.api import SoboStrategy

    groups = [ContinuousDescriptorInput(key=n, bounds=(0, 0.5), descriptors=["x1", "x2"], values=[n in FIRST, n in SECOND])
              for n in FIRST + SECOND]
    domain = Domain(
        inputs=Inputs(features=[*groups, ContinuousInput(key="filler", bounds=(0, 1))]),
        outputs=Outputs(features=[ContinuousOutput(key="y", objective=MinimizeObjective())]),
        constraints=Constraints(constraints=[
            LinearEqualityConstraint(features=NAMES, coefficients=[1] * len(NAMES), rhs=1),
            LinearInequalityConstraint(features=FIRST, coefficients=[1] * 3, rhs=0.5),
            LinearInequalityConstraint(features=SECOND, coefficients=[1] * 3, rhs=0.5)]))
    model = {}
    if engineered:
        sums = WeightedSumFeature(key="sums", features=FIRST + SECOND, descriptors=["x1", "x2"])
        model["surrogate_specs"] = BotorchSurrogates(surrogates=[SingleTaskGPSurrogate(
            inputs=domain.inputs, outputs=domain.outputs, engineered_features=EngineeredFeatures(features=[sums]))])
    tables = []
    for seed in seeds:
        table = trials(seed)
        for _ in range(rounds):
            strategy = SoboStrategy.make(domain=domain, seed=seed, **model)
            strategy.tell(table.assign(**table[NAMES] / 100, valid_y=1))
            batch = strategy.ask(1, raise_validation_error=False)[NAMES] * 100
            table = pd.concat([table, batch.assign(y=result(batch))], ignore_index=True)
        tables.append(table)
    return summary(tables)


def by_kir(seeds=SEEDS, rounds=ROUNDS):
    import kir

    stock = [{"name": n, "x1": int(n in FIRST), "x2": int(n in SECOND)} for n in NAMES]
    tables = []
    for seed in seeds:
        table = trials(seed)
        campaign = kir.Campaign(table, ingredients=stock, total=1000, minimize="y", sparsity={"uniform": [1, 7]},
                                rules=[kir.group(FIRST, total=[0, "50%"]), kir.group(SECOND, total=[0, "50%"])])
        for _ in range(rounds):
            batch = campaign.next(1)
            batch["y"] = result(batch)
            campaign.record(batch)
            table = pd.concat([table, batch], ignore_index=True)
        tables.append(table)
    return summary(tables, last_words(campaign, batch))


def by_kir_merged(seeds=SEEDS, rounds=ROUNDS):
    import kir

    tables = []
    for seed in seeds:
        table = trials(seed)
        merged = pd.DataFrame({"x1": table[FIRST].sum(axis=1), "x2": table[SECOND].sum(axis=1), "filler": table["filler"]})
        campaign = kir.Campaign(merged.round(1).assign(y=table["y"]), total=1000, minimize="y", sparsity={"uniform": [1, 3]},
                                rules=[kir.amount(["x1", "x2"], max="50%")])
        for _ in range(rounds):
            batch = campaign.next(1).reindex(columns=["id", "x1", "x2", "filler"], fill_value=0)
            parts = batch.rename(columns={"x1": FIRST[0], "x2": SECOND[0]}).reindex(columns=NAMES, fill_value=0)
            batch["y"] = parts["y"] = result(parts)
            campaign.record(batch)
            table = pd.concat([table, parts], ignore_index=True)
        tables.append(table)
    return summary(tables, [f"advice: {campaign.progress().advice}; {campaign.progress()}"])


def last_words(campaign, batch):
    """Return what kir says after the last round of a campaign."""
    last = batch.to_dict("records")[0]
    return [f"{last['id']}: predicted {last['predicted y']:.0f} (90 % in {last['low y']:.0f} to {last['high y']:.0f}), measured "
            f"{last['y']:.0f}; {last['reason']}", f"advice: {campaign.progress().advice}; {campaign.progress()}"]


def summary(tables, says=()):
    """Return all chosen recipes, and the least result of each campaign after 5, 10 and all rounds."""
    rounds = len(tables[0]) - 10
    figures = {f"least result after {k} chosen recipes, of each campaign": ", ".join(f"{t['y'][:10 + k].min():.1f}" for t in tables)
               for k in sorted({0, 5, 10, rounds}) if k <= rounds}
    chosen = pd.concat([t[10:] for t in tables], ignore_index=True)[[*NAMES, "y"]].fillna(0)
    return tutorial.Answer(chosen, says, figures)


if __name__ == "__main__":
    tutorial.compare("BoFire: a formulation with engineered features", ["bofire", "botorch", "torch"], {
        "BoFire": by_bofire, "BoFire, engineered": functools.partial(by_bofire, engineered=True),
        "kir": by_kir, "kir, merged": by_kir_merged}, broken)
