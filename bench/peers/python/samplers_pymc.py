"""PyMC: NUTS on a flat Dirichlet, in PyMC's own coordinates with their Jacobian, times the score."""

import numpy as np
import pymc as pm
import samplers_protocol as protocol


def work(question, clock):
    p = protocol.Polytope(question)
    with pm.Model():
        x = pm.Dirichlet("x", np.ones(p.n))
        pm.Potential("score", x @ p.linear - x @ (p.quadratic @ x))
        step = pm.NUTS()
        compiled = before = protocol.processor()
        spent = {True: 0.0, False: 0.0}  # while tuning, and then

        def callback(trace, draw):
            nonlocal before
            spent[draw.tuning] += protocol.processor() - before
            before = protocol.processor()

        data = pm.sample(question["draws"], tune=question["warmup"], chains=question["chains"], cores=1, step=step,
                         random_seed=question["seed"], progressbar=False, compute_convergence_checks=False, callback=callback)
    protocol.keep(data.posterior["x"].values, question["file"])
    clock.ready = protocol.processor() - spent[False]
    stats = data.sample_stats
    return {"figures": {"compile": compiled - clock.start, "divergences": float(stats["diverging"].sum()), "steps": float(stats["n_steps"].mean())}}


if __name__ == "__main__":
    protocol.answer(["pymc", "pytensor"], work)
