"""HiGHS by highspy: the whole program if it can be solved; python/samplers_skfolio.py has the question."""

import highspy
import numpy as np
import samplers_protocol as protocol


def work(question, clock):
    returns, covariance = np.array(question["returns"]), np.array(question["covariance"])
    n = len(returns)
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("time_limit", float(question["seconds"]))
    h.setOptionValue("threads", 1)
    w = [h.addVariable(lb=0, ub=1) for _ in range(n)]
    held = [h.addBinary() for _ in range(n)]
    h.addConstr(sum(w) == 1)
    h.addConstr(sum(held) <= question["most"])
    for share, one in zip(w, held):
        h.addConstr(share <= one)
        h.addConstr(share >= question["least"] * one)
    for share, r in zip(w, returns):
        h.changeColCost(share.index, -float(r))
    if question["aversion"] > 0:
        start, index, value = [], [], []
        for j in range(2 * n):
            start.append(len(index))
            for i in range(j, n):
                index.append(i)
                value.append(2 * question["aversion"] * covariance[i, j])
        hessian = highspy.HighsHessian()
        hessian.dim_, hessian.format_ = 2 * n, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_, hessian.value_ = np.array(start + [len(index)], dtype=np.int32), np.array(index, dtype=np.int32), np.array(value)
        if h.passHessian(hessian) == highspy.HighsStatus.kError:
            raise RuntimeError("HiGHS refuses the quadratic objective")
    clock.set_up()
    if h.run() == highspy.HighsStatus.kError:
        raise RuntimeError("HiGHS ends with an error")  # its log: Cannot solve MIQP problems with HiGHS
    values = h.getSolution().col_value
    return {"vectors": {"weights": [float(v) for v in values[:n]]}, "figures": {"proved": float(h.getModelStatus() == highspy.HighsModelStatus.kOptimal)}}


if __name__ == "__main__":
    protocol.answer(["highspy"], work)
