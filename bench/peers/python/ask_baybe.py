"""BayBE's campaign with its default recommender: the table as a discrete space, or a continuous one under rules."""

import pandas as pd
import protocol
import torch
from baybe import Campaign
from baybe.constraints import ContinuousCardinalityConstraint, ContinuousLinearConstraint
from baybe.objectives import SingleTargetObjective
from baybe.parameters import NumericalContinuousParameter, NumericalDiscreteParameter
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget


def choose(q):
    torch.manual_seed(q.seed)
    tried, pool = pd.DataFrame(q.x, columns=q.names), pd.DataFrame(q.pool, columns=q.names)
    table = pd.concat([tried, pool], ignore_index=True)
    used = [n for n in q.names if table[n].nunique() > 1]  # a parameter needs two values
    space = SearchSpace.from_dataframe(
        table[used], parameters=[NumericalDiscreteParameter(n, sorted(table[n].unique())) for n in used])
    campaign = Campaign(space, SingleTargetObjective(NumericalTarget(name="y")), allow_recommending_already_measured=False)
    campaign.add_measurements(tried[used].assign(y=q.y))
    batch = campaign.recommend(batch_size=q.n)
    return protocol.nearest(pool[used].to_numpy(), batch[used].to_numpy())


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
    protocol.serve(["baybe", "botorch", "torch"], choose, make)
