"""emcee: an ensemble of walkers in softmax coordinates, whose Jacobian is the product of all shares.

The chains that ArviZ sees are the walkers, as arviz.from_emcee has them.
"""

import emcee
import numpy as np
import samplers_protocol as protocol


def work(question, clock):
    p = protocol.Polytope(question)

    def shares(z):
        z = np.concatenate([z, np.zeros((len(z), 1))], axis=1)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def log_density(z):
        x = shares(z)
        with np.errstate(divide="ignore"):
            log = np.log(x).sum(axis=1)
        return log + x @ p.linear - np.einsum("ki,ij,kj->k", x, p.quadratic, x)

    rng = np.random.default_rng(question["seed"])
    x = rng.dirichlet(np.ones(p.n), question["chains"])
    start = np.log(x[:, :-1] / x[:, -1:])
    sampler = emcee.EnsembleSampler(question["chains"], p.n - 1, log_density, vectorize=True)
    sampler.random_state = np.random.RandomState(question["seed"]).get_state()
    state = sampler.run_mcmc(start, question["warmup"] * question["thin"], store=False)
    clock.set_up()
    sampler.run_mcmc(state, question["draws"], thin_by=question["thin"])
    z = sampler.get_chain()
    draws = shares(z.reshape(-1, p.n - 1)).reshape(question["draws"], question["chains"], p.n)
    protocol.keep(draws.swapaxes(0, 1), question["file"])
    return {"figures": {"accepted": float(np.mean(sampler.acceptance_fraction))}}


if __name__ == "__main__":
    protocol.answer(["emcee"], work)
