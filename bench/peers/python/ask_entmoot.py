"""ENTMOOT's Enting at its defaults: boosted trees and the distance from what was tried.

ENTMOOT minimises, one recipe after another; each that is chosen counts as tried at its predicted value. Under rules
Gurobi solves the model, with the licence of limited size that comes with gurobipy.
"""

import numpy as np
import protocol
import pyomo.environ as pyo
from entmoot import Enting, ProblemConfig, PyomoOptimizer
from entmoot.constraints import (
    ConstraintList, LinearEqualityConstraint, LinearInequalityConstraint, NChooseKConstraint)


def config(q):
    c = ProblemConfig(rnd_seed=q.seed)
    for n in q.names:
        c.add_feature("real", (0.0, 1.0), name=n)
    c.add_min_objective()
    return c


def fitted(c, x, y):
    model = Enting(c, params=None)
    model.fit(x, y[:, None])
    return model


def choose(q):
    c = config(q)
    x, y, chosen = q.x, -q.y, []
    y = (y - y.mean()) / (y.std() or 1)
    for _ in range(q.n):
        model = fitted(c, x, y)
        value = np.array(model.predict_acq(q.pool), dtype=float).reshape(len(q.pool), -1)[:, 0]
        value[chosen] = np.inf
        k = int(np.argmin(value))
        chosen.append(k)
        mean = float(np.ravel(model.predict(q.pool[k : k + 1])[0][0])[0])
        x, y = np.vstack([x, q.pool[k]]), np.append(y, mean)
    return chosen


def make(q):
    r = q.rules
    rules = [LinearEqualityConstraint(feature_keys=q.names, coefficients=[1.0] * len(q.names), rhs=1.0)]
    if "price" in r:
        rules.append(LinearInequalityConstraint(feature_keys=q.names, coefficients=list(r["price"]), rhs=r["budget"]))
    for g in r.get("groups", []):
        members = [q.names[k] for k in g["members"]]
        rules.append(LinearInequalityConstraint(feature_keys=members, coefficients=[1.0] * len(members), rhs=g["most"]))
    if "most" in r:
        rules.append(NChooseKConstraint(feature_keys=q.names, min_count=r["least"], max_count=r["most"], none_also_valid=False))
    c = config(q)
    x, y, out = q.x, -q.y, []
    y = (y - y.mean()) / (y.std() or 1)
    for _ in range(q.n):
        core = c.get_pyomo_model_core()
        core.problem_constraints = pyo.ConstraintList()
        ConstraintList(rules).apply_pyomo_constraints(core, c.feat_list, core.problem_constraints)
        model = fitted(c, x, y)
        best = PyomoOptimizer(c, params={"solver_name": "gurobi_direct", "verbose": False}).solve(model, model_core=core)
        recipe = np.array(best.opt_point, dtype=float)
        out.append(recipe)
        mean = float(np.ravel(model.predict(recipe[None, :])[0][0])[0])
        x, y = np.vstack([x, recipe]), np.append(y, mean)
    return out


if __name__ == "__main__":
    protocol.serve(["entmoot", "lightgbm"], choose, make)
