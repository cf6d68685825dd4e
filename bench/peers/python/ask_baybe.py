"""BayBE's campaign with its default recommender: the table as a discrete space, or a continuous one under rules.

Two objectives are a ParetoObjective, for which the default is qLogNEHVI; both are learnt. Conditions are further
parameters of the discrete space.
"""

import numpy as np
import pandas as pd
import protocol
import torch
from baybe import Campaign
from baybe.constraints import ContinuousCardinalityConstraint, ContinuousLinearConstraint
from baybe.objectives import ParetoObjective, SingleTargetObjective
from baybe.parameters import CategoricalParameter, NumericalContinuousParameter, NumericalDiscreteParameter
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget


def choose_among(q, tried, pool, targets, objective, categories=()):
    """Return the recommended rows, and those of the pool, with the columns of the space."""
    torch.manual_seed(q.seed)
    table = pd.concat([tried, pool], ignore_index=True)
    used = [n for n in table if table[n].nunique() > 1]  # a parameter needs two values
    space = SearchSpace.from_dataframe(table[used], parameters=[
        CategoricalParameter(n, table[n].unique()) if n in categories else NumericalDiscreteParameter(n, sorted(table[n].unique()))
        for n in used])
    campaign = Campaign(space, objective, allow_recommending_already_measured=False)
    campaign.add_measurements(tried[used].assign(**targets))
    return campaign.recommend(batch_size=q.n)[used], pool[used]


def choose(q):
    tried, pool = pd.DataFrame(q.x, columns=q.names), pd.DataFrame(q.pool, columns=q.names)
    batch, rows = choose_among(q, tried, pool, {"y": q.y}, SingleTargetObjective(NumericalTarget(name="y")))
    return protocol.nearest(rows.to_numpy(), batch.to_numpy())


def choose_front(q):
    tried, pool = pd.DataFrame(q.x, columns=q.names), pd.DataFrame(q.pool, columns=q.names)
    objective = ParetoObjective([NumericalTarget(name="y"), NumericalTarget(name="z")])
    batch, rows = choose_among(q, tried, pool, {"y": q.y, "z": q.z}, objective)
    return protocol.nearest(rows.to_numpy(), batch.to_numpy())


def choose_setting(q):
    tried, pool = (pd.concat([pd.DataFrame(x, columns=q.names), pd.DataFrame(s, columns=q.keys)], axis=1)
                   for x, s in ((q.x, q.settings), (q.pool, q.pool_settings)))
    categories = [k for k, number in zip(q.keys, q.numbers) if not number]
    batch, rows = choose_among(q, tried, pool, {"y": q.y}, SingleTargetObjective(NumericalTarget(name="y")), categories)
    chosen = []
    for _, row in batch.iterrows():
        alike = [k for k in q.keys if k in rows]
        same = (rows[alike] == row[alike]).all(axis=1).to_numpy()
        shares = [n for n in q.names if n in rows]
        far = np.abs(rows[shares].to_numpy() - row[shares].to_numpy(dtype=float)).sum(axis=1)
        chosen.append(int(np.argmin(np.where(same, far, np.inf))))
    return chosen


def make(q):
    torch.manual_seed(q.seed)
    r = q.rules
    rules = [ContinuousLinearConstraint(parameters=q.names, operator="=", coefficients=[1] * len(q.names), rhs=1)]
    if "price" in r:
        rules.append(ContinuousLinearConstraint(parameters=q.names, operator="<=", coefficients=r["price"], rhs=r["budget"]))
    for g in r.get("groups", []):
        members = [q.names[k] for k in g["members"]]
        rules.append(ContinuousLinearConstraint(parameters=members, operator="<=", coefficients=[1] * len(members), rhs=g["most"]))
    if "most" in r:
        # An amount below the threshold counts as 0; BayBE keeps what is used above it.
        threshold = {"relative_threshold": r["smallest"]} if r.get("smallest") else {}
        rules.append(ContinuousCardinalityConstraint(
            parameters=q.names, min_cardinality=r["least"], max_cardinality=r["most"], **threshold))
    space = SearchSpace.from_product(
        parameters=[NumericalContinuousParameter(name=n, bounds=(0, 1)) for n in q.names], constraints=rules)
    campaign = Campaign(space, SingleTargetObjective(NumericalTarget(name="y")))
    campaign.add_measurements(pd.DataFrame(q.x, columns=q.names).assign(y=q.y))
    return campaign.recommend(batch_size=q.n)[q.names].to_numpy()


if __name__ == "__main__":
    protocol.serve(["baybe", "botorch", "torch"], choose, make, choose_front, choose_setting)
