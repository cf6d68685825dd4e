"""BoFire's SoboStrategy at its defaults, and for two objectives its MoboStrategy.

Among the recipes of a table it is BoFire's model and acquisition function, maximised over the table by BoTorch, as
BoFire does it for a domain whose inputs are all discrete. Under rules it is the strategy's own ask.

MoboStrategy has qLogNEHVI. A known second objective is a LinearDeterministicSurrogate. Conditions are discrete and
categorical inputs, with the surrogate that BoFire takes for such.
"""

import bofire.strategies.api as strategies
import pandas as pd
import protocol
import torch
from bofire.data_models.constraints.api import (
    LinearEqualityConstraint, LinearInequalityConstraint, NChooseKConstraint)
from bofire.data_models.domain.api import Constraints, Domain, Inputs, Outputs
from bofire.data_models.features.api import (
    CategoricalInput, ContinuousInput, ContinuousOutput, DiscreteInput)
from bofire.data_models.objectives.api import MaximizeObjective
from bofire.data_models.strategies.api import MoboStrategy, SoboStrategy
from bofire.data_models.surrogates.api import BotorchSurrogates, LinearDeterministicSurrogate
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


def fitted(kind, q, frame, further=(), **keywords):
    """Return a strategy of some kind that was told a frame of inputs with the objectives y and perhaps z."""
    objectives = [k for k in ("y", "z") if k in frame]
    domain = Domain(
        inputs=Inputs(features=[*inputs(q), *further]),
        outputs=Outputs(features=[ContinuousOutput(key=k, objective=MaximizeObjective(w=1)) for k in objectives]),
        constraints=constraints(q))
    s = strategies.map(kind(domain=domain, seed=q.seed, **keywords))
    s.tell(frame.assign(**{f"valid_{k}": 1 for k in objectives}))
    return s


def strategy(q):
    return fitted(SoboStrategy, q, pd.DataFrame(q.x, columns=q.names).assign(y=q.y))


def best_of(s, pool, n):
    """Return the indices of the rows of a frame at which the acquisition function of a strategy is greatest."""
    transformed = s.domain.inputs.transform(pool, s.input_preprocessing_specs)
    choices = torch.tensor(transformed.to_numpy(dtype=float), dtype=torch.double)
    best, _ = optimize_acqf_discrete(s._get_acqfs(n)[0], q=n, choices=choices, unique=True)
    return [int((choices - b).abs().sum(1).argmin()) for b in best]


def choose(q):
    return best_of(strategy(q), pd.DataFrame(q.pool, columns=q.names), q.n)


def choose_front(q):
    known = []
    if q.prices:
        known.append(LinearDeterministicSurrogate(
            inputs=Inputs(features=inputs(q)), outputs=Outputs(features=[ContinuousOutput(key="z", objective=MaximizeObjective(w=1))]),
            coefficients={n: -p for n, p in zip(q.names, q.prices)}, intercept=0))
    frame = pd.DataFrame(q.x, columns=q.names).assign(y=q.y, z=q.z)
    s = fitted(MoboStrategy, q, frame, surrogate_specs=BotorchSurrogates(surrogates=known))
    return best_of(s, pd.DataFrame(q.pool, columns=q.names), q.n)


def choose_setting(q):
    tried, pool = pd.DataFrame(q.settings, columns=q.keys), pd.DataFrame(q.pool_settings, columns=q.keys)
    every = pd.concat([tried, pool])
    further = []
    for key, number in zip(q.keys, q.numbers):
        values = sorted(every[key].unique())
        further.append(DiscreteInput(key=key, values=values) if number else CategoricalInput(key=key, categories=values))
    tried, pool = (pd.concat([pd.DataFrame(x, columns=q.names), s], axis=1) for x, s in ((q.x, tried), (q.pool, pool)))
    return best_of(fitted(SoboStrategy, q, tried.assign(y=q.y), further), pool, q.n)


def make(q):
    # Without its own check, which would end the answer at an offer that breaks a rule: these are counted.
    return strategy(q).ask(q.n, raise_validation_error=False)[q.names].to_numpy()


if __name__ == "__main__":
    protocol.serve(["bofire", "botorch", "torch"], choose, make, choose_front, choose_setting)
