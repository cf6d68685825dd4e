"""BoTorch's SingleTaskGP at its defaults, over the recipes of the table.

One objective has qLogNEI; conditions are further columns, one for each category. Two objectives have qLogNEHVI with
the reference point that BoTorch infers from what was tried; a known second one has no process.
"""

import numpy as np
import protocol
import torch
from botorch.acquisition import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelList, SingleTaskGP
from botorch.models.deterministic import AffineDeterministicModel
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf_discrete
from botorch.utils.multi_objective.hypervolume import infer_reference_point
from botorch.utils.multi_objective.pareto import is_non_dominated
from gpytorch.mlls import ExactMarginalLogLikelihood


def fitted(x, y, pool):
    every = torch.cat([x, pool])
    bounds = torch.stack([every.amin(0), every.amax(0)])
    bounds[1] = torch.where(bounds[1] > bounds[0], bounds[1], bounds[0] + 1)
    model = SingleTaskGP(x, y, input_transform=Normalize(x.shape[1], bounds=bounds), outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def tensors(*arrays):
    return (torch.tensor(a, dtype=torch.double) for a in arrays)


def best_of(pool, gain, n):
    best, _ = optimize_acqf_discrete(gain, q=n, choices=pool, unique=True)
    return [int((pool - b).abs().sum(1).argmin()) for b in best]


def choose_from(q, columns, pool_columns):
    torch.manual_seed(q.seed)
    x, y, pool = tensors(columns, q.y[:, None], pool_columns)
    gain = qLogNoisyExpectedImprovement(fitted(x, y, pool), X_baseline=x, prune_baseline=True)
    return best_of(pool, gain, q.n)


def choose(q):
    return choose_from(q, q.x, q.pool)


def choose_setting(q):
    return choose_from(q, np.hstack([q.x, q.features]), np.hstack([q.pool, q.pool_features]))


def choose_front(q):
    torch.manual_seed(q.seed)
    x, y, z, pool = tensors(q.x, q.y[:, None], q.z[:, None], q.pool)
    second = AffineDeterministicModel(-torch.tensor(q.prices, dtype=torch.double)[:, None]) if q.prices else fitted(x, z, pool)
    both = torch.cat([y, z], dim=1)
    gain = qLogNoisyExpectedHypervolumeImprovement(
        ModelList(fitted(x, y, pool), second), ref_point=infer_reference_point(both[is_non_dominated(both)]),
        X_baseline=x, prune_baseline=True)
    return best_of(pool, gain, q.n)


if __name__ == "__main__":
    protocol.serve(["botorch", "torch"], choose, choose_front=choose_front, choose_setting=choose_setting)
