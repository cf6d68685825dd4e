"""BoFire's SoboStrategy at its defaults.

Among the recipes of a table it is BoFire's model and acquisition function, maximised over the table by BoTorch, as
BoFire does it for a domain whose inputs are all discrete. Under rules it is the strategy's own ask.
"""

import bofire.strategies.api as strategies
import pandas as pd
import protocol
import torch
from bofire.data_models.constraints.api import (
    LinearEqualityConstraint, LinearInequalityConstraint, NChooseKConstraint)
from bofire.data_models.domain.api import Constraints, Domain, Inputs, Outputs
from bofire.data_models.features.api import ContinuousInput, ContinuousOutput
from bofire.data_models.objectives.api import MaximizeObjective
from bofire.data_models.strategies.api import SoboStrategy
from botorch.optim import optimize_acqf_discrete


def inputs(q):
    smallest = q.rules.get("smallest", 0)
    if smallest:  # the smallest amount of an ingredient that is used
        return [ContinuousInput(key=n, bounds=(smallest, 1), allow_zero=True) for n in q.names]
    return [ContinuousInput(key=n, bounds=(0, 1)) for n in q.names]


def constraints(q):
    out = [LinearEqualityConstraint(features=q.names, coefficients=[1] * len(q.names), rhs=1)]
    r = q.rules
    if "price" in r:
        out.append(LinearInequalityConstraint(features=q.names, coefficients=r["price"], rhs=r["budget"]))
    for g in r.get("groups", []):
        members = [q.names[k] for k in g["members"]]
        out.append(LinearInequalityConstraint(features=members, coefficients=[1] * len(members), rhs=g["most"]))
    if "most" in r:
        out.append(NChooseKConstraint(features=q.names, min_count=r["least"], max_count=r["most"], none_also_valid=False))
    return Constraints(constraints=out)


def strategy(q):
    domain = Domain(
        inputs=Inputs(features=inputs(q)),
        outputs=Outputs(features=[ContinuousOutput(key="y", objective=MaximizeObjective(w=1))]),
        constraints=constraints(q))
    s = strategies.map(SoboStrategy(domain=domain, seed=q.seed))
    s.tell(pd.DataFrame(q.x, columns=q.names).assign(y=q.y, valid_y=1))
    return s


def choose(q):
    s = strategy(q)
    keys = s.domain.inputs.get_keys()
    choices = torch.tensor(pd.DataFrame(q.pool, columns=q.names)[keys].to_numpy(), dtype=torch.double)
    best, _ = optimize_acqf_discrete(s._get_acqfs(q.n)[0], q=q.n, choices=choices, unique=True)
    return [int((choices - b).abs().sum(1).argmin()) for b in best]


def make(q):
    # Without its own check, which would end the answer at an offer that breaks a rule: these are counted.
    return strategy(q).ask(q.n, raise_validation_error=False)[q.names].to_numpy()


if __name__ == "__main__":
    protocol.serve(["bofire", "botorch", "torch"], choose, make)
