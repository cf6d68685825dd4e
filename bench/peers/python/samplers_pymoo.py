"""pymoo's NSGA-II with its own operators; what breaks a rule has a constraint that is violated."""

import numpy as np
import samplers_evaluate as evaluate
import samplers_protocol as protocol
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.core.termination import Termination
from pymoo.optimize import minimize


def work(question, clock):
    left = [1]

    class Recipes(Problem):
        def __init__(self):
            super().__init__(n_var=question["genes"], n_obj=question["objectives"], n_ieq_constr=1, xl=0.0, xu=1.0)

        def _evaluate(self, x, result, *args, **kwargs):
            found, left[0] = evaluate.losses(x)
            worst = [1e9] * question["objectives"]
            result["F"] = np.array([f or worst for f in found])
            result["G"] = np.array([[-1.0 if f else 1.0] for f in found])

    class Spent(Termination):
        def _update(self, algorithm):
            return 1.0 if left[0] <= 0 else 0.0

    start = np.array(question["start"])
    minimize(Recipes(), NSGA2(pop_size=100, sampling=start), Spent(), seed=question["seed"])
    return {}


if __name__ == "__main__":
    protocol.answer(["pymoo"], work)
