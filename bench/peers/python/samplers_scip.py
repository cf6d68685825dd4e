"""SCIP by PySCIPOpt, as its manual writes a quadratic objective; python/samplers_skfolio.py has the question."""

import numpy as np
import pyscipopt
import samplers_protocol as protocol


def work(question, clock):
    returns, covariance = np.array(question["returns"]), np.array(question["covariance"])
    n = len(returns)
    m = pyscipopt.Model()
    m.hideOutput()
    m.setParam("limits/time", question["seconds"])
    m.setParam("timing/clocktype", 1)  # of the processor
    m.setParam("limits/gap", 0)
    w = [m.addVar(lb=0, ub=1) for _ in range(n)]
    held = [m.addVar(vtype="B") for _ in range(n)]
    risk = m.addVar(lb=0, ub=None)
    m.addCons(pyscipopt.quicksum(w) == 1)
    m.addCons(pyscipopt.quicksum(held) <= question["most"])
    for share, one in zip(w, held):
        m.addCons(share <= one)
        m.addCons(share >= question["least"] * one)
    # In hundredths, so that SCIP's tolerance of 1e-6 is far below what matters.
    scale = 1e4
    m.addCons(pyscipopt.quicksum(scale * covariance[i, j] * w[i] * w[j] for i in range(n) for j in range(n)) <= risk)
    m.setObjective(pyscipopt.quicksum(scale * r * share for r, share in zip(returns, w)) - question["aversion"] * risk, "maximize")
    clock.set_up()
    m.optimize()
    return {"vectors": {"weights": [m.getVal(share) for share in w]},
            "figures": {"bound": m.getDualbound() / scale, "proved": float(m.getStatus() == "optimal")}}


if __name__ == "__main__":
    protocol.answer(["pyscipopt"], work)
