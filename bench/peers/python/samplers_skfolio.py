"""skfolio's MeanRisk with the greatest utility, a limit on the number of assets, and SCIP or HiGHS through CVXPY.

A question about a portfolio has returns, covariance, aversion (the utility is returns·w − aversion·w·covariance·w), most
(assets held) and least (the share of one that is held), solver, seconds (a limit) and scale (of skfolio's objective and
constraints, whose default leaves SCIP's tolerance near what matters). The answer has weights.
skfolio takes prices of the past: here days whose mean and covariance are those of the question.
"""

import numpy as np
import samplers_protocol as protocol
from skfolio.optimization import MeanRisk, ObjectiveFunction


def days_of(returns, covariance):
    n = len(returns)
    noise = np.random.default_rng(0).normal(size=(2 * n, n))
    even, _ = np.linalg.qr(noise - noise.mean(axis=0))
    return even @ np.linalg.cholesky(covariance).T * np.sqrt(2 * n - 1) + returns


def work(question, clock):
    returns, covariance = np.array(question["returns"]), np.array(question["covariance"])
    days = days_of(returns, covariance)
    clock.set_up()
    limits = {"SCIP": {"scip_params": {"limits/time": question["seconds"], "timing/clocktype": 1}}, "HIGHS": {"time_limit": question["seconds"]}}
    model = MeanRisk(objective_function=ObjectiveFunction.MAXIMIZE_UTILITY, risk_aversion=question["aversion"], cardinality=question["most"],
                     threshold_long=question["least"], min_weights=0, solver=question["solver"], solver_params=limits[question["solver"]],
                     scale_objective=question.get("scale"), scale_constraints=question.get("scale"))
    model.fit(days)
    return {"vectors": {"weights": model.weights_.tolist()}}


if __name__ == "__main__":
    protocol.answer(["skfolio", "cvxpy-base", "pyscipopt", "highspy"], work)
