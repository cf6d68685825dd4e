"""BoTorch's SingleTaskGP at its defaults and qLogNEI, over the recipes of the table."""

import protocol
import torch
from botorch.acquisition import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf_discrete
from gpytorch.mlls import ExactMarginalLogLikelihood


def choose(q):
    torch.manual_seed(q.seed)
    x, y, pool = (torch.tensor(v, dtype=torch.double) for v in (q.x, q.y[:, None], q.pool))
    every = torch.cat([x, pool])
    bounds = torch.stack([every.amin(0), every.amax(0)])
    bounds[1] = torch.where(bounds[1] > bounds[0], bounds[1], bounds[0] + 1)
    model = SingleTaskGP(x, y, input_transform=Normalize(x.shape[1], bounds=bounds), outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    gain = qLogNoisyExpectedImprovement(model, X_baseline=x, prune_baseline=True)
    best, _ = optimize_acqf_discrete(gain, q=q.n, choices=pool, unique=True)
    return [int((pool - b).abs().sum(1).argmin()) for b in best]


if __name__ == "__main__":
    protocol.serve(["botorch", "torch"], choose)
