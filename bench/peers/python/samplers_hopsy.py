"""hopsy: uniform draws by hit-and-run on the rounded polytope, and a Gaussian density by its Gibbs sampler.

The Gibbs sampler refuses equalities and rounding, so here the last share is what the others leave.
"""

import hopsy
import numpy as np
import samplers_protocol as protocol


def uniform(p):
    problem = hopsy.Problem(p.inequality, p.most)
    return hopsy.round(hopsy.add_equality_constraints(problem, A_eq=np.ones((1, p.n)), b_eq=np.ones(1)))


def gaussian(p):
    others = np.vstack([np.eye(p.n - 1), -np.ones(p.n - 1)])
    last = np.eye(p.n)[-1]
    covariance = np.linalg.inv(2 * others.T @ p.quadratic @ others)
    mean = covariance @ others.T @ (p.linear - 2 * p.quadratic @ last)
    return hopsy.Problem(p.inequality @ others, p.most - p.inequality @ last, hopsy.Gaussian(mean=mean, covariance=covariance))


def work(question, clock):
    p = protocol.Polytope(question)
    is_gaussian = bool(question.get("quadratic"))
    problem = gaussian(p) if is_gaussian else uniform(p)
    start = hopsy.compute_chebyshev_center(problem)
    chains = [hopsy.MarkovChain(problem, getattr(hopsy, question["kernel"]), starting_point=start) for _ in range(question["chains"])]
    rngs = [hopsy.RandomNumberGenerator(question["seed"], k) for k in range(question["chains"])]
    hopsy.sample(chains, rngs, n_samples=question["warmup"], thinning=question["thin"])
    clock.set_up()
    _, draws = hopsy.sample(chains, rngs, n_samples=question["draws"], thinning=question["thin"])
    if is_gaussian:
        draws = np.concatenate([draws, 1 - draws.sum(axis=2, keepdims=True)], axis=2)
    protocol.keep(draws, question["file"])
    return {}


if __name__ == "__main__":
    protocol.answer(["hopsy"], work)
